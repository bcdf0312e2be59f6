/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lose_calls - copies a trace without some of its calls, as if the ring had been full.
 *
 *	lose_calls TRACE OUTPUT PERCENT [FUNCTION...]
 *
 * Drops each call of the given functions, or of all, with PERCENT probability, by reproducible random numbers; the
 * trace's statistics count them as lost. Prints a line for each function that had calls: its name, the number of kept
 * calls, the number of dropped calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/call_columns.h"
#include "lib/trace/column.h"
#include "lib/trace/pbt.h"

#define FUNCTIONS_MAX 65536

struct function {
	char *name; /* NULL: not known */
	bool loses;
	uint64_t kept, dropped;
};

struct run {
	FILE *out;
	struct pbt_encoder *encoder;
	struct pbt_buffer buffer;
	struct function functions[FUNCTIONS_MAX];
	char **names;
	int name_count;
	uint64_t random, dropped;
	uint32_t percent;
};

/* The columns of a batch without shapes. */
struct columns {
	struct column_s64 end_ns, arg[3];
	struct column_u64 dur_ns;
	struct column_s32 tid, tgid;
	struct column_u32 function, flags, ret, text;
};

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "lose_calls: %s\n", what);
	exit(1);
}

static bool draws(struct run *run)
{
	run->random = run->random * 6364136223846793005u + 1442695040888963407u;
	return (run->random >> 33) % 100 < run->percent;
}

static void put(struct run *run, Profbpf__Packet__Kind kind, const void *body, size_t size)
{
	run->buffer.size = 0;
	if (pbt_encode(run->encoder, kind, body, size, &run->buffer) != 0 ||
	    fwrite(run->buffer.data, 1, run->buffer.size, run->out) != run->buffer.size)
		die("cannot write the trace");
}

static void put_message(struct run *run, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *body = malloc(size + 1);

	if (!body)
		die("no memory");
	put(run, kind, body, protobuf_c_message_pack(message, body));
	free(body);
}

static struct function *function_at(struct run *run, uint32_t id)
{
	if (id >= FUNCTIONS_MAX)
		die("the trace has too many functions");
	return &run->functions[id];
}

static void take_functions(struct run *run, const struct pbt_packet *packet)
{
	Profbpf__Functions *m = profbpf__functions__unpack(NULL, packet->size, packet->body);

	if (!m)
		die("a packet with functions is damaged");
	for (size_t i = 0; i < m->n_function; i++) {
		struct function *function = function_at(run, m->function[i]->id);

		free(function->name);
		function->name = strdup(m->function[i]->name);
		if (!function->name)
			die("no memory");
		function->loses = run->name_count == 0;
		for (int k = 0; k < run->name_count; k++)
			function->loses |= strcmp(run->names[k], function->name) == 0;
	}
	profbpf__functions__free_unpacked(m, NULL);
}

static bool keep(struct run *run, uint32_t id)
{
	struct function *function = function_at(run, id);

	if (function->loses && draws(run)) {
		function->dropped++;
		run->dropped++;
		return false;
	}
	function->kept++;
	return true;
}

static void copy_row(const Profbpf__Calls *m, size_t i, struct columns *to)
{
	size_t s = m->n_shape ? m->shape[i] : i;
	uint64_t args[3];
	uint32_t ret = call_columns_values(m, i, args);
	int err = 0;

	err |= column_s64_push_delta(&to->end_ns, COLUMN_AT(m, end_ns, i));
	err |= column_u64_push(&to->dur_ns, COLUMN_AT(m, dur_ns, i));
	err |= column_s32_push_delta(&to->tid, COLUMN_AT(m, tid, s));
	err |= column_s32_push_delta(&to->tgid, COLUMN_AT(m, tgid, s));
	err |= column_u32_push(&to->function, COLUMN_AT(m, function, s));
	err |= column_u32_push(&to->flags, COLUMN_AT(m, flags, s));
	err |= column_u32_push(&to->text, COLUMN_AT(m, text, s));
	err |= column_u32_push(&to->ret, ret);
	for (int k = 0; k < 3; k++)
		err |= column_s64_push_delta(&to->arg[k], (int64_t)args[k]);
	if (err)
		die("no memory");
}

static void put_calls(struct run *run, uint32_t cpu, const struct columns *c)
{
	Profbpf__Calls m = PROFBPF__CALLS__INIT;
	int64_t last_ns = 0;

	if (!c->end_ns.count)
		return;
	for (size_t i = 0; i < c->end_ns.count; i++)
		last_ns = column_s64_next(last_ns, c->end_ns.value[i]);
	m.cpu = cpu;
	m.first_end_ns = (uint64_t)c->end_ns.value[0];
	m.last_end_ns = (uint64_t)last_ns;
	COLUMN_EXPORT_ALWAYS(&c->end_ns, &m, end_ns);
	COLUMN_EXPORT(&c->dur_ns, &m, dur_ns);
	COLUMN_EXPORT(&c->tid, &m, tid);
	COLUMN_EXPORT(&c->tgid, &m, tgid);
	COLUMN_EXPORT(&c->function, &m, function);
	COLUMN_EXPORT(&c->flags, &m, flags);
	COLUMN_EXPORT(&c->text, &m, text);
	COLUMN_EXPORT(&c->ret, &m, ret);
	COLUMN_EXPORT(&c->arg[0], &m, arg0);
	COLUMN_EXPORT(&c->arg[1], &m, arg1);
	COLUMN_EXPORT(&c->arg[2], &m, arg2);
	put_message(run, PROFBPF__PACKET__KIND__CALLS, &m.base);
}

