/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/perfetto/perfetto_bundle.h"

#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_fields.h"
#include "proto/trace.pb-c.h"

#define PRIORITY 120 /* that of a normal thread; traces do not contain priorities */
#define COMMON_HARDIRQ 0x08
#define COMMON_SOFTIRQ 0x10
#define COMM_SIZE 16
/*
 * "Idle (task)", a state that traces do not use. Perfetto has no state "unknown", and any other
 * state would claim something about a thread whose state was not recorded.
 */
#define STATE_NOT_RECORDED 0x80

struct compact_switch {
	uint64_t ns;
	uint32_t tid;
	uint16_t state;
	uint16_t comm;
};

struct compact_wake {
	uint64_t ns;
	uint32_t tid;
	uint16_t cpu;
	uint16_t comm;
	uint8_t flags;
};

enum single_kind { SINGLE_FIRST, SINGLE_WAKE, SINGLE_BLOCKED };

struct single {
	uint64_t ns;
	struct on_cpu who; /* the thread that is switched in, woken, or waits */
	uint32_t waker;
	uint16_t cpu;
	uint8_t kind;
	uint8_t flags;
};

struct bundle {
	struct perfetto_trace *trace;
	uint32_t cpu;
	uint32_t number; /* number of this bundle, for comm_bundle */
	uint32_t *comm_bundle; /* by thread, then idle, not recorded, unknown */
	uint16_t *comm_index;
	struct on_cpu comms[2 * BUNDLE_EVENTS];
	uint32_t comm_count;
	struct compact_switch switches[BUNDLE_EVENTS];
	uint32_t switch_count;
	struct compact_wake wakes[BUNDLE_EVENTS];
	uint32_t wake_count;
	struct single singles[BUNDLE_EVENTS];
	uint32_t single_count;
};

struct bundle *bundle_new(struct perfetto_trace *trace)
{
	struct bundle *bundle = calloc(1, sizeof(*bundle));
	size_t keys = (size_t)trace->model->threads.count + 3;

	if (!bundle)
		return NULL;
	bundle->trace = trace;
	bundle->comm_bundle = calloc(keys, sizeof(*bundle->comm_bundle));
	bundle->comm_index = calloc(keys, sizeof(*bundle->comm_index));
	if (!bundle->comm_bundle || !bundle->comm_index) {
		bundle_free(bundle);
		return NULL;
	}
	return bundle;
}

void bundle_free(struct bundle *bundle)
{
	if (!bundle)
		return;
	free(bundle->comm_bundle);
	free(bundle->comm_index);
	free(bundle);
}

struct on_cpu bundle_unrecorded(uint32_t cpu)
{
	return (struct on_cpu){ .tid = PERFETTO_UNRECORDED_PID + 1 + cpu, .thread = INDEX_NONE };
}

static const char *comm_of(const struct bundle *bundle, struct on_cpu who, char *into)
{
	if (who.thread == INDEX_NONE && who.tid > PERFETTO_UNRECORDED_PID)
		return PERFETTO_UNRECORDED_NAME;
	return export_thread_name(bundle->trace->model, who.thread, who.tid, into, COMM_SIZE);
}

static uint16_t comm_index(struct bundle *bundle, struct on_cpu who)
{
	uint32_t threads = bundle->trace->model->threads.count, key = who.thread;

	if (key >= threads)
		key = who.tid == 0			  ? threads
		      : who.tid > PERFETTO_UNRECORDED_PID ? threads + 1
							  : threads + 2;
	if (bundle->comm_bundle[key] != bundle->number) {
		bundle->comm_bundle[key] = bundle->number;
		bundle->comm_index[key] = bundle->comm_count;
		bundle->comms[bundle->comm_count++] = who;
	}
	return bundle->comm_index[key];
}

static uint64_t boot_ns(const struct bundle *bundle, uint64_t ns)
{
	return boot_clock_at(&bundle->trace->clock, ns);
}

/* Columns: packed fields, timestamps as differences. */
#define COLUMN(field, count, value)                           \
	do {                                                  \
		size_t column = perfetto_open(writer, field); \
		for (uint32_t i = 0; i < (count); i++) {      \
			perfetto_varint(writer, value);       \
		}                                             \
		perfetto_close(writer, column);               \
	} while (0)

