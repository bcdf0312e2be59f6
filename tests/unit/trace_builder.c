/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/pbt.h"
#include "tests/unit/trace_batch.h"

#define STRINGS_MAX 4096
#define SOURCES_MAX 8

struct trace_builder {
	struct pbt_encoder *encoder;
	struct pbt_buffer out;
	struct trace_batch pending;
	char *strings[STRINGS_MAX];
	uint32_t string_count;
	size_t *ends;
	size_t end_count;
	Profbpf__SourceStatistics sources[SOURCES_MAX];
	Profbpf__Lost losses[SOURCES_MAX];
	size_t source_count;
	Profbpf__ShortCalls shorts[SOURCES_MAX];
	size_t short_count;
};

struct trace_builder *trace_builder_new(void)
{
	struct trace_builder *builder = trace_must(calloc(1, sizeof(*builder)));

	builder->encoder = trace_must(pbt_encoder_new());
	return builder;
}

static void forget_strings(struct trace_builder *builder)
{
	for (uint32_t i = 0; i < builder->string_count; i++)
		free(builder->strings[i]);
	builder->string_count = 0;
}

static void forget_statistics(struct trace_builder *builder)
{
	for (size_t i = 0; i < builder->source_count; i++) {
		free(builder->sources[i].name);
		free(builder->losses[i].reason);
		free(builder->sources[i].lost);
	}
	builder->source_count = 0;
	builder->short_count = 0;
}

void trace_builder_free(struct trace_builder *builder)
{
	if (!builder)
		return;
	forget_strings(builder);
	forget_statistics(builder);
	free(builder->pending.rows);
	free(builder->ends);
	pbt_encoder_free(builder->encoder);
	pbt_buffer_free(&builder->out);
	free(builder);
}

static void put(struct trace_builder *builder, Profbpf__Packet__Kind kind, const void *body,
		size_t size)
{
	if (pbt_encode(builder->encoder, kind, body, size, &builder->out) != 0) {
		fprintf(stderr, "trace_builder: cannot encode a packet of kind %d\n", kind);
		abort();
	}
	builder->ends =
		trace_must(realloc(builder->ends, (builder->end_count + 1) * sizeof(size_t)));
	builder->ends[builder->end_count++] = builder->out.size;
}

static void put_message(struct trace_builder *builder, Profbpf__Packet__Kind kind,
			const void *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *body = trace_must(malloc(size + 1));

	protobuf_c_message_pack(message, body);
	put(builder, kind, body, size);
	free(body);
}

static void put_batch(void *context, Profbpf__Packet__Kind kind, const void *message)
{
	put_message(context, kind, message);
}

static void flush(struct trace_builder *builder)
{
	if (builder->pending.count)
		trace_batch_put(&builder->pending, put_batch, builder);
	builder->pending.count = 0;
}

static void add(struct trace_builder *builder, Profbpf__Packet__Kind kind, uint32_t key,
		const uint64_t *values, size_t count)
{
	struct trace_batch *pending = &builder->pending;

	if (pending->kind != kind || pending->key != key)
		flush(builder);
	pending->kind = kind;
	pending->key = key;
	if (pending->count == pending->capacity) {
		pending->capacity = pending->capacity ? pending->capacity * 2 : 16;
		pending->rows = trace_must(
			realloc(pending->rows, pending->capacity * sizeof(*pending->rows)));
	}
	memcpy(pending->rows[pending->count++], values, count * sizeof(*values));
}

#define ADD(kind, key, ...)                                              \
	do {                                                             \
		const uint64_t values[] = { __VA_ARGS__ };               \
                                                                         \
		add(builder, PROFBPF__PACKET__KIND__##kind, key, values, \
		    sizeof(values) / sizeof(values[0]));                 \
	} while (0)

/* Returns the string's id; sends a new string at once, before the batch that uses it. */
static uint32_t string_id(struct trace_builder *builder, const char *text)
{
	Profbpf__Strings message = PROFBPF__STRINGS__INIT;
	char *texts[1] = { (char *)text };

	if (!text || !*text)
		return 0;
	for (uint32_t i = 0; i < builder->string_count; i++) {
		if (strcmp(builder->strings[i], text) == 0)
			return i + 1;
	}
	if (builder->string_count == STRINGS_MAX)
		abort();
	builder->strings[builder->string_count++] = trace_must(strdup(text));
	message.first_id = builder->string_count;
	message.n_text = 1;
	message.text = texts;
	put_message(builder, PROFBPF__PACKET__KIND__STRINGS, &message);
	return builder->string_count;
}

