/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of records in a file: the numbers that they always had, whatever their numbers in bpf/events.h are.
 * Numbers on the right never change; they are those of proto/trace.proto.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/trace_values.h"
#include "device/stream.h"
#include "lib/trace/column.h"
#include "tests/unit/encode_fixture.h"

struct value {
	uint32_t record, file;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct value call_flags[] = {
	{ CALL_OPEN, 1 },  { CALL_HAS_STRING, 2 }, { CALL_RET_ZERO, 4 },
	{ CALL_LEFT, 32 }, { CALL_ENTRY, 64 }, { CALL_RET_UNKNOWN, 128 },
};

static const struct value ioctl_flags[] = {
	{ CALL_OPEN, 1 },
	{ CALL_BEFORE, 8 },
	{ CALL_UNSEEN, 16 },
};

static const struct value switch_state[] = {
	{ SWITCH_PREEMPTED, 0 }, { SWITCH_SLEEP, 1 }, { SWITCH_DISK, 2 },
	{ SWITCH_STOPPED, 3 },	 { SWITCH_DEAD, 4 },
};

static const struct value switch_flags[] = {
	{ SWITCH_PREV_TARGET, 1 }, { SWITCH_NEXT_TARGET, 2 }, { SWITCH_IOWAIT, 4 },
	{ SWITCH_FAULT, 8 },	   { SWITCH_TIMEOUT, 16 },    { SWITCH_THROTTLED, 32 },
};

static const struct value sleep_kind[] = {
	{ SLEEP_NOTHING, 0 },	 { SLEEP_FILE, 1 },	 { SLEEP_DIRECTORY, 2 },
	{ SLEEP_PIPE, 3 },	 { SLEEP_UNIX, 4 },	 { SLEEP_INET, 5 },
	{ SLEEP_SOCKET, 6 },	 { SLEEP_CHARACTER, 7 }, { SLEEP_BLOCK, 8 },
	{ SLEEP_EVENTFD, 9 },	 { SLEEP_EPOLL, 10 },	 { SLEEP_TIMERFD, 11 },
	{ SLEEP_SIGNALFD, 12 },	 { SLEEP_INOTIFY, 13 },	 { SLEEP_PIDFD, 14 },
	{ SLEEP_ANONYMOUS, 15 }, { SLEEP_SEVERAL, 16 },	 { SLEEP_FUTEX, 17 },
	{ SLEEP_CHILD, 18 },
};

static const struct value wake_flags[] = {
	{ WAKE_NEW, 1 },
	{ WAKE_HARDIRQ, 2 },
	{ WAKE_SOFTIRQ, 4 },
	{ WAKE_TIMER, 8 },
};

static const struct value block_operation[] = {
	{ BLOCK_READ, 0 },    { BLOCK_WRITE, 1 }, { BLOCK_CACHE_FLUSH, 2 },
	{ BLOCK_DISCARD, 3 }, { BLOCK_OTHER, 4 },
};

static const struct value block_flags[] = {
	{ BLOCK_ISSUED, 1 }, { BLOCK_SYNC, 2 },	  { BLOCK_META, 4 },	{ BLOCK_FUA, 8 },
	{ BLOCK_FLUSH, 16 }, { BLOCK_AHEAD, 32 }, { BLOCK_FAILED, 64 },
};

static const struct value task_event[] = {
	{ TASK_SEEN, 0 },   { TASK_FORK, 1 }, { TASK_EXEC, 2 },
	{ TASK_RENAME, 3 }, { TASK_EXIT, 4 }, { TASK_DROPPED, 5 },
};

static const struct value task_flags[] = {
	{ TASK_TARGET, 1 },
	{ TASK_KTHREAD, 2 },
	{ TASK_LAST, 4 },
};

static const struct value account_flags[] = {
	{ ACCOUNT_FINAL, 1 },	    { ACCOUNT_RUNNING, 2 }, { ACCOUNT_QUEUED, 4 },
	{ ACCOUNT_TARGET, 8 },	    { ACCOUNT_FIRST, 16 },  { ACCOUNT_IOWAIT, 32 },
	{ ACCOUNT_DISK, 64 },	    { ACCOUNT_FAULT, 128 }, { ACCOUNT_HAS_IO, 256 },
	{ ACCOUNT_HAS_BYTES, 512 },
};

static const struct value process_flags[] = {
	{ PROCESS_FINAL, 1 },
	{ PROCESS_HAS_RSS, 2 },
	{ PROCESS_TARGET, 8 },
	{ PROCESS_FIRST, 16 },
};

static const struct value stack_flags[] = {
	{ STACK_BLOCK, 1 },
	{ STACK_LOCK, 8 },
	{ STACK_SHORT, 16 },
	{ STACK_WHOLE, 32 },
	{ STACK_HAD_LOCK, 4 },
	{ STACK_NO_LOCK, 64 },
};

static const struct value device_kind[] = {
	{ STREAM_OTHER, 0 }, { STREAM_KERNEL, 1 }, { STREAM_COPY, 2 },		{ STREAM_FILL, 3 },
	{ STREAM_MAP, 4 },   { STREAM_SYNC, 5 },   { STREAM_COMMUNICATION, 6 },
};

static const struct value device_clock[] = {
	{ STREAM_CLOCK_UNDECLARED, 0 },	   { STREAM_CLOCK_MONOTONIC, 1 },
	{ STREAM_CLOCK_MONOTONIC_RAW, 2 }, { STREAM_CLOCK_BOOTTIME, 3 },
	{ STREAM_CLOCK_REALTIME, 4 },
};

typedef uint32_t translate_fn(uint32_t value);

static void check(translate_fn *translate, const struct value *values, size_t count, bool flags)
{
	uint32_t record = 0, file = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(translate(values[i].record), values[i].file);
		record |= values[i].record;
		file |= values[i].file;
	}
	if (flags)
		assert_int_equal(translate(record), file);
}

