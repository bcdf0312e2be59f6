/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_piece.h - a stretch of a gap with one cause, as found by the rules (idle_rules.h), and the rules' look-up tools.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_PIECE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_PIECE_H

#include <stdint.h>

#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/analyse/host/scope_line.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/analyse/idle/file_busy.h"
#include "analyzer/analyse/idle/idle_causes.h"

enum idle_who {
	WHO_NONE = 0,
	WHO_THREAD, /* index into threads */
	WHO_RUNNER, /* the same; named by its process, because any of its threads is as much to blame */
	WHO_FUNCTION, /* index into functions */
	WHO_DRIVER, /* index into drivers, with cmd */
	WHO_DEVICE, /* index into devices */
	WHO_IDLE_CPU,
};

/* The reason for a part's cause, where cause and who do not say everything. */
enum idle_why {
	WHY_NONE = 0,
	WHY_SUBMITTED, /* the runtime had handed the task to the device */
	WHY_UNSEEN_WORK, /* the same, so long that it was probably for what the file does not have */
	WHY_WORKER_CPU, /* subject was to run the task and waited for a CPU */
	WHY_ENQUEUED, /* the runtime had the task but not yet handed it to the device */
	WHY_COMPLETION, /* the notice of completion was under way, through thread subject */
	WHY_COMPLETION_CPU, /* subject was to deliver that notice and waited for a CPU */
	WHY_WOKEN, /* asleep until subject woke it */
	WHY_TIMEOUT, /* asleep until a timer expired */
	WHY_INTERRUPT, /* asleep until an interrupt */
	WHY_ASLEEP, /* asleep; the waker is not known, or does not matter */
	WHY_STOPPED,
	WHY_CPU_UNKNOWN, /* runnable; what ran on that CPU is not known */
	WHY_CPU_IDLE, /* runnable, and nothing ran on that CPU: it was being woken up */
	WHY_THROTTLED, /* ready, but its cgroup had used up its CPU quota */
	WHY_NO_THREAD, /* the thread that submitted the task is not known */
	WHY_NO_STATE, /* no scheduling records for this time */
	WHY_SCOPE, /* thread was in scope who, by the device file's own timeline */
	WHY_SCOPE_WAITS, /* the same, and the scope waits: what for, nobody tells */
	WHY_MAIN_SCOPE, /* the same as WHY_SCOPE of the process's main thread; subject, which submitted, was in no recorded scope */
};

struct idle_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t cause; /* enum idle_cause */
	uint8_t why; /* enum idle_why */
	uint8_t who_kind; /* enum idle_who */
	uint32_t who;
	uint32_t cmd; /* WHO_DRIVER: ioctl command */
	uint32_t thread; /* the examined thread, or INDEX_NONE */
	uint32_t subject; /* see enum idle_why; INDEX_NONE if there is none */
	uint32_t call; /* runtime call that the thread was in, or INDEX_NONE */
	uint32_t span; /* index into spans: the thread's state, or INDEX_NONE */
};

/* The pieces of one gap; reused for each gap. Zeroed is empty; the owner frees row. */
struct idle_pieces {
	struct idle_piece *row;
	uint32_t count;
	uint32_t capacity;
};

/* The look-up tools of the rules. */
struct idle_tools {
	struct walker *walker;
	struct device_workers *workers;
	struct syscall_table *syscalls;
	struct scope_line *scopes; /* NULL = none */
	struct file_busy *busy; /* for the rules of gaps only; else NULL */
	struct waits *waits; /* shared by several sums of roots; NULL = each sum finds its own */
};

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_PIECE_H */