static void columns_free(struct columns *c)
{
	column_s64_free(&c->end_ns);
	column_u64_free(&c->dur_ns);
	column_s32_free(&c->tid);
	column_s32_free(&c->tgid);
	column_u32_free(&c->function);
	column_u32_free(&c->flags);
	column_u32_free(&c->text);
	column_u32_free(&c->ret);
	for (int k = 0; k < 3; k++)
		column_s64_free(&c->arg[k]);
}

static void lose_some(struct run *run, const struct pbt_packet *packet)
{
	Profbpf__Calls *m = profbpf__calls__unpack(NULL, packet->size, packet->body);
	struct columns columns = { 0 };
	size_t rows;

	if (!m || !call_columns_resolve(m, &rows))
		die("a packet with calls is damaged");
	for (size_t i = 0; i < rows; i++) {
		if (keep(run, COLUMN_AT(m, function, m->n_shape ? m->shape[i] : i)))
			copy_row(m, i, &columns);
	}
	put_calls(run, m->cpu, &columns);
	columns_free(&columns);
	profbpf__calls__free_unpacked(m, NULL);
}

/* Dropped calls count as lost. */
static void put_statistics(struct run *run, const struct pbt_packet *packet)
{
	Profbpf__Statistics *m = profbpf__statistics__unpack(NULL, packet->size, packet->body);
	Profbpf__Lost lost = PROFBPF__LOST__INIT, **all;

	if (!m)
		die("a packet with statistics is damaged");
	lost.reason = "ring full";
	lost.count = run->dropped;
	for (size_t i = 0; i < m->n_source; i++) {
		Profbpf__SourceStatistics source = *m->source[i], *original = m->source[i];

		if (strcmp(source.name, "api") != 0 || source.delivered < run->dropped)
			continue;
		all = calloc(source.n_lost + 1, sizeof(Profbpf__Lost *));
		if (!all)
			die("no memory");
		if (source.n_lost)
			memcpy(all, source.lost, source.n_lost * sizeof(Profbpf__Lost *));
		all[source.n_lost++] = &lost;
		source.lost = all;
		source.delivered -= run->dropped;
		m->source[i] = &source;
		put_message(run, packet->kind, &m->base);
		m->source[i] = original;
		free(all);
		profbpf__statistics__free_unpacked(m, NULL);
		return;
	}
	put(run, packet->kind, packet->body, packet->size);
	profbpf__statistics__free_unpacked(m, NULL);
}

static void copy_trace(struct run *run, struct pbt_reader *reader)
{
	struct pbt_packet packet;
	int err;

	while ((err = pbt_next(reader, &packet)) > 0) {
		if (packet.kind == PROFBPF__PACKET__KIND__FUNCTIONS)
			take_functions(run, &packet);
		if (packet.kind == PROFBPF__PACKET__KIND__CALLS)
			lose_some(run, &packet);
		else if (packet.kind == PROFBPF__PACKET__KIND__STATISTICS)
			put_statistics(run, &packet);
		else
			put(run, packet.kind, packet.body, packet.size);
	}
	if (err < 0 || pbt_damage(reader)->bytes_skipped)
		die("the trace is damaged");
}

int main(int argc, char **argv)
{
	struct run *run = calloc(1, sizeof(*run));
	struct pbt_reader *reader;
	char error[256];

	if (argc < 4 || !run) {
		fputs("usage: lose_calls TRACE OUTPUT PERCENT [FUNCTION...]\n", stderr);
		return 2;
	}
	reader = pbt_open(argv[1], error, sizeof(error));
	if (!reader)
		die(error);
	run->random = 12345;
	run->percent = (uint32_t)strtoul(argv[3], NULL, 10);
	run->names = argv + 4;
	run->name_count = argc - 4;
	run->encoder = pbt_encoder_new();
	run->out = fopen(argv[2], "we");
	if (!run->out || !run->encoder)
		die("cannot create the output");
	copy_trace(run, reader);
	if (fclose(run->out) != 0)
		die("cannot write the trace");
	for (uint32_t i = 0; i < FUNCTIONS_MAX; i++) {
		const struct function *function = &run->functions[i];

		if (function->kept + function->dropped)
			printf("%s %" PRIu64 " %" PRIu64 "\n", function->name ? function->name : "?",
			       function->kept, function->dropped);
		free(function->name);
	}
	pbt_close(reader);
	pbt_encoder_free(run->encoder);
	pbt_buffer_free(&run->buffer);
	free(run);
	return 0;
}
