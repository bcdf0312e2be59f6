/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_tid.h - translates thread ids in a process' own pid namespace (a
 * container) to the daemon's namespace.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_TID_H
#define PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_TID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The ids of one thread, from /proc/PID/task/TID/status. */
struct device_tid {
	uint32_t outer; /* in the pid namespace of the daemon's /proc */
	uint32_t inner; /* in the thread's own */
	bool foreign; /* the two namespaces differ */
};

/* device_tid_read - ids of thread @tid of @pid; 0 or a negative errno (-ESRCH: gone) */
int device_tid_read(pid_t pid, pid_t tid, struct device_tid *out);

struct device_tids;

/*
 * device_tids_new - a translator for process @pid with its present threads
 *
 * Threads stay known after they have ended. NULL without memory.
 */
struct device_tids *device_tids_new(pid_t pid);
void device_tids_free(struct device_tids *tids);

/*
 * device_tids_find - the daemon's id of the process' thread @inner, 0 if there is none
 *
 * Searches for new threads if @inner is unknown, at most every 20 ms and a tenth
 * of the time (@now_ns is CLOCK_MONOTONIC).
 */
uint32_t device_tids_find(struct device_tids *tids, uint32_t inner, uint64_t now_ns);

#endif /* PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_TID_H */