const uint8_t *trace_bytes(struct trace_builder *builder, size_t *size)
{
	flush(builder);
	*size = builder->out.size;
	return builder->out.data;
}

size_t trace_packet_ends(struct trace_builder *builder, const size_t **ends)
{
	flush(builder);
	*ends = builder->ends;
	return builder->end_count;
}

void trace_write(struct trace_builder *builder, const char *path)
{
	size_t size;
	const uint8_t *bytes = trace_bytes(builder, &size);
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		abort();
	}
}

void trace_packet(struct trace_builder *builder, Profbpf__Packet__Kind kind, const void *body,
		  size_t size)
{
	flush(builder);
	put(builder, kind, body, size);
}

void trace_segment(struct trace_builder *builder, const struct trace_segment *segment)
{
	Profbpf__Segment message = PROFBPF__SEGMENT__INIT;
	uint8_t uuid[16] = { segment->session }, boot[16] = { segment->boot };
	char *topics[] = { "api", "ioctl", "sched" };
	char *notes[] = { (char *)segment->note };
	Profbpf__ProbeCost costs[2], *cost_pointers[] = { &costs[0], &costs[1] };

	flush(builder);
	forget_strings(builder);
	message.format = segment->format ? segment->format : PBT_FORMAT;
	message.index = segment->index;
	message.session_uuid.data = uuid;
	message.session_uuid.len = sizeof(uuid);
	message.producer = "profbpf test";
	message.hostname = segment->hostname ? (char *)segment->hostname : "testhost";
	message.kernel = "6.1.0-test";
	message.arch = segment->arch ? (char *)segment->arch : "x86_64";
	message.cpus = segment->cpus ? segment->cpus : 2;
	message.boot_id.data = boot;
	message.boot_id.len = sizeof(boot);
	message.session_start_ns = segment->start_ns;
	message.session_start_realtime_ns = segment->start_realtime_ns;
	message.targets = (uint32_t *)segment->targets;
	message.n_targets = segment->target_count;
	message.system_wide = segment->system_wide;
	message.follow = true;
	message.topics = topics;
	message.n_topics = 3;
	for (int i = 0; i < 2; i++) {
		profbpf__probe_cost__init(&costs[i]);
		costs[i].instruction = i ? "nop5" : "emulated";
		costs[i].inside_ns = i ? 200 : 250;
		costs[i].whole_ns = i ? 500 : 600;
	}
	message.probe_cost_ns = 250;
	message.probe_costs = cost_pointers;
	message.n_probe_costs = segment->old_probe_cost ? 0 : 2;
	message.probe_string_ns = segment->old_probe_cost ? 0 : 40;
	message.probe_method = "session";
	message.notes = notes;
	message.n_notes = segment->note ? 1 : 0;
	put_message(builder, PROFBPF__PACKET__KIND__SEGMENT, &message);
}

void trace_clock(struct trace_builder *builder, const struct trace_clock *clock)
{
	ADD(CLOCKS, 0, clock->monotonic_ns, clock->monotonic_raw_ns, clock->boottime_ns,
	    clock->realtime_ns, clock->counter);
}

void trace_task(struct trace_builder *builder, const struct trace_task_row *row)
{
	uint32_t name = string_id(builder, row->name);
	uint32_t cmdline = string_id(builder, row->cmdline);
	uint32_t exe = string_id(builder, row->exe);

	ADD(TASKS, 0, row->ts_ns, row->tid, row->tgid, row->parent_tgid, row->parent_tid,
	    row->event, row->exit_code, row->start_ns, name, cmdline, exe, row->flags);
}

void trace_target(struct trace_builder *builder, uint64_t ts_ns, uint32_t tgid, uint32_t tid,
		  const char *name)
{
	struct trace_task_row row = {
		.ts_ns = ts_ns,
		.tid = tid,
		.tgid = tgid,
		.event = PROFBPF__TASKS__EVENT__SEEN,
		.start_ns = ts_ns > 1000000000 ? ts_ns - 1000000000 : 1,
		.name = name,
		.flags = 1,
	};

	trace_task(builder, &row);
}

void trace_function(struct trace_builder *builder, const struct trace_function *function)
{
	Profbpf__Functions message = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function one = PROFBPF__FUNCTION__INIT;
	Profbpf__Function *list[1] = { &one };
	Profbpf__Function__Role roles[3];
	char file[256];

	flush(builder);
	snprintf(file, sizeof(file), "/usr/lib/lib%s.so", function->runtime);
	memcpy(roles, function->roles, sizeof(roles));
	one.id = function->id;
	one.runtime = (char *)function->runtime;
	one.family = (char *)(function->family ? function->family : function->runtime);
	one.name = (char *)function->name;
	one.kind = function->kind;
	one.layer = function->layer;
	one.error = function->error;
	one.roles = roles;
	one.n_roles = 3;
	one.file = function->file ? (char *)function->file : file;
	one.instruction = "nop5";
	message.function = list;
	message.n_function = 1;
	put_message(builder, PROFBPF__PACKET__KIND__FUNCTIONS, &message);
}

