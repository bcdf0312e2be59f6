/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pbt.h"

#define COLUMNS 16
#define STRINGS_MAX 4096
#define SOURCES_MAX 8

/* Rows waiting to become one batch. */
struct pending {
	Profbpf__Packet__Kind kind;
	uint32_t key; /* CPU or device */
	uint64_t (*rows)[COLUMNS];
	size_t count;
	size_t capacity;
};

struct trace_builder {
	struct pbt_encoder *encoder;
	struct pbt_buffer out;
	struct pending pending;
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

static void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "trace_builder: no memory\n");
		abort();
	}
	return pointer;
}

struct trace_builder *trace_builder_new(void)
{
	struct trace_builder *builder = must(calloc(1, sizeof(*builder)));

	builder->encoder = must(pbt_encoder_new());
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
	builder->ends = must(realloc(builder->ends, (builder->end_count + 1) * sizeof(size_t)));
	builder->ends[builder->end_count++] = builder->out.size;
}

static void put_message(struct trace_builder *builder, Profbpf__Packet__Kind kind,
			const void *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *body = must(malloc(size + 1));

	protobuf_c_message_pack(message, body);
	put(builder, kind, body, size);
	free(body);
}

/* Columns of a batch; all of one width are freed together after packing. */
struct columns {
	const struct pending *pending;
	void *allocated[COLUMNS];
	size_t count;
};

static uint64_t cell(const struct pending *pending, size_t row, int column, bool delta)
{
	uint64_t before = delta && row > 0 ? pending->rows[row - 1][column] : 0;

	return pending->rows[row][column] - before;
}

static uint64_t *wide(struct columns *columns, int column, bool delta)
{
	uint64_t *values = must(calloc(columns->pending->count, sizeof(*values)));

	for (size_t i = 0; i < columns->pending->count; i++)
		values[i] = cell(columns->pending, i, column, delta);
	columns->allocated[columns->count++] = values;
	return values;
}

static uint32_t *narrow(struct columns *columns, int column, bool delta)
{
	uint32_t *values = must(calloc(columns->pending->count, sizeof(*values)));

	for (size_t i = 0; i < columns->pending->count; i++)
		values[i] = (uint32_t)cell(columns->pending, i, column, delta);
	columns->allocated[columns->count++] = values;
	return values;
}

