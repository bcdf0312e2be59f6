/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/trace_batch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *trace_must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "trace_builder: no memory\n");
		abort();
	}
	return pointer;
}

/* The batch to encode and the receiver of the message. */
struct target {
	const struct trace_batch *batch;
	trace_put_fn *put;
	void *context;
};

/* Columns of a batch; all columns of one width are freed together after packing. */
struct columns {
	const struct trace_batch *pending;
	void *allocated[TRACE_COLUMNS];
	size_t count;
};

static uint64_t cell(const struct trace_batch *pending, size_t row, int column, bool delta)
{
	uint64_t before = delta && row > 0 ? pending->rows[row - 1][column] : 0;

	return pending->rows[row][column] - before;
}

static uint64_t *wide(struct columns *columns, int column, bool delta)
{
	uint64_t *values = trace_must(calloc(columns->pending->count, sizeof(*values)));

	for (size_t i = 0; i < columns->pending->count; i++)
		values[i] = cell(columns->pending, i, column, delta);
	columns->allocated[columns->count++] = values;
	return values;
}

static uint32_t *narrow(struct columns *columns, int column, bool delta)
{
	uint32_t *values = trace_must(calloc(columns->pending->count, sizeof(*values)));

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
#define BEGIN(init)                                      \
	const struct trace_batch *pending = to->batch;   \
	struct columns columns = { .pending = pending }; \
	init
#define END(kind)                                          \
	do {                                               \
		to->put(to->context, kind, &message);      \
		for (size_t i = 0; i < columns.count; i++) \
			free(columns.allocated[i]);        \
	} while (0)

static void flush_clocks(const struct target *to)
{
	BEGIN(Profbpf__Clocks message = PROFBPF__CLOCKS__INIT);

	WIDE(monotonic_ns, 0, true);
	WIDE(monotonic_raw_ns, 1, true);
	WIDE(boottime_ns, 2, true);
	WIDE(realtime_ns, 3, true);
	WIDE(counter, 4, true);
	END(PROFBPF__PACKET__KIND__CLOCKS);
}

static void flush_tasks(const struct target *to)
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

static void flush_calls(const struct target *to)
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

static void flush_ioctls(const struct target *to)
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

static void flush_switches(const struct target *to)
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
	NARROW(object, 6, false);
	NARROW(refill_ns, 7, false);
	END(PROFBPF__PACKET__KIND__SWITCHES);
}

static void flush_wakes(const struct target *to)
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
	NARROW(interrupt, 5, false);
	END(PROFBPF__PACKET__KIND__WAKES);
}

static void flush_accounts(const struct target *to)
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

static void flush_device_tasks(const struct target *to)
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

static void flush_coverage(const struct target *to)
{
	BEGIN(Profbpf__Coverage message = PROFBPF__COVERAGE__INIT);

	NARROW(tgid, 0, false);
	NARROW(file, 1, false);
	WIDE(mapped_ns, 2, false);
	WIDE(probed_ns, 3, false);
	NARROW(functions, 4, false);
	NARROW(state, 5, false);
	END(PROFBPF__PACKET__KIND__COVERAGE);
}

static void flush_ends(const struct target *to)
{
	BEGIN(Profbpf__Ends message = PROFBPF__ENDS__INIT);

	NARROW(function, 0, false);
	WIDE(ts_ns, 1, true);
	NARROW(seen, 2, false);
	NARROW(calls_per_second, 3, false);
	END(PROFBPF__PACKET__KIND__ENDS);
}

void trace_batch_put(const struct trace_batch *batch, trace_put_fn *put, void *context)
{
	const struct target target = { batch, put, context }, *to = &target;

	switch (batch->kind) {
	case PROFBPF__PACKET__KIND__CLOCKS: flush_clocks(to); break;
	case PROFBPF__PACKET__KIND__TASKS: flush_tasks(to); break;
	case PROFBPF__PACKET__KIND__CALLS: flush_calls(to); break;
	case PROFBPF__PACKET__KIND__IOCTLS: flush_ioctls(to); break;
	case PROFBPF__PACKET__KIND__SWITCHES: flush_switches(to); break;
	case PROFBPF__PACKET__KIND__WAKES: flush_wakes(to); break;
	case PROFBPF__PACKET__KIND__ACCOUNTS: flush_accounts(to); break;
	case PROFBPF__PACKET__KIND__DEVICE_TASKS: flush_device_tasks(to); break;
	case PROFBPF__PACKET__KIND__COVERAGE: flush_coverage(to); break;
	case PROFBPF__PACKET__KIND__ENDS: flush_ends(to); break;
	default: abort();
	}
}