static void write_switches(struct bundle *bundle)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	const struct compact_switch *rows = bundle->switches;
	uint32_t count = bundle->switch_count;

	if (count == 0)
		return;
	COLUMN(COMPACT_SWITCH_TIMESTAMP, count, i ? rows[i].ns - rows[i - 1].ns : rows[i].ns);
	COLUMN(COMPACT_SWITCH_PREV_STATE, count, rows[i].state);
	COLUMN(COMPACT_SWITCH_NEXT_PID, count, rows[i].tid);
	COLUMN(COMPACT_SWITCH_NEXT_PRIO, count, PRIORITY);
	COLUMN(COMPACT_SWITCH_NEXT_COMM, count, rows[i].comm);
}

static void write_wakes(struct bundle *bundle)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	const struct compact_wake *rows = bundle->wakes;
	uint32_t count = bundle->wake_count;

	if (count == 0)
		return;
	COLUMN(COMPACT_WAKING_TIMESTAMP, count, i ? rows[i].ns - rows[i - 1].ns : rows[i].ns);
	COLUMN(COMPACT_WAKING_PID, count, rows[i].tid);
	COLUMN(COMPACT_WAKING_TARGET_CPU, count, rows[i].cpu);
	COLUMN(COMPACT_WAKING_PRIO, count, PRIORITY);
	COLUMN(COMPACT_WAKING_COMM, count, rows[i].comm);
	COLUMN(COMPACT_WAKING_COMMON_FLAGS, count, rows[i].flags);
}

static void write_first(struct bundle *bundle, const struct single *single)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	struct on_cpu before = bundle_unrecorded(bundle->cpu);
	char comm[COMM_SIZE];
	size_t mark;

	perfetto_uint(writer, FTRACE_PID, before.tid);
	mark = perfetto_open(writer, FTRACE_SCHED_SWITCH);
	perfetto_text(writer, SWITCH_FIELD_PREV_COMM, PERFETTO_UNRECORDED_NAME);
	perfetto_uint(writer, SWITCH_FIELD_PREV_PID, before.tid);
	perfetto_uint(writer, SWITCH_FIELD_PREV_PRIO, PRIORITY);
	perfetto_uint(writer, SWITCH_FIELD_PREV_STATE, STATE_NOT_RECORDED);
	perfetto_text(writer, SWITCH_FIELD_NEXT_COMM, comm_of(bundle, single->who, comm));
	perfetto_uint(writer, SWITCH_FIELD_NEXT_PID, single->who.tid);
	perfetto_uint(writer, SWITCH_FIELD_NEXT_PRIO, PRIORITY);
	perfetto_close(writer, mark);
}

static void write_wake(struct bundle *bundle, const struct single *single)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	char comm[COMM_SIZE];
	size_t mark;

	perfetto_uint(writer, FTRACE_PID, single->waker);
	if (single->flags)
		perfetto_uint(writer, FTRACE_COMMON_FLAGS, single->flags);
	mark = perfetto_open(writer, FTRACE_SCHED_WAKING);
	perfetto_text(writer, WAKING_FIELD_COMM, comm_of(bundle, single->who, comm));
	perfetto_uint(writer, WAKING_FIELD_PID, single->who.tid);
	perfetto_uint(writer, WAKING_FIELD_PRIO, PRIORITY);
	perfetto_uint(writer, WAKING_FIELD_SUCCESS, 1);
	perfetto_uint(writer, WAKING_FIELD_TARGET_CPU, single->cpu);
	perfetto_close(writer, mark);
}

static void write_blocked(struct bundle *bundle, const struct single *single)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	size_t mark;

	perfetto_uint(writer, FTRACE_PID, single->who.tid);
	mark = perfetto_open(writer, FTRACE_SCHED_BLOCKED_REASON);
	perfetto_uint(writer, BLOCKED_FIELD_PID, single->who.tid);
	perfetto_uint(writer, BLOCKED_FIELD_IO_WAIT, 1);
	perfetto_close(writer, mark);
}

static void write_single(struct bundle *bundle, const struct single *single)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	size_t mark = perfetto_open(writer, BUNDLE_EVENT);

	perfetto_uint(writer, FTRACE_TIMESTAMP, single->ns);
	if (single->kind == SINGLE_FIRST)
		write_first(bundle, single);
	else if (single->kind == SINGLE_WAKE)
		write_wake(bundle, single);
	else
		write_blocked(bundle, single);
	perfetto_close(writer, mark);
}

