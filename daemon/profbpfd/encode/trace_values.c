/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/trace_values.h"

#include "bpf/events.h"
#include "device/stream.h"
#include "proto/trace.pb-c.h"

/* A value of an enum without a case here is an error. */
#pragma GCC diagnostic error "-Wswitch"

#define TRACE_DEPTH_SHIFT 8 /* in Calls.flags */
#define TRACE_DEPTH_MASK 0xffu
#define TRACE_BLOCK_DEVICE (1u << 31)

typedef uint32_t translate_fn(uint32_t value);

static uint32_t each_flag(uint32_t flags, translate_fn *translate)
{
	uint32_t all = 0;

	for (; flags; flags &= flags - 1)
		all |= translate(flags & -flags);
	return all;
}

static uint32_t call_flag(uint32_t value)
{
	switch ((enum call_flag)value) {
	case CALL_OPEN: return PROFBPF__CALLS__FLAG__OPEN;
	case CALL_HAS_STRING: return PROFBPF__CALLS__FLAG__HAS_TEXT;
	case CALL_RET_ZERO: return PROFBPF__CALLS__FLAG__RETURNED_ZERO;
	case CALL_LEFT: return PROFBPF__CALLS__FLAG__LEFT;
	case CALL_ENTRY: return PROFBPF__CALLS__FLAG__ENTRY_ONLY;
	case CALL_RET_UNKNOWN: return PROFBPF__CALLS__FLAG__RETURNED_UNKNOWN;
	case CALL_BEFORE: break;
	case CALL_UNSEEN: break;
	}
	return 0;
}

uint32_t trace_call_flags(uint32_t flags)
{
	uint32_t depth = flags >> CALL_DEPTH_SHIFT & TRACE_DEPTH_MASK;

	return each_flag(flags & CALL_FLAGS, call_flag) | depth << TRACE_DEPTH_SHIFT;
}

static uint32_t ioctl_flag(uint32_t value)
{
	switch ((enum call_flag)value) {
	case CALL_OPEN: return PROFBPF__IOCTLS__FLAG__OPEN;
	case CALL_BEFORE: return PROFBPF__IOCTLS__FLAG__BEFORE;
	case CALL_UNSEEN: return PROFBPF__IOCTLS__FLAG__ENDED_UNSEEN;
	case CALL_HAS_STRING: break;
	case CALL_RET_ZERO: break;
	case CALL_LEFT: break;
	case CALL_ENTRY: break;
	case CALL_RET_UNKNOWN: break;
	}
	return 0;
}

uint32_t trace_ioctl_flags(uint32_t flags)
{
	return each_flag(flags, ioctl_flag);
}

uint32_t trace_device_number(uint32_t rdev)
{
	return (rdev & ~RDEV_BLOCK) | (rdev & RDEV_BLOCK ? TRACE_BLOCK_DEVICE : 0);
}

uint32_t trace_switch_state(uint32_t value)
{
	switch ((enum switch_state)value) {
	case SWITCH_PREEMPTED: return PROFBPF__SWITCHES__STATE__PREEMPTED;
	case SWITCH_SLEEP: return PROFBPF__SWITCHES__STATE__SLEEP;
	case SWITCH_DISK: return PROFBPF__SWITCHES__STATE__DISK_SLEEP;
	case SWITCH_STOPPED: return PROFBPF__SWITCHES__STATE__STOPPED;
	case SWITCH_DEAD: return PROFBPF__SWITCHES__STATE__DEAD;
	}
	return TRACE_NO_VALUE;
}

static uint32_t switch_flag(uint32_t value)
{
	switch ((enum switch_flag)value) {
	case SWITCH_PREV_TARGET: return PROFBPF__SWITCHES__FLAG__PREV_TARGET;
	case SWITCH_NEXT_TARGET: return PROFBPF__SWITCHES__FLAG__NEXT_TARGET;
	case SWITCH_IOWAIT: return PROFBPF__SWITCHES__FLAG__IO_WAIT;
	case SWITCH_FAULT: return PROFBPF__SWITCHES__FLAG__PAGE_FAULT;
	case SWITCH_TIMEOUT: return PROFBPF__SWITCHES__FLAG__TIMEOUT;
	case SWITCH_THROTTLED: return PROFBPF__SWITCHES__FLAG__THROTTLED;
	}
	return 0;
}

uint32_t trace_switch_flags(uint32_t flags)
{
	return each_flag(flags & SWITCH_FLAGS, switch_flag);
}

