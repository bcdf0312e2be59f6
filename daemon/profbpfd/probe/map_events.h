/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_events.h - code that processes map, of files or their own, told by the kernel's own
 * perf events.
 *
 * No system call is hooked for it: a tracepoint on mmap would send every system
 * call of every process, and the two that each traced call makes on x86-64,
 * through the kernel's slow path (measured: 25 ns each).
 *
 * But the kernel tells of threads that begin and end, too, whoever's they are. To be woken for each costs those
 * threads as much as all the rest of their lives; so one thread listens for all sessions of a daemon, and looks
 * every few milliseconds.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a daemon has of it: one, for all sessions. */
struct map_watch;
struct map_events;

struct map_events_handler {
	/* Is that process to be told of? Called by any thread, between map_events_new() and _free(); quick. */
	bool (*wanted)(void *context, pid_t pid);
	/* Process @pid mapped code at @ts_ns (CLOCK_MONOTONIC): a file's, or made at run time. */
	void (*mapped)(void *context, pid_t pid, uint64_t ts_ns, bool of_file);
	/* There were more than could be kept: some were not told. */
	void (*missed)(void *context);
	void *context;
};

/* map_watch_new, map_watch_free - nobody may listen any more. NULL without memory. */
struct map_watch *map_watch_new(void);
void map_watch_free(struct map_watch *watch);

/*
 * map_events_new - begin to listen, on all CPUs
 *
 * Returns NULL and sets errno if the kernel does not allow it. @handler is
 * copied; but for wanted(), it is called by map_events_read() only.
 */
struct map_events *map_events_new(struct map_watch *watch,
				  const struct map_events_handler *handler);

/* map_events_fd - becomes readable, for epoll, when there is something to read: a few milliseconds after it happened */
int map_events_fd(const struct map_events *events);

/* map_events_read - report all that has happened since the last time, also what is not known to map_events_fd() yet */
void map_events_read(struct map_events *events);

/* map_events_free - NULL is fine */
void map_events_free(struct map_events *events);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_MAP_EVENTS_H */