void trace_call(struct trace_builder *builder, const struct trace_call_row *row)
{
	uint32_t text = string_id(builder, row->text);
	uint32_t flags = row->flags | row->depth << 8 | (text ? 2 : 0);

	ADD(CALLS, row->cpu, row->end_ns, row->end_ns - row->start_ns, row->tid, row->function,
	    flags, row->ret, row->args[0], row->args[1], row->args[2], text, row->tgid);
}

void trace_ioctl(struct trace_builder *builder, const struct trace_ioctl_row *row)
{
	ADD(IOCTLS, row->cpu, row->end_ns, row->end_ns - row->start_ns, row->tid, row->tgid,
	    row->cmd, row->rdev, (uint64_t)row->ret, row->flags);
}

void trace_driver(struct trace_builder *builder, uint32_t rdev, const char *driver,
		  const char *device)
{
	Profbpf__Drivers message = PROFBPF__DRIVERS__INIT;
	Profbpf__Driver one = PROFBPF__DRIVER__INIT;
	Profbpf__Driver *list[1] = { &one };

	flush(builder);
	one.rdev = rdev;
	one.driver = (char *)driver;
	one.device = (char *)device;
	message.driver = list;
	message.n_driver = 1;
	put_message(builder, PROFBPF__PACKET__KIND__DRIVERS, &message);
}

void trace_switch(struct trace_builder *builder, const struct trace_switch_row *row)
{
	ADD(SWITCHES, row->cpu, row->ts_ns, row->prev_tid, row->next_tid, row->state,
	    (uint64_t)row->syscall, row->flags, row->object, row->refill_ns);
}

void trace_wake(struct trace_builder *builder, const struct trace_wake_row *row)
{
	uint32_t interrupt = string_id(builder, row->interrupt);

	ADD(WAKES, row->cpu, row->ts_ns, row->waker_tid, row->tid, row->target_cpu, row->flags,
	    interrupt);
}

void trace_account(struct trace_builder *builder, const struct trace_account_row *row)
{
	ADD(ACCOUNTS, 0, row->ts_ns, row->tid, row->tgid, row->flags, row->run_ns, row->runnable_ns,
	    row->user_ns, row->system_ns, row->voluntary, row->involuntary, row->migrations,
	    row->minor_faults, row->major_faults);
}

void trace_cpu_stats(struct trace_builder *builder, const struct trace_host_row *host,
		     const struct trace_cpu_row *cpus, size_t count)
{
	Profbpf__CpuStats message = PROFBPF__CPU_STATS__INIT;
	uint64_t *columns = trace_must(calloc(count * 7 + 1, sizeof(*columns)));
	uint32_t *numbers = trace_must(calloc(count + 1, sizeof(*numbers)));

	flush(builder);
	for (size_t i = 0; i < count; i++) {
		numbers[i] = cpus[i].cpu;
		columns[i] = cpus[i].user_ns;
		columns[count + i] = cpus[i].system_ns;
		columns[2 * count + i] = cpus[i].irq_ns;
		columns[3 * count + i] = cpus[i].softirq_ns;
		columns[4 * count + i] = cpus[i].iowait_ns;
		columns[5 * count + i] = cpus[i].idle_ns;
		columns[6 * count + i] = cpus[i].steal_ns;
	}
	message.ts_ns = host->ts_ns;
	message.context_switches = host->context_switches;
	message.forks = host->forks;
	message.runnable = host->runnable;
	message.blocked = host->blocked;
	message.n_cpu = message.n_user_ns = message.n_system_ns = message.n_irq_ns = count;
	message.n_softirq_ns = message.n_iowait_ns = message.n_idle_ns = count;
	message.n_steal_ns = count;
	message.cpu = numbers;
	message.user_ns = columns;
	message.system_ns = columns + count;
	message.irq_ns = columns + 2 * count;
	message.softirq_ns = columns + 3 * count;
	message.iowait_ns = columns + 4 * count;
	message.idle_ns = columns + 5 * count;
	message.steal_ns = columns + 6 * count;
	put_message(builder, PROFBPF__PACKET__KIND__CPU_STATS, &message);
	free(columns);
	free(numbers);
}