static void numbers(void **state)
{
	check(trace_call_flags, call_flags, COUNT(call_flags), true);
	check(trace_ioctl_flags, ioctl_flags, COUNT(ioctl_flags), true);
	check(trace_switch_state, switch_state, COUNT(switch_state), false);
	check(trace_switch_flags, switch_flags, COUNT(switch_flags), true);
	check(trace_sleep_kind, sleep_kind, COUNT(sleep_kind), false);
	check(trace_wake_flags, wake_flags, COUNT(wake_flags), true);
	check(trace_block_operation, block_operation, COUNT(block_operation), false);
	check(trace_block_flags, block_flags, COUNT(block_flags), true);
	check(trace_task_event, task_event, COUNT(task_event), false);
	check(trace_task_flags, task_flags, COUNT(task_flags), true);
	check(trace_account_flags, account_flags, COUNT(account_flags), true);
	check(trace_process_flags, process_flags, COUNT(process_flags), true);
	check(trace_stack_flags, stack_flags, COUNT(stack_flags), true);
	check(trace_device_kind, device_kind, COUNT(device_kind), false);
	check(trace_device_clock, device_clock, COUNT(device_clock), false);
	assert_int_equal(trace_call_flags(31 << CALL_DEPTH_SHIFT | CALL_OPEN), 31 << 8 | 1);
	assert_int_equal(trace_device_number(RDEV_BLOCK | 8 << 20 | 1), 0x80800001u);
	assert_int_equal(trace_device_number(195 << 20 | 255), 195 << 20 | 255);
}

/* A value in no enum is unknown, or left out of a sum. */
static void no_values(void **state)
{
	assert_int_equal(trace_switch_state(77), TRACE_NO_VALUE);
	assert_int_equal(trace_task_event(77), TRACE_NO_VALUE);
	assert_int_equal(trace_sleep_kind(77), 0);
	assert_int_equal(trace_block_operation(77), 4);
	assert_int_equal(trace_device_kind(77), 0);
	assert_int_equal(trace_device_clock(77), 0);
	assert_int_equal(trace_account_flags(1u << 31), 0);
	assert_int_equal(trace_switch_flags(SLEEP_FUTEX << SWITCH_KIND_SHIFT), 0);
}

/* ---- The encoder's use of them: a batch with a row for each value */

static struct item *batch(enum item_kind kind, uint32_t type)
{
	struct item *item = item_new(kind, 4096);

	assert_non_null(item);
	item->type = type;
	return item;
}

static void encode(struct encode_fixture *f, struct item *item, struct encoded *out)
{
	assert_int_equal(encode_item(f->encode, item, f->strings, f->texts, out), 0);
	item_free(item);
}

static void add(struct item *item, const void *row, size_t size)
{
	assert_int_equal(item_append(item, row, size), 0);
}