/* A column of the message: its count and its values. */
#define WIDE(name, column, delta) \
	(message.n_##name = pending->count, message.name = (void *)wide(&columns, column, delta))
#define NARROW(name, column, delta) \
	(message.n_##name = pending->count, message.name = (void *)narrow(&columns, column, delta))
#define BEGIN(init)                                        \
	const struct pending *pending = &builder->pending; \
	struct columns columns = { .pending = pending };   \
	init
#define END(kind)                                          \
	do {                                               \
		put_message(builder, kind, &message);      \
		for (size_t i = 0; i < columns.count; i++) \
			free(columns.allocated[i]);        \
	} while (0)

static void flush_clocks(struct trace_builder *builder)
{
	BEGIN(Profbpf__Clocks message = PROFBPF__CLOCKS__INIT);

	WIDE(monotonic_ns, 0, true);
	WIDE(monotonic_raw_ns, 1, true);
	WIDE(boottime_ns, 2, true);
	WIDE(realtime_ns, 3, true);
	WIDE(counter, 4, true);
	END(PROFBPF__PACKET__KIND__CLOCKS);
}

static void flush_tasks(struct trace_builder *builder)
{
	BEGIN(Profbpf__Tasks message = PROFBPF__TASKS__INIT);

	WIDE(ts_ns, 0, true);
	NARROW(tid, 1, false);
	NARROW(tgid, 2, false);
	NARROW(parent_tgid, 3, false);
	NARROW(parent_tid, 4, false);
	NARROW(event, 5, false);
	NARROW(exit_code, 6, false);
	WIDE(start_ns, 7, false);
	NARROW(name, 8, false);
	NARROW(cmdline, 9, false);
	NARROW(exe, 10, false);
	NARROW(flags, 11, false);
	END(PROFBPF__PACKET__KIND__TASKS);
}

static void flush_calls(struct trace_builder *builder)
{
	BEGIN(Profbpf__Calls message = PROFBPF__CALLS__INIT);

	message.cpu = pending->key;
	message.first_end_ns = pending->rows[0][0];
	message.last_end_ns = pending->rows[pending->count - 1][0];
	WIDE(end_ns, 0, true);
	WIDE(dur_ns, 1, false);
	NARROW(tid, 2, true);
	NARROW(function, 3, false);
	NARROW(flags, 4, false);
	NARROW(ret, 5, false);
	WIDE(arg0, 6, true);
	WIDE(arg1, 7, true);
	WIDE(arg2, 8, true);
	NARROW(text, 9, false);
	NARROW(tgid, 10, true);
	END(PROFBPF__PACKET__KIND__CALLS);
}

static void flush_ioctls(struct trace_builder *builder)
{
	BEGIN(Profbpf__Ioctls message = PROFBPF__IOCTLS__INIT);

	message.cpu = pending->key;
	message.first_end_ns = pending->rows[0][0];
	message.last_end_ns = pending->rows[pending->count - 1][0];
	WIDE(end_ns, 0, true);
	WIDE(dur_ns, 1, false);
	NARROW(tid, 2, true);
	NARROW(tgid, 3, false);
	NARROW(cmd, 4, false);
	NARROW(rdev, 5, false);
	NARROW(ret, 6, false);
	NARROW(flags, 7, false);
	END(PROFBPF__PACKET__KIND__IOCTLS);
}

static void flush_switches(struct trace_builder *builder)
{
	BEGIN(Profbpf__Switches message = PROFBPF__SWITCHES__INIT);

	message.cpu = pending->key;
	message.first_ns = pending->rows[0][0];
	message.last_ns = pending->rows[pending->count - 1][0];
	WIDE(ts_ns, 0, true);
	NARROW(prev_tid, 1, false);
	NARROW(next_tid, 2, false);
	NARROW(state, 3, false);
	NARROW(syscall, 4, false);
	NARROW(flags, 5, false);
	END(PROFBPF__PACKET__KIND__SWITCHES);
}

static void flush_wakes(struct trace_builder *builder)
{
	BEGIN(Profbpf__Wakes message = PROFBPF__WAKES__INIT);

	message.cpu = pending->key;
	message.first_ns = pending->rows[0][0];
	message.last_ns = pending->rows[pending->count - 1][0];
	WIDE(ts_ns, 0, true);
	NARROW(waker_tid, 1, false);
	NARROW(tid, 2, false);
	NARROW(target_cpu, 3, false);
	NARROW(flags, 4, false);
	END(PROFBPF__PACKET__KIND__WAKES);
}

static void flush_accounts(struct trace_builder *builder)
{
	BEGIN(Profbpf__Accounts message = PROFBPF__ACCOUNTS__INIT);

	WIDE(ts_ns, 0, true);
	NARROW(tid, 1, false);
	NARROW(tgid, 2, false);
	NARROW(flags, 3, false);
	WIDE(run_ns, 4, false);
	WIDE(runnable_ns, 5, false);
	WIDE(user_ns, 6, false);
	WIDE(system_ns, 7, false);
	WIDE(voluntary, 8, false);
	WIDE(involuntary, 9, false);
	WIDE(migrations, 10, false);
	WIDE(minor_faults, 11, false);
	WIDE(major_faults, 12, false);
	END(PROFBPF__PACKET__KIND__ACCOUNTS);
}

static void flush_device_tasks(struct trace_builder *builder)
{
	BEGIN(Profbpf__DeviceTasks message = PROFBPF__DEVICE_TASKS__INIT);

	message.device = pending->key;
	WIDE(queued_ns, 0, true);
	WIDE(submit_ns, 1, false);
	WIDE(start_ns, 2, false);
	WIDE(end_ns, 3, false);
	WIDE(stream, 4, false);
	NARROW(kind, 5, false);
	NARROW(name, 6, false);
	NARROW(tid, 7, false);
	WIDE(enqueue_ns, 8, true);
	WIDE(bytes, 9, false);
	NARROW(status, 10, false);
	WIDE(correlation, 11, false);
	WIDE(enqueue_dur_ns, 12, false);
	END(PROFBPF__PACKET__KIND__DEVICE_TASKS);
}

static void flush_coverage(struct trace_builder *builder)
{
	BEGIN(Profbpf__Coverage message = PROFBPF__COVERAGE__INIT);

	NARROW(tgid, 0, false);
	NARROW(file, 1, false);
	WIDE(mapped_ns, 2, false);
	WIDE(probed_ns, 3, false);
	NARROW(functions, 4, false);
	END(PROFBPF__PACKET__KIND__COVERAGE);
}

static void flush(struct trace_builder *builder)
{
	if (builder->pending.count == 0)
		return;
	switch (builder->pending.kind) {
	case PROFBPF__PACKET__KIND__CLOCKS: flush_clocks(builder); break;
	case PROFBPF__PACKET__KIND__TASKS: flush_tasks(builder); break;
	case PROFBPF__PACKET__KIND__CALLS: flush_calls(builder); break;
	case PROFBPF__PACKET__KIND__IOCTLS: flush_ioctls(builder); break;
	case PROFBPF__PACKET__KIND__SWITCHES: flush_switches(builder); break;
	case PROFBPF__PACKET__KIND__WAKES: flush_wakes(builder); break;
	case PROFBPF__PACKET__KIND__ACCOUNTS: flush_accounts(builder); break;
	case PROFBPF__PACKET__KIND__DEVICE_TASKS: flush_device_tasks(builder); break;
	case PROFBPF__PACKET__KIND__COVERAGE: flush_coverage(builder); break;
	default: abort();
	}
	builder->pending.count = 0;
}

static void add(struct trace_builder *builder, Profbpf__Packet__Kind kind, uint32_t key,
		const uint64_t *values, size_t count)
{
	struct pending *pending = &builder->pending;

	if (pending->kind != kind || pending->key != key)
		flush(builder);
	pending->kind = kind;
	pending->key = key;
	if (pending->count == pending->capacity) {
		pending->capacity = pending->capacity ? pending->capacity * 2 : 16;
		pending->rows =
			must(realloc(pending->rows, pending->capacity * sizeof(*pending->rows)));
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

/* Sends a new string at once: before the batch that uses it. */
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
	builder->strings[builder->string_count++] = must(strdup(text));
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

	flush(builder);
	forget_strings(builder);
	message.format = PBT_FORMAT;
	message.index = segment->index;
	message.session_uuid.data = uuid;
	message.session_uuid.len = sizeof(uuid);
	message.producer = "profbpf test";
	message.hostname = segment->hostname ? (char *)segment->hostname : "testhost";
	message.kernel = "6.1.0-test";
	message.arch = "x86_64";
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
	message.probe_cost_ns = 250;
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
	    (uint64_t)row->syscall, row->flags);
}

void trace_wake(struct trace_builder *builder, const struct trace_wake_row *row)
{
	ADD(WAKES, row->cpu, row->ts_ns, row->waker_tid, row->tid, row->target_cpu, row->flags);
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
	uint64_t *columns = must(calloc(count * 7 + 1, sizeof(*columns)));
	uint32_t *numbers = must(calloc(count + 1, sizeof(*numbers)));

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

	ADD(COVERAGE, 0, tgid, id, mapped_ns, probed_ns, functions);
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
	source->name = must(strdup(name));
	source->produced = produced;
	source->delivered = delivered;
	source->lost = must(calloc(1, sizeof(*source->lost)));
	source->lost[0] = &builder->losses[i];
	source->n_lost = reason ? 1 : 0;
	builder->losses[i].reason = must(strdup(reason ? reason : ""));
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
