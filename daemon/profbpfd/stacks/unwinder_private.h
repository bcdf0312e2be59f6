/* SPDX-License-Identifier: Apache-2.0 */
/* unwinder_private.h - what unwinder.c, unwinder_derive.c and unwinder_sessions.c share. */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_PRIVATE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_PRIVATE_H

#include <pthread.h>

#include "bpf/unwind.h"
#include "daemon/profbpfd/stacks/seen_code.h"
#include "daemon/profbpfd/stacks/unwinder.h"
#include "lib/elf/code_maps.h"

struct unwind_file;
struct unwind_files;
struct unwind_store;

/* What was found of a process when it was looked at last. */
struct process {
	pid_t pid;
	uid_t user; /* who holds the tables */
	uint64_t took_ns; /* of CPU time, to read its mappings and to look at files for which there is no room */
	struct code_maps maps;
	struct unwind_mapping *mapping; /* of each of these */
	struct unwind_file **held; /* its table */
	bool *no_room; /* for it */
	bool *more; /* its code may tell more (unwind_files_more()) */
	bool *wanted; /* and walks ended there */
	bool waits; /* there is a request for those that are wanted */
	uint64_t again_ns; /* there was no room, or time, for what is wanted: when it is asked for again */
	struct process *next; /* of those that are gone */
};

struct request {
	struct request *next;
	pid_t pid;
	bool more; /* derive rules of the files that are wanted; else look at it */
	uint64_t due_ns;
};

struct unwinder_session {
	struct unwinder *unwinder;
	int map; /* -1: not begun */
	const struct right *right;
	void *processes; /* tsearch tree of struct process, but for the one that is looked at */
	struct unwinder_session *next, *previous; /* of the ring */
	struct request *first; /* the one that is due first */
	size_t request_count;
	pid_t looked_at; /* 0 = none */
	uint64_t looked_took_ns; /* when it was looked at before */
	bool dropped; /* what is found of it */
	struct seen_code seen; /* of it */
	struct unwinder_left_out left_out;
};

struct unwinder {
	pthread_mutex_t lock; /* for all of it and of the sessions but "files", which the thread has to itself */
	pthread_cond_t wake, done;
	pthread_t thread;
	bool started, stopping;
	struct unwind_store *store; /* NULL: none yet, or not any more */
	struct unwind_files *files;
	size_t sessions;
	struct unwinder_session *turn; /* all of them, round in a ring; whose request is taken next. NULL: there is none */
	struct process *gone; /* they have let go their tables when the thread comes to it */
	struct unwind_process scratch;
	uint64_t versions; /* of it, so far */
};

/* unwinder_now - CLOCK_MONOTONIC */
uint64_t unwinder_now(void);

/* unwinder_is_ready - has its maps and its thread, from the first session on; with the lock, as the rest */
bool unwinder_is_ready(struct unwinder *unwinder);

/* unwinder_derive - the rules of what is wanted of process @pid, from its instructions; with the lock, which is given up meanwhile */
void unwinder_derive(struct unwinder *unwinder, struct unwinder_session *session, pid_t pid);

/* unwinder_publish - what the session's programs are to know of it. False: nobody wants it any more */
bool unwinder_publish(struct unwinder *unwinder, struct unwinder_session *session, const struct process *process);

/* unwinder_take_process - out of the session's tree, which unwinder_compare() orders; NULL if it is not there */
struct process *unwinder_take_process(struct unwinder_session *session, pid_t pid);
int unwinder_compare(const void *a, const void *b);

/* unwinder_leave_process - no program sees it any more: the thread lets go what it held; NULL is fine */
void unwinder_leave_process(struct unwinder *unwinder, struct process *process);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_PRIVATE_H */