/* Column @field of message @m holds the files' numbers, row by row. */
#define SAME(m, field, values)                                                             \
	do {                                                                               \
		assert_int_equal((m)->n_##field, COUNT(values));                           \
		for (size_t row = 0; row < COUNT(values); row++)                           \
			assert_int_equal((unsigned int)(m)->field[row], values[row].file); \
	} while (0)

/* Records whose column contains only their header's flags. */
#define FLAGS_TEST(name, struct_name, rec, message, Message, values)                          \
	static void name(void **state)                                                        \
	{                                                                                     \
		struct item *item = batch(ITEM_RECORDS, rec);                                 \
		Profbpf__##Message *m;                                                        \
		struct encoded e;                                                             \
                                                                                              \
		for (size_t i = 0; i < COUNT(values); i++) {                                  \
			struct struct_name r = { .header = { .type = rec, .ts_ns = 1 + i } }; \
                                                                                              \
			r.header.flags = values[i].record;                                    \
			add(item, &r, sizeof(r));                                             \
		}                                                                             \
		encode(*state, item, &e);                                                     \
		m = profbpf__##message##__unpack(NULL, e.size, e.data);                       \
		assert_non_null(m);                                                           \
		SAME(m, flags, values);                                                       \
		profbpf__##message##__free_unpacked(m, NULL);                                 \
	}

FLAGS_TEST(calls, rec_call, REC_CALL, calls, Calls, call_flags)
FLAGS_TEST(ioctls, rec_ioctl, REC_IOCTL, ioctls, Ioctls, ioctl_flags)
FLAGS_TEST(switches, rec_switch, REC_SWITCH, switches, Switches, switch_flags)
FLAGS_TEST(wakes, rec_wake, REC_WAKE, wakes, Wakes, wake_flags)
FLAGS_TEST(interrupts, rec_interrupt, REC_INTERRUPT, interrupts, Interrupts, wake_flags)
FLAGS_TEST(accounts, rec_account, REC_ACCOUNT, accounts, Accounts, account_flags)
FLAGS_TEST(processes, rec_process, REC_PROCESS, processes, Processes, process_flags)
FLAGS_TEST(blocks, rec_block, REC_BLOCK, block_requests, BlockRequests, block_flags)

static void states_and_objects(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = batch(ITEM_RECORDS, REC_SWITCH);
	Profbpf__SleepObjects *objects;
	Profbpf__Switches *m;
	struct encoded e;

	for (size_t i = 0; i < COUNT(switch_state); i++) {
		struct rec_switch r = { .header = { .type = REC_SWITCH }, .fd = -1 };

		r.state = switch_state[i].record;
		add(item, &r, sizeof(r));
	}
	/* The first kind is no object. */
	for (size_t i = 1; i < COUNT(sleep_kind); i++) {
		struct rec_switch r = { .header = { .type = REC_SWITCH }, .object = 1, .fd = 0 };

		r.header.flags = sleep_kind[i].record << SWITCH_KIND_SHIFT;
		add(item, &r, sizeof(r));
	}
	encode(f, item, &e);
	m = profbpf__switches__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	for (size_t i = 0; i < COUNT(switch_state); i++)
		assert_int_equal((unsigned int)m->state[i], switch_state[i].file);
	profbpf__switches__free_unpacked(m, NULL);
	assert_true(encode_objects(f->encode, &e));
	objects = profbpf__sleep_objects__unpack(NULL, e.size, e.data);
	assert_non_null(objects);
	assert_int_equal(objects->n_kind, COUNT(sleep_kind) - 1);
	for (size_t i = 1; i < COUNT(sleep_kind); i++)
		assert_int_equal((unsigned int)objects->kind[i - 1], sleep_kind[i].file);
	profbpf__sleep_objects__free_unpacked(objects, NULL);
}

static void tasks(void **state)
{
	struct item *item = batch(ITEM_TASKS, 0);
	struct value flags[COUNT(task_event)] = { { 0 } };
	Profbpf__Tasks *m;
	struct encoded e;

	for (size_t i = 0; i < COUNT(task_event); i++) {
		struct task_row row = { .record = { .event = task_event[i].record } };

		flags[i] = task_flags[i % COUNT(task_flags)];
		row.record.header.flags = flags[i].record;
		add(item, &row, sizeof(row));
	}
	encode(*state, item, &e);
	m = profbpf__tasks__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	SAME(m, event, task_event);
	SAME(m, flags, flags);
	profbpf__tasks__free_unpacked(m, NULL);
}

static void operations(void **state)
{
	struct item *item = batch(ITEM_RECORDS, REC_BLOCK);
	Profbpf__BlockRequests *m;
	struct encoded e;

	for (size_t i = 0; i < COUNT(block_operation); i++) {
		struct rec_block r = { .operation = block_operation[i].record, .rdev = RDEV_BLOCK };

		add(item, &r, sizeof(r));
	}
	encode(*state, item, &e);
	m = profbpf__block_requests__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	SAME(m, operation, block_operation);
	assert_int_equal(m->rdev[0], 0x80000000u);
	profbpf__block_requests__free_unpacked(m, NULL);
}

static void device_tasks(void **state)
{
	struct item *item = batch(ITEM_DEVICE, 0);
	Profbpf__DeviceTasks *m;
	struct encoded e;

	for (size_t i = 0; i < COUNT(device_kind); i++) {
		struct device_row row = { .task = { .kind = device_kind[i].record } };

		add(item, &row, sizeof(row));
	}
	encode(*state, item, &e);
	m = profbpf__device_tasks__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	SAME(m, kind, device_kind);
	profbpf__device_tasks__free_unpacked(m, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(no_values),	    ENCODE_TEST(calls),
		ENCODE_TEST(ioctls),	   ENCODE_TEST(switches),	    ENCODE_TEST(wakes),
		ENCODE_TEST(interrupts),   ENCODE_TEST(accounts),	    ENCODE_TEST(processes),
		ENCODE_TEST(blocks),	   ENCODE_TEST(states_and_objects), ENCODE_TEST(tasks),
		ENCODE_TEST(operations),   ENCODE_TEST(device_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
