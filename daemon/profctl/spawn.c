/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c - a private daemon: found, started, waited for. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/catalog/catalog_directory.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/head_start.h"
#include "daemon/profctl/message.h"

#define END_TIMEOUT_MS 30000

/* Beside this program, where it is in a build and in an installation; else PATH decides. */
static void find_daemon(char *path, size_t size)
{
	static const char *const places[] = { "profbpfd", "../sbin/profbpfd" };
	char directory[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (program_directory(directory, sizeof(directory)))
			break;
		snprintf(path, size, "%s/%s", directory, places[i]);
		if (!access(path, X_OK))
			return;
	}
	snprintf(path, size, "profbpfd");
}

/*
 * The daemon must outlive Ctrl-C and a closed terminal, to complete the file,
 * and must not hold our standard output open.
 */
static _Noreturn void run_daemon(const char *path, int socket, bool head_start)
{
	char number[16], *argv[] = { (char *)"profbpfd", (char *)"--private", number, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	if (head_start)
		head_start_take();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	fcntl(socket, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", socket);
	execvp(path, argv);
	if (errno == ENOENT)
		message("cannot find profbpfd: it is neither in profctl's folder nor in PATH");
	else
		message("cannot run %s: %s", path, strerror(errno));
	_exit(127);
}

int client_spawn(struct client *client)
{
	char path[PATH_MAX + 32];
	bool head_start = head_start_allowed();
	int pair[2], err;
	pid_t pid;

	memset(client, 0, sizeof(*client));
	client->socket = -1;
	find_daemon(path, sizeof(path));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		message("cannot create a socket: %s", strerror(-err));
		return err;
	}
	/* Descriptors 0 to 2 may be closed; the socket must not take their place in the daemon. */
	pid = fork();
	if (!pid) {
		int high = fcntl(pair[1], F_DUPFD_CLOEXEC, 3);

		close(pair[0]);
		run_daemon(path, high, head_start);
	}
	err = pid < 0 ? -errno : 0;
	close(pair[1]);
	if (err) {
		message("cannot start a daemon: %s", strerror(-err));
		close(pair[0]);
		return err;
	}
	client->socket = pair[0];
	client->private_pid = pid;
	client->head_start = head_start;
	control_tune(client->socket);
	return 0;
}

/* Says what a wait status means if it is not a good end. */
static void explain_end(int status)
{
	if (WIFSIGNALED(status))
		message("the private daemon was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
}

void client_started(struct client *client)
{
	if (client->head_start)
		head_start_end(client->private_pid);
	client->head_start = false;
}

void client_leave(struct client *client)
{
	/* Also if no session has started: cleaning up is not urgent. */
	client_started(client);
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
	client->private_pid = 0;
}

void client_close(struct client *client)
{
	struct pollfd ended = { .events = POLLIN };
	pid_t pid = client->private_pid;
	int status, n = 1;

	client_leave(client);
	if (!pid)
		return;
	ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ended.fd >= 0) {
		while ((n = poll(&ended, 1, END_TIMEOUT_MS)) < 0 && errno == EINTR)
			;
		close(ended.fd);
	}
	if (!n)
		message("the private daemon (process %d) is still cleaning up; profctl does not wait for it",
			(int)pid);
	else if (waitpid(pid, &status, 0) == pid)
		explain_end(status);
}
