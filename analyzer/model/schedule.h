/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - rows of the model (model.h): switches, wake-ups, sleep objects, and the threads' timelines made of them. */
#ifndef PROFBPF_ANALYZER_MODEL_SCHEDULE_H
#define PROFBPF_ANALYZER_MODEL_SCHEDULE_H

#include <stdint.h>

#include "proto/trace.pb-c.h"

#define SYSCALL_NONE (-1) /* of switches and spans: not in a system call */
#define SLEEP_OBJECT_KINDS (PROFBPF__SLEEP_OBJECTS__KIND__CHILD + 1)
#define BLOCK_REQUEST_OPERATIONS (PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER + 1)

/* The object that a thread waits for. */
struct sleep_object {
	uint64_t object; /* inode, futex address, process or number of descriptors, by kind */
	uint32_t device; /* as the kernel keeps it: major << 20 | minor */
	uint32_t name; /* string: path, of an internet socket its peer's address; 0 = none or not known */
	uint32_t peer; /* internet sockets: pid of the process on this host at the other end; 0 = unknown */
	uint8_t kind; /* SleepObjects.Kind of proto/trace.proto */
};

/* One thread left a CPU, another got it. */
struct cpu_switch {
	uint64_t ts_ns;
	uint32_t prev_tid;
	uint32_t next_tid;
	uint32_t prev_thread; /* index into threads or INDEX_NONE (idle) */
	uint32_t next_thread;
	uint32_t object; /* the object that prev waits for: index into sleep_objects or INDEX_NONE */
	uint16_t cpu;
	int16_t syscall; /* SYSCALL_NONE = none */
	uint8_t state; /* Switches.State of proto/trace.proto */
	uint8_t flags; /* Switches.Flag */
	uint32_t refill_ns; /* throttled: how long there was no quota, at least; 0 = not known */
};

/* A wake-up of a thread. */
struct wake {
	uint64_t ts_ns;
	uint32_t waker_tid;
	uint32_t waker_thread; /* INDEX_NONE = idle or unknown */
	uint32_t thread;
	uint16_t cpu;
	uint16_t target_cpu;
	uint8_t flags; /* Wakes.Flag of proto/trace.proto */
	uint32_t interrupt; /* string: the interrupt's name, with HARDIRQ or SOFTIRQ; 0 = unknown */
	uint32_t object; /* which of the files of an epoll was ready: index into sleep_objects or INDEX_NONE */
};

#define WOKEN_BY_INTERRUPT                                               \
	(PROFBPF__WAKES__FLAG__HARDIRQ | PROFBPF__WAKES__FLAG__SOFTIRQ | \
	 PROFBPF__WAKES__FLAG__TIMER)

/* A major page fault: the page was read from a device. */
struct major_fault {
	uint64_t end_ns; /* when the page was present */
	uint64_t dur_ns; /* since the thread first slept for it; 0 = it did not, or unknown */
	uint64_t address;
	uint64_t offset; /* of the page in the file */
	uint32_t thread;
	uint32_t file; /* string: path, 0 = none or unknown */
};

/* A request to a block device. */
struct block_request {
	uint64_t end_ns; /* when it was complete */
	uint64_t dur_ns; /* since it was made */
	uint64_t wait_ns; /* the time before it was issued to the device, with flag ISSUED */
	uint64_t sector; /* of 512 bytes */
	uint32_t bytes;
	uint32_t thread; /* that made it */
	uint32_t driver; /* index into drivers: the disk */
	uint8_t operation; /* BlockRequests.Operation of proto/trace.proto */
	uint8_t flags; /* BlockRequests.Flag */
};

/* A sleep that ended because a block request of its thread was complete. */
struct io_wait {
	uint32_t span;
	uint32_t request; /* the last request that was complete before the thread was woken */
};

/* An interrupt that took the CPU from a thread. */
struct interrupt {
	uint64_t ts_ns;
	uint64_t dur_ns;
	uint32_t thread;
	uint32_t name; /* string: which; 0 = not known, or a timer */
	uint16_t cpu;
	uint8_t flags; /* Wakes.Flag of proto/trace.proto: HARDIRQ, SOFTIRQ, TIMER */
};

/* The state of a thread, from the scheduler's events. */
enum thread_state {
	STATE_UNKNOWN = 0, /* not seen, or records were lost */
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_SLEEP, /* interruptible */
	STATE_DISK, /* uninterruptible */
	STATE_STOPPED,
};

/* A thread's state between two instants; the spans of a thread are consecutive, without holes. */
struct span {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t other; /* running: INDEX_NONE; runnable: thread that ran on that CPU instead
				 * (or the last one before it got the CPU); asleep: its waker; with
				 * SPAN_WOKEN_HARDIRQ or SOFTIRQ a string, that interrupt's name */
	uint32_t object; /* asleep: the object that it waited for: index into sleep_objects or INDEX_NONE */
	int16_t syscall; /* asleep: the system call it slept in, or SYSCALL_NONE */
	uint16_t cpu; /* running, runnable */
	uint8_t state; /* enum thread_state */
	uint8_t flags; /* asleep: SPAN_IOWAIT, SPAN_FAULT; how woken: SPAN_WOKEN_* */
};

#define SPAN_MAJOR_FAULT 0x01 /* asleep: in a page fault for which the page had to be fetched */
#define SPAN_CPU_IDLE 0x01 /* runnable: the CPU was idle (wake-up latency) */
#define SPAN_TIMEOUT 0x02 /* asleep: it gave a time at which to give up */
#define SPAN_THROTTLED 0x02 /* runnable: but its cgroup had used up its quota; once that is filled up others have the CPU */
#define SPAN_IOWAIT 0x04 /* asleep: waits for storage */
#define SPAN_FAULT 0x08 /* asleep: in a page fault or another exception */
#define SPAN_WOKEN_HARDIRQ 0x10
#define SPAN_WOKEN_SOFTIRQ 0x20
#define SPAN_WOKEN_TIMER 0x40 /* a sleep or a timeout ended */
#define SPAN_NO_WAKE 0x80 /* the wake-up was not recorded */

/* spans[first .. first + count) of one thread, in time order. */
struct timeline {
	uint32_t first;
	uint32_t count;
};

#endif /* PROFBPF_ANALYZER_MODEL_SCHEDULE_H */