void trace_device(struct trace_builder *builder, const struct trace_device *device)
{
	Profbpf__Devices message = PROFBPF__DEVICES__INIT;
	Profbpf__Device one = PROFBPF__DEVICE__INIT;
	Profbpf__Device *list[1] = { &one };

	flush(builder);
	one.id = device->id;
	one.tgid = device->tgid;
	one.name = (char *)device->name;
	one.kind = device->kind ? (char *)device->kind : "gpu";
	one.source = device->source ? (char *)device->source : "opencl-layer";
	one.clock = device->clock;
	message.device = list;
	message.n_device = 1;
	put_message(builder, PROFBPF__PACKET__KIND__DEVICES, &message);
}

void trace_device_task(struct trace_builder *builder, const struct trace_device_task_row *row)
{
	uint32_t name = string_id(builder, row->name);

	ADD(DEVICE_TASKS, row->device, row->queued_ns, row->submit_ns - row->queued_ns,
	    row->start_ns - row->queued_ns, row->end_ns - row->start_ns, row->stream, row->kind,
	    name, row->tid, row->enqueue_ns, row->bytes, (uint64_t)row->status, row->correlation,
	    row->enqueue_dur_ns);
}

void trace_coverage(struct trace_builder *builder, uint32_t tgid, const char *file,
		    uint64_t mapped_ns, uint64_t probed_ns, uint32_t functions)
{
	uint32_t id = string_id(builder, file);

	ADD(COVERAGE, 0, tgid, id, mapped_ns, probed_ns, functions, PROFBPF__COVERAGE__STATE__PROBED);
}

void trace_looked(struct trace_builder *builder, uint32_t tgid, const char *file, uint64_t looked_ns,
		  uint32_t functions, Profbpf__Coverage__State state)
{
	uint32_t id = string_id(builder, file);

	ADD(COVERAGE, 0, tgid, id, looked_ns, looked_ns, functions, state);
}

void trace_ends(struct trace_builder *builder, uint32_t function, uint64_t ts_ns, uint32_t seen,
		uint32_t rate)
{
	ADD(ENDS, 0, function, ts_ns, seen, rate);
}

void trace_source(struct trace_builder *builder, const char *name, uint64_t produced,
		  uint64_t delivered, const char *reason, uint64_t lost)
{
	size_t i = builder->source_count++;
	Profbpf__SourceStatistics *source = &builder->sources[i];

	if (i >= SOURCES_MAX)
		abort();
	profbpf__source_statistics__init(source);
	profbpf__lost__init(&builder->losses[i]);
	source->name = trace_must(strdup(name));
	source->produced = produced;
	source->delivered = delivered;
	source->lost = trace_must(calloc(1, sizeof(*source->lost)));
	source->lost[0] = &builder->losses[i];
	source->n_lost = reason ? 1 : 0;
	builder->losses[i].reason = trace_must(strdup(reason ? reason : ""));
	builder->losses[i].count = lost;
}

void trace_short_calls(struct trace_builder *builder, uint32_t function, uint32_t tgid,
		       uint64_t count, uint64_t total_ns)
{
	Profbpf__ShortCalls *row = &builder->shorts[builder->short_count++];

	if (builder->short_count > SOURCES_MAX)
		abort();
	profbpf__short_calls__init(row);
	row->function = function;
	row->tgid = tgid;
	row->count = count;
	row->total_ns = total_ns;
}

void trace_unended_calls(struct trace_builder *builder, uint64_t count)
{
	builder->shorts[builder->short_count - 1].unended = count;
}

void trace_statistics(struct trace_builder *builder, uint64_t ts_ns, bool final,
		      const char *end_reason)
{
	Profbpf__Statistics message = PROFBPF__STATISTICS__INIT;
	Profbpf__SourceStatistics *sources[SOURCES_MAX];
	Profbpf__ShortCalls *shorts[SOURCES_MAX];

	flush(builder);
	for (size_t i = 0; i < builder->source_count; i++)
		sources[i] = &builder->sources[i];
	for (size_t i = 0; i < builder->short_count; i++)
		shorts[i] = &builder->shorts[i];
	message.ts_ns = ts_ns;
	message.final = final;
	message.end_reason = end_reason ? (char *)end_reason : "";
	message.source = sources;
	message.n_source = builder->source_count;
	message.short_calls = shorts;
	message.n_short_calls = builder->short_count;
	put_message(builder, PROFBPF__PACKET__KIND__STATISTICS, &message);
	forget_statistics(builder);
}