uint32_t trace_sleep_kind(uint32_t value)
{
	switch ((enum sleep_kind)value) {
	case SLEEP_NOTHING: return PROFBPF__SLEEP_OBJECTS__KIND__NOTHING;
	case SLEEP_FILE: return PROFBPF__SLEEP_OBJECTS__KIND__FILE;
	case SLEEP_DIRECTORY: return PROFBPF__SLEEP_OBJECTS__KIND__DIRECTORY;
	case SLEEP_PIPE: return PROFBPF__SLEEP_OBJECTS__KIND__PIPE;
	case SLEEP_UNIX: return PROFBPF__SLEEP_OBJECTS__KIND__UNIX_SOCKET;
	case SLEEP_INET: return PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET;
	case SLEEP_SOCKET: return PROFBPF__SLEEP_OBJECTS__KIND__SOCKET;
	case SLEEP_CHARACTER: return PROFBPF__SLEEP_OBJECTS__KIND__CHARACTER_DEVICE;
	case SLEEP_BLOCK: return PROFBPF__SLEEP_OBJECTS__KIND__BLOCK_DEVICE;
	case SLEEP_EVENTFD: return PROFBPF__SLEEP_OBJECTS__KIND__EVENTFD;
	case SLEEP_EPOLL: return PROFBPF__SLEEP_OBJECTS__KIND__EPOLL;
	case SLEEP_TIMERFD: return PROFBPF__SLEEP_OBJECTS__KIND__TIMERFD;
	case SLEEP_SIGNALFD: return PROFBPF__SLEEP_OBJECTS__KIND__SIGNALFD;
	case SLEEP_INOTIFY: return PROFBPF__SLEEP_OBJECTS__KIND__INOTIFY;
	case SLEEP_PIDFD: return PROFBPF__SLEEP_OBJECTS__KIND__PIDFD;
	case SLEEP_ANONYMOUS: return PROFBPF__SLEEP_OBJECTS__KIND__ANONYMOUS;
	case SLEEP_SEVERAL: return PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL;
	case SLEEP_FUTEX: return PROFBPF__SLEEP_OBJECTS__KIND__FUTEX;
	case SLEEP_CHILD: return PROFBPF__SLEEP_OBJECTS__KIND__CHILD;
	case SLEEP_KINDS: break;
	}
	return PROFBPF__SLEEP_OBJECTS__KIND__NOTHING;
}

static uint32_t wake_flag(uint32_t value)
{
	switch ((enum wake_flag)value) {
	case WAKE_NEW: return PROFBPF__WAKES__FLAG__NEW_THREAD;
	case WAKE_HARDIRQ: return PROFBPF__WAKES__FLAG__HARDIRQ;
	case WAKE_SOFTIRQ: return PROFBPF__WAKES__FLAG__SOFTIRQ;
	case WAKE_TIMER: return PROFBPF__WAKES__FLAG__TIMER;
	case WAKE_SENT: break;
	}
	return 0;
}

uint32_t trace_wake_flags(uint32_t flags)
{
	return each_flag(flags, wake_flag);
}

uint32_t trace_block_operation(uint32_t value)
{
	switch ((enum block_operation)value) {
	case BLOCK_READ: return PROFBPF__BLOCK_REQUESTS__OPERATION__READ;
	case BLOCK_WRITE: return PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE;
	case BLOCK_CACHE_FLUSH: return PROFBPF__BLOCK_REQUESTS__OPERATION__FLUSH;
	case BLOCK_DISCARD: return PROFBPF__BLOCK_REQUESTS__OPERATION__DISCARD;
	case BLOCK_OTHER: return PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER;
	case BLOCK_OPERATIONS: break;
	}
	return PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER;
}

static uint32_t block_flag(uint32_t value)
{
	switch ((enum block_flag)value) {
	case BLOCK_ISSUED: return PROFBPF__BLOCK_REQUESTS__FLAG__ISSUED;
	case BLOCK_SYNC: return PROFBPF__BLOCK_REQUESTS__FLAG__SYNC;
	case BLOCK_META: return PROFBPF__BLOCK_REQUESTS__FLAG__META;
	case BLOCK_FUA: return PROFBPF__BLOCK_REQUESTS__FLAG__FUA;
	case BLOCK_FLUSH: return PROFBPF__BLOCK_REQUESTS__FLAG__EMPTIES_CACHE;
	case BLOCK_AHEAD: return PROFBPF__BLOCK_REQUESTS__FLAG__AHEAD;
	case BLOCK_FAILED: return PROFBPF__BLOCK_REQUESTS__FLAG__FAILED;
	}
	return 0;
}

uint32_t trace_block_flags(uint32_t flags)
{
	return each_flag(flags, block_flag);
}

uint32_t trace_task_event(uint32_t value)
{
	switch ((enum task_event)value) {
	case TASK_SEEN: return PROFBPF__TASKS__EVENT__SEEN;
	case TASK_FORK: return PROFBPF__TASKS__EVENT__FORK;
	case TASK_EXEC: return PROFBPF__TASKS__EVENT__EXEC;
	case TASK_RENAME: return PROFBPF__TASKS__EVENT__RENAME;
	case TASK_EXIT: return PROFBPF__TASKS__EVENT__EXIT;
	case TASK_DROPPED: return PROFBPF__TASKS__EVENT__DROPPED;
	}
	return TRACE_NO_VALUE;
}

