/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/dynamic_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX (256u << 10)
#define TIMEOUT_MS 5000

static _Noreturn void run(const char *loader, const char *program, int output)
{
	char file[PATH_MAX + 2];
	char *argv[] = { (char *)loader, (char *)"--list", file, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* The loader would search for a name without a slash among the libraries. */
	snprintf(file, sizeof(file), "%s%s", strchr(program, '/') ? "" : "./", program);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
	}
	dup2(output, STDOUT_FILENO);
	execv(loader, argv);
	_exit(127);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads output until its end, the size limit, or the time limit. */
static size_t collect(int fd, char *text, size_t size)
{
	long deadline = now_ms() + TIMEOUT_MS, left;
	size_t used = 0;

	while (used < size && (left = deadline - now_ms()) > 0) {
		struct pollfd readable = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&readable, 1, (int)left) <= 0)
			continue;
		n = read(fd, text + used, size - used);
		if (!n || (n < 0 && errno != EINTR))
			break;
		used += n > 0 ? (size_t)n : 0;
	}
	return used;
}

/* "	libm.so.6 => /lib/libm.so.6 (0x...)" or "	/lib/libm.so.6 (0x...)" */
static int parse_line(char *line, struct words *libraries)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + 4 : line + strspn(line, " \t");
	char *end = strstr(path, " (0x");

	if (!end || *path != '/')
		return 0;
	*end = '\0';
	return words_add(libraries, path);
}

static int parse(char *text, struct words *libraries)
{
	int err = 0;

	for (char *line = text, *next; !err && line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		err = parse_line(line, libraries);
	}
	return err;
}

int loader_list(const char *loader, const char *program, struct words *libraries)
{
	char *text = malloc(TEXT_MAX + 1);
	int ends[2], err = 0;
	pid_t pid;

	if (!text)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC)) {
		err = -errno;
		free(text);
		return err;
	}
	pid = fork();
	if (!pid)
		run(loader, program, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		text[collect(ends[0], text, TEXT_MAX)] = '\0';
		/* Further output would not be read. */
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		err = parse(text, libraries);
	} else {
		err = -errno;
	}
	close(ends[0]);
	free(text);
	return err;
}
