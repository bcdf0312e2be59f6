/* SPDX-License-Identifier: Apache-2.0 */
/*
 * right.h - what an ordinary user's session may read of a process.
 *
 * The daemon reads /proc and memory with root's rights, and a process may execute a
 * set-user-id program at any time. So what is read of one is kept only if right_holds()
 * afterwards: the process was the user's from its claim (capture_claim()) until then.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H

#include <stdbool.h>
#include <sys/types.h>

struct capture;

/* Made by the session, outlives all that is told of it. */
struct right {
	struct capture *capture;
	uid_t uid; /* (uid_t)-1: whoever may see everything */
	gid_t gid;
	bool (*ask)(const struct right *right,
		    pid_t pid); /* right_ask(); who only passes it on need not link it */
};

/* right_limited - is it an ordinary user's? NULL, too, is no limit. */
static inline bool right_limited(const struct right *right)
{
	return right && right->uid != (uid_t)-1;
}

/*
 * right_holds - may what was just read of @pid be told?
 *
 * True at once where @right is NULL or no limit. Else @pid has to be claimed or a target, and the user's,
 * still. Any thread.
 */
static inline bool right_holds(const struct right *right, pid_t pid)
{
	return !right_limited(right) || right->ask(right, pid);
}

bool right_ask(const struct right *right, pid_t pid);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_RIGHT_H */
