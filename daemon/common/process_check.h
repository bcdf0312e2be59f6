/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_check.h - can this process be traced, and if not, why?
 *
 * Used by profctl to answer at once and by profbpfd, which trusts no client.
 * Reads only files that the kernel itself answers (/proc/PID/stat, status, auxv) and
 * opens no file of the process, so no process can block the caller.
 */
#ifndef PROFBPF_DAEMON_COMMON_PROCESS_CHECK_H
#define PROFBPF_DAEMON_COMMON_PROCESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_NAME_MAX 64

struct process_facts {
	pid_t pid;
	pid_t tgid; /* process it belongs to; differs from pid if that is a thread */
	pid_t parent;
	char name[PROCESS_NAME_MAX]; /* as in /proc/PID/stat; control characters replaced */
	uint64_t started; /* hundredths of a second since boot */
	long threads;
	char state; /* letter of /proc/PID/stat */
	bool kernel_thread;
	bool exiting; /* its first thread is */
	bool narrow; /* a 32-bit program on a 64-bit kernel */
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;
	bool capable; /* it has capabilities, in its user namespace */
	bool outside; /* its user namespace is not the caller's */
	uid_t namespace_owner; /* owner of its user namespace, or of one around it; (uid_t)-1 = unknown */
	uid_t owner; /* owner of /proc/PID: root if the process is not dumpable */
};

/*
 * process_facts_read - reads facts about process @pid
 *
 * Returns 0, -ESRCH if there is none, or another negative errno.
 */
int process_facts_read(pid_t pid, struct process_facts *facts);

/*
 * process_check - can it be traced, permissions aside?
 *
 * @err is the result of process_facts_read() for @pid; @facts is used if that is
 * 0. Returns 0 or a negative errno with a message for the user in @error:
 * -ESRCH no such process or a zombie, -EINVAL a thread or a kernel thread.
 */
int process_check(pid_t pid, int err, const struct process_facts *facts, char *error,
		  size_t error_size);

/*
 * process_hold - opens a pidfd, so that the process cannot be mistaken for another one
 *
 * Process ids are reused. Facts that are read about @pid after this call are about the
 * held process, if process_gone() afterwards says that it still runs. Returns a
 * pidfd for the caller to close, or a negative errno: -ESRCH there is no process, -EINVAL
 * it is a thread.
 */
int process_hold(pid_t pid);

/* process_gone - the process held has exited; @held < 0: unknown, so false */
bool process_gone(int held);

/* process_start_time - sets @started to the time at which @pid began (process_facts.started); 0, or -ESRCH: none, or a zombie */
int process_start_time(pid_t pid, uint64_t *started);

/* process_clock - the instant @ns of CLOCK_MONOTONIC as process_facts.started tells it; it may be UINT64_MAX */
uint64_t process_clock(uint64_t ns);

/*
 * process_began_since - does @pid run, and began at or after @ns (CLOCK_MONOTONIC)?
 *
 * Then it is not the process that ended with this id at @ns. True also for one that began in the same hundredth of a
 * second, and is not exiting.
 */
bool process_began_since(pid_t pid, uint64_t ns);

/* process_runs - is @pid still the process that began then (process_facts.started), and not a zombie? */
bool process_runs(pid_t pid, uint64_t started);

/*
 * process_owned_by - may user @uid with group @gid, who has no privileges, look into the process?
 *
 * By the kernel's own rule (ptrace(2), "access mode checking"): all its user and group ids are the user's, it
 * is dumpable, and it has capabilities only in a user namespace of the user.
 */
bool process_owned_by(const struct process_facts *facts, uid_t uid, gid_t gid);

#endif /* PROFBPF_DAEMON_COMMON_PROCESS_CHECK_H */
