/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pythons.h - the Python interpreters among a session's targets: found by their
 * runtime's symbol, sampled by reading their memory (python_read.h).
 *
 * Nothing is stopped or written. Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHONS_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"
#include "bpf/events.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/stacks/stack_table.h"

#define PYTHONS_PERIOD_NS 50000000ull /* between two looks at all threads, on average */

struct pythons;

struct pythons_handler {
	/* A thread was at a stack of Python functions. */
	void (*row)(void *context, const struct stack_row *row);
	/* A process's interpreter was found: where its threads wait for its lock. */
	void (*found)(void *context, pid_t pid, const struct python_range *range);
	/* Something the user should know; said once. */
	void (*warn)(void *context, const char *text);
	void *context;
};

/* pythons_new - @table and @queue must outlive it; NULL without memory */
struct pythons *pythons_new(struct stack_table *table, struct item_queue *queue,
			    const struct pythons_handler *handler);
/* pythons_limit - look only into processes into which @right, which stays the caller's, allows to */
void pythons_limit(struct pythons *pythons, const struct right *right);

void pythons_free(struct pythons *pythons);

/*
 * pythons_look - is there an interpreter in this target?
 *
 * To be asked again and again: what starts needs a while until it has one. A process
 * is looked at some times and then left alone.
 */
void pythons_look(struct pythons *pythons, pid_t pid);

/*
 * pythons_sample - read where all threads are, if it is time to
 *
 * Times between looks differ from the period by up to a quarter of it, at random: a job that keeps a pace of its own would always
 * be seen at the same place.
 */
void pythons_sample(struct pythons *pythons, uint64_t now_ns);

/* pythons_next - when it is time again; UINT64_MAX: not before an interpreter is found */
uint64_t pythons_next(const struct pythons *pythons);

/* pythons_forget - a process has begun another program, or ended */
void pythons_forget(struct pythons *pythons, pid_t pid);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHONS_H */
