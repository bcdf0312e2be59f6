/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/profctl/message.h"

/*
 * Everything else that we hold open closes at exec; until then our end of the
 * pipe must not be in the child, or it would not notice our death.
 */
static _Noreturn void wait_and_exec(int wait_fd, int failure_fd, char **argv, const sigset_t *mask)
{
	ssize_t n;
	char go;
	int err;

	/* Before waiting, so that Ctrl-C ends it even now. */
	sigprocmask(SIG_SETMASK, mask, NULL);
	do {
		n = read(wait_fd, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
	execvp(argv[0], argv);
	err = errno;
	n = write(failure_fd, &err, sizeof(err));
	_exit(n == sizeof(err) && err == ENOENT ? 127 : 126);
}

/* Leaves descriptors 0 to 2 alone: they may be closed, and the command's to find so. */
static int make_pipe(int ends[2])
{
	int low[2], err = 0;

	if (pipe2(low, O_CLOEXEC))
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		if (ends[i] < 0)
			err = -errno;
	}
	close(low[0]);
	close(low[1]);
	if (!err)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return err;
}

static int start(struct child *child, char **argv, const sigset_t *mask, int go[2], int failure[2])
{
	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (!child->pid) {
		close(go[1]);
		close(failure[0]);
		wait_and_exec(go[0], failure[1], argv, mask);
	}
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (child->pidfd < 0) {
		int err = -errno;

		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
		return err;
	}
	return 0;
}

int child_start(struct child *child, char **argv, const sigset_t *mask)
{
	int go[2] = { -1, -1 }, failure[2] = { -1, -1 }, err;

	memset(child, 0, sizeof(*child));
	child->pidfd = child->release = child->failure = -1;
	err = make_pipe(go);
	if (!err)
		err = make_pipe(failure);
	if (!err)
		err = start(child, argv, mask, go, failure);
	if (go[0] >= 0)
		close(go[0]);
	if (failure[1] >= 0)
		close(failure[1]);
	child->release = go[1];
	child->failure = failure[0];
	if (err) {
		message("cannot start a process: %s", strerror(-err));
		child->ended = true;
		child_discard(child);
	}
	return err;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int child_release(struct child *child)
{
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int err = 0;
	ssize_t n;

	/* A child that was killed while it waited must not kill us too. */
	n = write(child->release, "", 1);
	signal(SIGPIPE, before);
	close_end(&child->release);
	if (n == 1) {
		do {
			n = read(child->failure, &err, sizeof(err));
		} while (n < 0 && errno == EINTR);
		n = n == sizeof(err) ? 1 : 0;
		err = n ? -err : 0;
	} else {
		err = -ECHILD;
	}
	close_end(&child->failure);
	return err;
}

void child_reap(struct child *child)
{
	pid_t pid;

	if (child->ended)
		return;
	do {
		pid = waitpid(child->pid, &child->wait_status, 0);
	} while (pid < 0 && errno == EINTR);
	child->ended = true;
	close_end(&child->pidfd);
}

void child_discard(struct child *child)
{
	bool waits = child->release >= 0 && !child->ended;

	close_end(&child->release);
	close_end(&child->failure);
	if (waits)
		child_reap(child);
	close_end(&child->pidfd);
}

int child_status(const struct child *child)
{
	if (WIFSIGNALED(child->wait_status))
		return 128 + WTERMSIG(child->wait_status);
	return WIFEXITED(child->wait_status) ? WEXITSTATUS(child->wait_status) : 1;
}
