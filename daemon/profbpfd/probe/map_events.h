/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_events.h - reports code that processes map, from files or generated, by the kernel's own perf events.
 *
 * No system call is hooked for it: a tracepoint on mmap would send every system
 * call of every process, and the two that each traced call makes on x86-64,
 * through the kernel's slow path (measured: 25 ns each).
 *
 * But these events also report the start and end of every thread on the machine. A wake-up of the reader for each would
 * cost these threads as much as the rest of their lives; so one thread reads the events for all sessions of a daemon,
 * every few milliseconds, and less often while nothing is reported.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One per daemon, for all sessions. */
struct map_watch;
struct map_events;

struct map_events_handler {
	/* Should this process be reported? Called by any thread, between map_events_new() and _free(); must be quick. */
	bool (*wanted)(void *context, pid_t pid);
	/* Process @pid mapped code at @ts_ns (CLOCK_MONOTONIC): of a file, or generated at run time. */
	void (*mapped)(void *context, pid_t pid, uint64_t ts_ns, bool of_file);
	/* The buffer overflowed: some events were not reported. */
	void (*missed)(void *context);
	void *context;
};

/* map_watch_new - NULL without memory; map_watch_free - all listeners must have been freed before */
struct map_watch *map_watch_new(void);
void map_watch_free(struct map_watch *watch);

/*
 * map_events_new - begins to listen, on all CPUs
 *
 * Returns NULL and sets errno if the kernel does not allow it. @handler is
 * copied; except wanted(), it is only called by map_events_read().
 */
struct map_events *map_events_new(struct map_watch *watch,
				  const struct map_events_handler *handler);

/* map_events_fd - becomes readable, for epoll, a few milliseconds after an event, at most 20 */
int map_events_fd(const struct map_events *events);

/* map_events_read - reports all events since the last call, including those that map_events_fd() does not signal yet */
void map_events_read(struct map_events *events);

/* map_events_free - accepts NULL */
void map_events_free(struct map_events *events);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H */
