/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.h - the interpreters (interpreter.h) in a session's targets: found by their mapped files, sampled by
 * reading their memory.
 *
 * A process has at most one interpreter, the first that is found. Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETERS_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETERS_H

#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/interpreters/interpreter.h"

#define INTERPRETERS_PERIOD_NS 50000000ull /* average interval between samples of all threads */

struct interpreters_handler {
	/* A thread's stack with an interpreter's functions. */
	void (*row)(void *context, const struct stack_row *row);
	/* A process' interpreter was found: the addresses on which its threads wait for the lock. */
	void (*lock)(void *context, pid_t pid, const struct python_range *range);
	/* For BPF programs that read threads' functions: like capture_python_layout() and capture_python_state(). */
	void (*layout)(void *context, pid_t pid, const struct python_layout *layout);
	void (*state)(void *context, pid_t pid, uint32_t tid, uint64_t state);
	/* A warning for the user. */
	void (*warn)(void *context, const char *text);
	void *context;
};

/* interpreters_new - @table and @queue must outlive it; NULL without memory */
struct interpreters *interpreters_new(struct stack_table *table, struct item_queue *queue,
				      const struct interpreters_handler *handler);
/* interpreters_limit - only for processes that @right, which the caller keeps, allows to look into */
void interpreters_limit(struct interpreters *interpreters, const struct right *right);

void interpreters_free(struct interpreters *interpreters);

/*
 * interpreters_look - checks a target for an interpreter
 *
 * To be called repeatedly: a process that has just started takes a while until it has
 * one. A process is checked a limited number of times.
 */
void interpreters_look(struct interpreters *interpreters, pid_t pid);

/*
 * interpreters_sample - reads the stacks of all threads, if that is due
 *
 * The intervals differ randomly from the period by up to a quarter: else a job with the same period would always be seen at
 * the same place.
 */
void interpreters_sample(struct interpreters *interpreters, uint64_t now_ns);

/* interpreters_next - the time of the next sample; UINT64_MAX: none before an interpreter is found */
uint64_t interpreters_next(const struct interpreters *interpreters);

/*
 * interpreters_frames - converts the frames that a BPF program read from a thread of process @pid, at @now_ns or before
 *
 * @into, with room for @count, gets them innermost first. Returns false if the process has no known interpreter.
 */
bool interpreters_frames(struct interpreters *interpreters, pid_t pid, const struct rec_python_frame *read,
			 uint32_t count, uint64_t now_ns, struct interpreted_frame *into);

/* interpreters_loop - is @address in the loop of the process' interpreter? */
bool interpreters_loop(struct interpreters *interpreters, pid_t pid, uint64_t address);

/* interpreters_forget - a process has begun another program, or ended */
void interpreters_forget(struct interpreters *interpreters, pid_t pid);

/* interpreters_tell_roles - may a process that maps this file have an interpreter with roles of threads? */
bool interpreters_tell_roles(const char *path);

/* interpreters_with_roles - the next interpreter with roles after @previous (NULL: the first); NULL after the last */
const struct interpreter *interpreters_with_roles(const struct interpreter *previous);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_INTERPRETERS_H */
