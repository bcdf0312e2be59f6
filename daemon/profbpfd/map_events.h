/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_events.h - code that processes map, of files or their own, told by the kernel's own
 * perf events.
 *
 * No system call is hooked for it: a tracepoint on mmap would send every system
 * call of every process, and the two that each traced call makes on x86-64,
 * through the kernel's slow path (measured: 25 ns each).
 */
#ifndef PROFBPF_DAEMON_MAP_EVENTS_H
#define PROFBPF_DAEMON_MAP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct map_events;

struct map_events_handler {
	/* Process @pid, of any user, mapped code at @ts_ns (CLOCK_MONOTONIC): a file's, or made at run time. */
	void (*mapped)(void *context, pid_t pid, uint64_t ts_ns, bool of_file);
	/* There were more than could be kept: some were not told. */
	void (*missed)(void *context);
	void *context;
};

/*
 * map_events_new - begin to listen, on all CPUs
 *
 * Returns NULL and sets errno if the kernel does not allow it. @handler is
 * copied; it is called by map_events_read() only.
 */
struct map_events *map_events_new(const struct map_events_handler *handler);

/* map_events_fd - becomes readable, for epoll, when there is something to read */
int map_events_fd(const struct map_events *events);

/* map_events_read - report what came since the last time; never blocks */
void map_events_read(struct map_events *events);

/* map_events_free - NULL is fine */
void map_events_free(struct map_events *events);

#endif /* PROFBPF_DAEMON_MAP_EVENTS_H */
