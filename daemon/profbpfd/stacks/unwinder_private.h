/* SPDX-License-Identifier: Apache-2.0 */
/* unwinder_private.h - shared by unwinder.c, unwinder_derive.c and unwinder_sessions.c. */
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

/* The result of the last handling of a process. */
struct process {
	pid_t pid;
	uid_t user; /* the user who holds the tables */
	uint64_t took_ns; /* CPU time for reading its mappings, and for files without room */
	uint64_t looked_ns; /* the end of that handling */
	struct code_maps maps;
	struct unwind_mapping *mapping; /* one for each mapping in "maps" */
	struct unwind_file **held; /* per mapping: its table */
	bool *no_room; /* per mapping: there was no room for the table */
	bool *more; /* per mapping: rules can be derived (unwind_files_more()) */
	bool *wanted; /* per mapping: that, and walks ended there */
	bool waits; /* a request for derived rules is queued */
	uint64_t again_ns; /* there was no room or time for derived rules: the time of the next try */
	struct process *next; /* in the list of processes that are gone */
};

struct request {
	struct request *next;
	pid_t pid;
	bool more; /* derive rules of the wanted mappings; else read the process */
	uint64_t due_ns;
};

struct unwinder_session {
	struct unwinder *unwinder;
	int map; /* -1: not begun */
	const struct right *right;
	void *processes; /* tsearch tree of struct process, without the one that is being handled */
	struct unwinder_session *next, *previous; /* of the ring */
	struct request *first; /* the request that is due first */
	size_t request_count;
	pid_t looked_at; /* 0 = none */
	uint64_t looked_took_ns; /* the duration of its previous handling */
	bool dropped; /* the result for it is dropped */
	struct seen_code seen; /* addresses seen in it meanwhile */
	struct unwinder_left_out left_out;
};

struct unwinder {
	pthread_mutex_t lock; /* protects this and the sessions, except "files", which only the thread uses */
	pthread_cond_t wake, done;
	pthread_t thread;
	bool started, stopping;
	struct unwind_store *store; /* NULL: none yet, or not any more */
	struct unwind_files *files;
	size_t sessions;
	struct unwinder_session *turn; /* the ring of all sessions, at the session whose request is next. NULL: there is none */
	struct process *gone; /* processes whose tables the thread has still to release */
	struct unwind_process scratch;
	uint64_t versions; /* the last version number */
};

/* unwinder_now - CLOCK_MONOTONIC */
uint64_t unwinder_now(void);

/* unwinder_is_ready - makes maps and thread if necessary; false if that fails. Called with the lock, like the rest. */
bool unwinder_is_ready(struct unwinder *unwinder);

/* unwinder_derive - derives the requested rules of process @pid from its instructions; called with the lock, which it releases meanwhile */
void unwinder_derive(struct unwinder *unwinder, struct unwinder_session *session, pid_t pid);

/* unwinder_publish - passes the process' mappings to the session's programs. Returns false if the session does not want them any more */
bool unwinder_publish(struct unwinder *unwinder, struct unwinder_session *session, const struct process *process);

/* unwinder_take_process - removes a process from the session's tree, ordered by unwinder_compare(); NULL: not there */
struct process *unwinder_take_process(struct unwinder_session *session, pid_t pid);
int unwinder_compare(const void *a, const void *b);

/* unwinder_leave_process - no program sees the process any more: the thread will release its tables; @process may be NULL */
void unwinder_leave_process(struct unwinder *unwinder, struct process *process);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_PRIVATE_H */
