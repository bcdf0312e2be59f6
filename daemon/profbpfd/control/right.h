/* SPDX-License-Identifier: Apache-2.0 */
/*
 * right.h - an ordinary user's right to see what the daemon reads from a process.
 *
 * The daemon reads /proc and memory with root's rights, and a process may execute a
 * set-user-id program at any time. So the data are kept only if right_holds() afterwards:
 * then the process was the user's from its claim (capture_claim()) until that moment.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H

#include <stdbool.h>
#include <sys/types.h>

struct capture;

/* Made by the session; it outlives all users of it. */
struct right {
	struct capture *capture;
	uid_t uid; /* (uid_t)-1: a user who may see everything */
	gid_t gid;
	bool (*ask)(const struct right *right,
		    pid_t pid); /* right_ask(); a pointer, so that files that only pass the right on need not link it */
};

/* right_limited - is it the right of an ordinary user? False for NULL, which means no limit. */
static inline bool right_limited(const struct right *right)
{
	return right && right->uid != (uid_t)-1;
}

/*
 * right_holds - may data that were just read from @pid be kept?
 *
 * True if @right is NULL or unlimited. Else @pid must still be claimed or a target, and the user's.
 * May be called from any thread.
 */
static inline bool right_holds(const struct right *right, pid_t pid)
{
	return !right_limited(right) || right->ask(right, pid);
}

bool right_ask(const struct right *right, pid_t pid);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H */
