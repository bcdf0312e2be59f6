/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_rows.h - the state of a live session's figures between two frames
 *
 * Private to top_state.c, which adds packets to it, and top_frame.c, which makes frames from
 * it and drops ended rows.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_ROWS_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_busy.h"
#include "daemon/profctl/top/top_figures.h"

#define DEVICES_MAX 64
#define LOSSES_MAX 16

/* Trees of search.h: rows begin with their key. */
struct thread {
	uint64_t key; /* tid */
	uint32_t pid;
	bool gone;
	bool known; /* the figures below are its own */
	uint64_t start_ns; /* 0 = unknown */
	uint64_t run_ns, runnable_ns, faults;
	uint64_t read_chars, write_chars, read_bytes, write_bytes;
};

struct process {
	uint64_t key; /* pid */
	uint32_t alive; /* its threads in the tree of threads that have figures */
	bool gone;
	bool active;
	struct top_process now;
};

struct counter {
	uint64_t key; /* function, pid */
	uint64_t count, total_ns; /* since the session began */
	uint64_t kept, kept_ns; /* the same for calls with a record */
	uint64_t shown_count, shown_ns; /* at the last frame */
};

struct function {
	char runtime[32];
	char name[TOP_NAME];
};

struct device {
	uint32_t id, pid;
	char name[TOP_NAME];
	struct live_busy busy; /* of this frame */
};

struct top_state {
	uint64_t session_start_ns;
	char **strings; /* of the segment */
	size_t string_count;
	void *threads, *processes, *counters;
	struct function *functions;
	size_t function_count;
	struct device devices[DEVICES_MAX];
	uint64_t left_out; /* tasks and names of devices for which there was no room */
	size_t device_count;
	struct top_loss losses[LOSSES_MAX];
	size_t loss_count;
	struct top_cpu *before, *now; /* /proc/stat */
	size_t cpu_count;
	uint64_t before_ns, now_ns;
	uint64_t switches_before, switches, forks_before, forks;
	uint32_t runnable, blocked;
	uint64_t cpu_before, cpu; /* the daemon's */
	uint32_t process_total;
	struct top_frame *frame; /* being filled by a walk */
	struct live_feeds *feeds;
};

/* Compares the key at the start of every row, for search.h. */
int top_rows_by_key(const void *a, const void *b);

/*
 * top_rows_get - the row with this key
 *
 * Made of `size` zeros and the key if there is none, `*new` (may be NULL) says so. The
 * tree owns it. NULL without memory.
 */
void *top_rows_get(void **tree, uint64_t key, size_t size, bool *new);

/* top_rows_find - the same, but NULL if there is none */
void *top_rows_find(void *const *tree, uint64_t key);

/* top_rows_leave - a thread with figures has ended, and with the last one its process */
void top_rows_leave(struct top_state *state, const struct thread *thread);

/* The growth of a counter since `*last`, which becomes `now`; 0 if it decreased. */
uint64_t top_rows_grown(uint64_t *last, uint64_t now);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_ROWS_H */