static void flush(struct bundle *bundle)
{
	struct perfetto_writer *writer = &bundle->trace->writer;
	size_t packet, body, compact;
	char comm[COMM_SIZE];

	if (bundle->switch_count + bundle->wake_count + bundle->single_count > 0) {
		packet = perfetto_packet(writer);
		body = perfetto_open(writer, PACKET_FTRACE_EVENTS);
		perfetto_uint(writer, BUNDLE_CPU, bundle->cpu);
		for (uint32_t i = 0; i < bundle->single_count; i++)
			write_single(bundle, &bundle->singles[i]);
		compact = perfetto_open(writer, BUNDLE_COMPACT_SCHED);
		write_switches(bundle);
		for (uint32_t i = 0; i < bundle->comm_count; i++)
			perfetto_text(writer, COMPACT_INTERN_TABLE,
				      comm_of(bundle, bundle->comms[i], comm));
		write_wakes(bundle);
		perfetto_close(writer, compact);
		perfetto_close(writer, body);
		perfetto_packet_end(writer, packet);
	}
	bundle->switch_count = 0;
	bundle->wake_count = 0;
	bundle->single_count = 0;
	bundle->comm_count = 0;
	bundle->number++;
}

void bundle_begin(struct bundle *bundle, uint32_t cpu)
{
	bundle->cpu = cpu;
	flush(bundle);
}

void bundle_end(struct bundle *bundle)
{
	flush(bundle);
}

static void add_single(struct bundle *bundle, struct single single)
{
	bundle->singles[bundle->single_count++] = single;
	if (bundle->single_count == BUNDLE_EVENTS)
		flush(bundle);
}

static uint16_t state_of(uint8_t leaves)
{
	switch (leaves) {
	case PROFBPF__SWITCHES__STATE__PREEMPTED: return 0x100;
	case PROFBPF__SWITCHES__STATE__SLEEP: return 0x01;
	case PROFBPF__SWITCHES__STATE__DISK_SLEEP: return 0x02;
	case PROFBPF__SWITCHES__STATE__STOPPED: return 0x04;
	case PROFBPF__SWITCHES__STATE__DEAD: return 0x10;
	default: return STATE_NOT_RECORDED;
	}
}

void bundle_first_switch(struct bundle *bundle, uint64_t ns, struct on_cpu next)
{
	add_single(bundle,
		   (struct single){ .ns = boot_ns(bundle, ns), .who = next, .kind = SINGLE_FIRST });
}

void bundle_switch(struct bundle *bundle, uint64_t ns, uint8_t leaves, struct on_cpu next)
{
	bundle->switches[bundle->switch_count++] = (struct compact_switch){
		.ns = boot_ns(bundle, ns),
		.tid = next.tid,
		.state = state_of(leaves),
		.comm = comm_index(bundle, next),
	};
	if (bundle->switch_count == BUNDLE_EVENTS)
		flush(bundle);
}

void bundle_blocked(struct bundle *bundle, uint64_t ns, uint32_t tid)
{
	add_single(bundle, (struct single){ .ns = boot_ns(bundle, ns),
					    .who = { .tid = tid, .thread = INDEX_NONE },
					    .kind = SINGLE_BLOCKED });
}

static uint8_t common_flags(uint8_t flags)
{
	if (flags & (PROFBPF__WAKES__FLAG__HARDIRQ | PROFBPF__WAKES__FLAG__TIMER))
		return COMMON_HARDIRQ;
	return flags & PROFBPF__WAKES__FLAG__SOFTIRQ ? COMMON_SOFTIRQ : 0;
}

void bundle_wake(struct bundle *bundle, const struct wake *wake, bool compact)
{
	struct on_cpu woken = { .tid = bundle->trace->model->threads.row[wake->thread].tid,
				.thread = wake->thread };

	if (!compact) {
		add_single(bundle, (struct single){
					   .ns = boot_ns(bundle, wake->ts_ns),
					   .who = woken,
					   .waker = wake->waker_tid,
					   .cpu = wake->target_cpu,
					   .kind = SINGLE_WAKE,
					   .flags = common_flags(wake->flags),
				   });
		return;
	}
	bundle->wakes[bundle->wake_count++] = (struct compact_wake){
		.ns = boot_ns(bundle, wake->ts_ns),
		.tid = woken.tid,
		.cpu = wake->target_cpu,
		.comm = comm_index(bundle, woken),
		.flags = common_flags(wake->flags),
	};
	if (bundle->wake_count == BUNDLE_EVENTS)
		flush(bundle);
}
