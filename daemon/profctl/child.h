/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the command that record starts: made first, released when capture is live. */
#ifndef PROFBPF_DAEMON_PROFCTL_CHILD_H
#define PROFBPF_DAEMON_PROFCTL_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int pidfd; /* readable when it has ended; -1 once that was seen */
	int release; /* write end of the pipe it waits on; -1 = released */
	int failure; /* read end of the pipe that gets the reason if exec fails */
	bool ended;
	int wait_status; /* once ended */
};

/*
 * child_start - fork; the child waits
 *
 * It gets signal mask @mask, and dies if we do before it was released. Returns 0
 * or a negative errno after saying why.
 */
int child_start(struct child *child, char **argv, const sigset_t *mask);

/*
 * child_release - let it run its command
 *
 * Waits until the program runs or has failed to. Returns 0, or the negative errno
 * of exec, or -ECHILD if it ended while waiting.
 */
int child_release(struct child *child);

/* child_reap - note its end once pidfd is readable, or wait for that */
void child_reap(struct child *child);

/* child_discard - ends the child if it still waits, and frees its resources */
void child_discard(struct child *child);

/* child_status - exit status for the shell: its own, or 128 + the signal that killed it */
int child_status(const struct child *child);

#endif /* PROFBPF_DAEMON_PROFCTL_CHILD_H */