static uint32_t task_flag(uint32_t value)
{
	switch ((enum task_flag)value) {
	case TASK_TARGET: return PROFBPF__TASKS__FLAG__TARGET;
	case TASK_KTHREAD: return PROFBPF__TASKS__FLAG__KERNEL;
	case TASK_LAST: return PROFBPF__TASKS__FLAG__LAST;
	}
	return 0;
}

uint32_t trace_task_flags(uint32_t flags)
{
	return each_flag(flags, task_flag);
}

static uint32_t account_flag(uint32_t value)
{
	switch ((enum account_flag)value) {
	case ACCOUNT_FINAL: return PROFBPF__ACCOUNTS__FLAG__FINAL;
	case ACCOUNT_RUNNING: return PROFBPF__ACCOUNTS__FLAG__RUNNING;
	case ACCOUNT_QUEUED: return PROFBPF__ACCOUNTS__FLAG__QUEUED;
	case ACCOUNT_TARGET: return PROFBPF__ACCOUNTS__FLAG__TARGET;
	case ACCOUNT_FIRST: return PROFBPF__ACCOUNTS__FLAG__FIRST;
	case ACCOUNT_IOWAIT: return PROFBPF__ACCOUNTS__FLAG__IO_WAIT;
	case ACCOUNT_DISK: return PROFBPF__ACCOUNTS__FLAG__UNINTERRUPTIBLE;
	case ACCOUNT_FAULT: return PROFBPF__ACCOUNTS__FLAG__PAGE_FAULT;
	case ACCOUNT_HAS_IO: return PROFBPF__ACCOUNTS__FLAG__HAS_IO;
	case ACCOUNT_HAS_BYTES: return PROFBPF__ACCOUNTS__FLAG__HAS_BYTES;
	}
	return 0;
}

uint32_t trace_account_flags(uint32_t flags)
{
	return each_flag(flags, account_flag);
}

static uint32_t process_flag(uint32_t value)
{
	switch ((enum process_flag)value) {
	case PROCESS_FINAL: return PROFBPF__PROCESSES__FLAG__FINAL;
	case PROCESS_HAS_RSS: return PROFBPF__PROCESSES__FLAG__HAS_RSS;
	case PROCESS_TARGET: return PROFBPF__PROCESSES__FLAG__TARGET;
	case PROCESS_FIRST: return PROFBPF__PROCESSES__FLAG__FIRST;
	}
	return 0;
}

uint32_t trace_process_flags(uint32_t flags)
{
	return each_flag(flags, process_flag);
}

static uint32_t stack_flag(uint32_t value)
{
	switch ((enum stack_flag)value) {
	case STACK_BLOCK: return PROFBPF__STACK_SAMPLES__FLAG__ASLEEP;
	case STACK_LOCK: return PROFBPF__STACK_SAMPLES__FLAG__WAITED_FOR_LOCK;
	case STACK_SHORT: return PROFBPF__STACK_SAMPLES__FLAG__SHORT;
	case STACK_WHOLE: return PROFBPF__STACK_SAMPLES__FLAG__WHOLE;
	case STACK_HAD_LOCK: return PROFBPF__STACK_SAMPLES__FLAG__HAD_LOCK;
	case STACK_NO_LOCK: return PROFBPF__STACK_SAMPLES__FLAG__HAD_NO_LOCK;
	case STACK_STILL: return PROFBPF__STACK_SAMPLES__FLAG__STILL;
	}
	return 0;
}

uint32_t trace_stack_flags(uint32_t flags)
{
	return each_flag(flags, stack_flag);
}

uint32_t trace_device_kind(uint32_t value)
{
	switch ((enum stream_kind)value) {
	case STREAM_OTHER: return PROFBPF__DEVICE_TASKS__KIND__OTHER;
	case STREAM_KERNEL: return PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	case STREAM_COPY: return PROFBPF__DEVICE_TASKS__KIND__COPY;
	case STREAM_FILL: return PROFBPF__DEVICE_TASKS__KIND__FILL;
	case STREAM_MAP: return PROFBPF__DEVICE_TASKS__KIND__MAP;
	case STREAM_SYNC: return PROFBPF__DEVICE_TASKS__KIND__SYNC;
	case STREAM_COMMUNICATION: return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	}
	return PROFBPF__DEVICE_TASKS__KIND__OTHER;
}

uint32_t trace_device_clock(uint32_t value)
{
	switch ((enum stream_clock)value) {
	case STREAM_CLOCK_UNDECLARED: return PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	case STREAM_CLOCK_MONOTONIC: return PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC;
	case STREAM_CLOCK_MONOTONIC_RAW: return PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW;
	case STREAM_CLOCK_BOOTTIME: return PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME;
	case STREAM_CLOCK_REALTIME: return PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME;
	}
	return PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
}
