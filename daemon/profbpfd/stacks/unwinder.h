/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder.h - provides BPF programs with the unwind tables of the files that processes map.
 *
 * There is one for all sessions of a daemon, with its own thread: it reads the mappings of a process, makes the tables
 * of new files (unwind_store.h), and gives the session's programs the mappings with their tables. The files' own tables
 * come first; rules for code that they do not cover are derived from its instructions, only for files in which walks
 * ended. Until then, and without room or table, stacks are walked by frame pointers.
 *
 * Sessions take turns, so that none waits for all processes of another one.
 *
 * Device, inode, size and times of change identify a file, or its build id: copies share a table. Tables are freed
 * when no process of a session maps their file any more; some are kept for the next session
 * (unwind_files.h).
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

struct unwind_process; /* bpf/unwind.h */
struct unwind_rule;
struct unwinder;
struct unwinder_session;

/* unwinder_new - NULL without memory; unwinder_free - all sessions must have left; accepts NULL */
struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *unwinder);

/*
 * unwinder_join - adds a session that is about to load its programs
 *
 * NULL: tables are impossible (no memory, or the kernel does not support the maps). May be called by any thread.
 */
struct unwinder_session *unwinder_join(struct unwinder *unwinder);

/* unwinder_shards, unwinder_rules - descriptors of the maps for its programs (bpf/unwind.bpf.h) */
int unwinder_shards(const struct unwinder_session *session);
int unwinder_rules(const struct unwinder_session *session);

/*
 * unwinder_prepare - requests the tables of process @pid, a future target, while the session's programs are loaded,
 * which takes as long. To be called before unwinder_begin(), and not for an ordinary user's session, whose targets are
 * not claimed yet. Returns at once.
 */
void unwinder_prepare(struct unwinder_session *session, pid_t pid);

/* unwinder_begin - @processes is the session's map; the caller keeps it and @right (NULL: no limit) */
void unwinder_begin(struct unwinder_session *session, int processes, const struct right *right);

/* unwinder_leave - cancels the session's work; its maps are not used any more. @session may be NULL. */
void unwinder_leave(struct unwinder_session *session);

/*
 * unwinder_look - requests the tables of process @pid, which is new or, with @again, has mapped code
 *
 * Without @again it does nothing for a process that was handled before. Returns at once. If there are very many processes, some may
 * be handled later or not at all.
 */
void unwinder_look(struct unwinder_session *session, pid_t pid, bool again);

/*
 * unwinder_saw - a walk of @pid ended at @address: if the table of that file is still to be made, it comes first; if it exists,
 * rules for code that it lacks are derived
 */
void unwinder_saw(struct unwinder_session *session, pid_t pid, uint64_t address);

/* unwinder_wait - waits until all requested processes were handled, at most @most_ns */
void unwinder_wait(struct unwinder_session *session, uint64_t most_ns);

/*
 * unwinder_known - copies the mappings of process @pid that the session's programs use; returns false if they have none
 *
 * unwinder_rule - finds the rule at @address by such a copy; returns false if there is none. *@in_code is set if any
 * mapping of the process contains @address.
 *
 * unwinder_knows - is the copy still current? The rules that were found by it are valid only if it is.
 */
bool unwinder_known(struct unwinder_session *session, pid_t pid, struct unwind_process *known);
bool unwinder_rule(struct unwinder_session *session, const struct unwind_process *known, uint64_t address,
		   struct unwind_rule *rule, bool *in_code);
bool unwinder_knows(struct unwinder_session *session, pid_t pid, const struct unwind_process *known);

/* unwinder_forget - @pid has begun another program, or ended */
void unwinder_forget(struct unwinder_session *session, pid_t pid);

/* Counts of tables that could not be made. */
struct unwinder_left_out {
	uint64_t files; /* files without a table for lack of room */
	uint64_t mappings; /* of processes with more than UNWIND_MAPPINGS */
	uint64_t processes; /* for which there was no room */
};

/* unwinder_left_out - the counts of this session so far */
struct unwinder_left_out unwinder_left_out(struct unwinder_session *session);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_UNWINDER_H */
