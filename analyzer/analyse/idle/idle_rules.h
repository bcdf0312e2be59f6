/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_rules.h - which cause each nanosecond of a gap has.
 *
 * The rules themselves are told in idle.h; the last of them, for a thread that
 * sleeps and does not wait for the device, in full. W is the thread that woke it,
 * if it was a thread.
 *
 *   in a page fault                                   page_fault
 *   stopped by a signal or a debugger                 unknown
 *   in an ioctl                                       driver
 *   in an I/O wait                                    io
 *   futex, semaphores, file locks    by W             lock, who = W
 *                                    by a timer       sleep
 *                                    else             lock
 *   nanosleep, pause, ...                             sleep
 *   poll, select, epoll_wait         by W of the job  pipeline, who = W
 *                                    by another W     no_work, who = W
 *                                    by a timer       sleep
 *                                    by a softirq     network
 *                                    else             unknown
 *   read, message queues             uninterruptible  io
 *                                    by W of the job  pipeline, who = W
 *                                    by another W     no_work, who = W
 *                                    by a timer       sleep
 *                                    by a softirq     network
 *                                    by a hardirq     io
 *                                    else             unknown
 *   write                            as read, but a W outside the job is pipeline
 *   recv, send, accept, connect      by W of the job  pipeline, who = W
 *                                    else             network
 *   open, fsync, io_uring_enter, ...                  io
 *   wait4, waitid                                     pipeline, who = W
 *   others, uninterruptible          by W             lock, who = W (a lock of the kernel)
 *                                    else             io
 *   others                                            unknown
 *
 * Of a device file that was read without a trace only calls are known: inside one that waits for
 * the device it is device_wait, inside another one runtime (running or not), else what the file's own timeline
 * of the host has the thread in (scope_line.h), or, if it has it in nothing, the process's main thread: in a data
 * loader pipeline, in another scope user_code (running or not), who = the scope; else unknown.
 *
 * "Of the job" are traced processes and the thread's own.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/host/scope_line.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/model/model.h"

enum idle_who {
	WHO_NONE = 0,
	WHO_THREAD, /* index into threads */
	WHO_RUNNER, /* the same; named by its process, since any thread would do */
	WHO_FUNCTION, /* index into functions */
	WHO_DRIVER, /* index into drivers, with cmd */
	WHO_DEVICE, /* index into devices */
	WHO_IDLE_CPU,
};

/* Why a part has its cause, as far as cause and who don't say it all. */
enum idle_why {
	WHY_NONE = 0,
	WHY_SUBMITTED, /* the runtime had handed the task to the device */
	WHY_WORKER_CPU, /* subject was to run the task and waited for a CPU */
	WHY_ENQUEUED, /* the runtime had the task but not yet handed it to the device */
	WHY_COMPLETION, /* the notice of completion was under way, by way of subject */
	WHY_COMPLETION_CPU, /* subject was to bring that notice and waited for a CPU */
	WHY_WOKEN, /* asleep until subject woke it */
	WHY_TIMEOUT, /* asleep until a time */
	WHY_INTERRUPT, /* asleep until an interrupt */
	WHY_ASLEEP, /* asleep, nobody knows what ended it */
	WHY_STOPPED,
	WHY_CPU_UNKNOWN, /* runnable, and nothing else is known to have run on that CPU */
	WHY_CPU_IDLE, /* runnable, and nothing ran on that CPU: it was being woken up */
	WHY_THROTTLED, /* ready, but its cgroup had used up its CPU quota */
	WHY_NO_THREAD, /* which thread submitted the task isn't known */
	WHY_NO_STATE, /* no scheduling records for this time */
	WHY_SCOPE, /* thread was in who, by the device file's own timeline */
	WHY_MAIN_SCOPE, /* thread, of the process of subject, was; subject was in nothing that is told */
};

struct idle_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t cause; /* enum idle_cause */
	uint8_t why; /* enum idle_why */
	uint8_t who_kind; /* enum idle_who */
	uint32_t who;
	uint32_t cmd; /* WHO_DRIVER: ioctl command */
	uint32_t thread; /* the thread looked at, or INDEX_NONE */
	uint32_t subject; /* see enum idle_why; INDEX_NONE if there is none */
	uint32_t call; /* runtime call that the thread was in, or INDEX_NONE */
	uint32_t span; /* index into spans: the thread's state, or INDEX_NONE */
};

/* Pieces of one gap, reused from gap to gap. Zeroed is empty; free row when done. */
struct idle_pieces {
	struct idle_piece *row;
	uint32_t count;
	uint32_t capacity;
};

/* What the rules look things up with. */
struct idle_tools {
	struct walker *walker;
	struct device_workers *workers;
	struct syscall_table *syscalls;
	struct scope_line *scopes; /* NULL = none */
};

/*
 * idle_rules_apply - split a gap
 *
 * Replaces what is in @pieces. They follow each other without holes from the gap's start to
 * its end. Returns 0 or -ENOMEM.
 */
int idle_rules_apply(const struct model *model, const struct idle_tools *tools,
		     const struct device_gap *gap, struct idle_pieces *pieces);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_RULES_H */
