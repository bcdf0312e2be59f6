/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file; global because a signal handler has no other argument. */
static char *volatile unfinished;

void output_abandon(void)
{
	if (unfinished)
		unlink(unfinished);
}

static void remove_unfinished(int signal)
{
	output_abandon();
	/* SA_RESETHAND removed the handler: this ends the program as if there were none. */
	raise(signal);
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void on_signals(void (*handler)(int))
{
	for (size_t i = 0; i < SIGNALS; i++) {
		struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESETHAND };
		struct sigaction before;

		/* A signal that is ignored (nohup) stays ignored. */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/*
 * Creates the temporary file. Signals are blocked meanwhile: they arrive before it exists, or when its name is known
 * for removal.
 */
static int make_unfinished(char *temporary)
{
	sigset_t block, before;
	int fd, err;

	sigemptyset(&block);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&block, signals[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	fd = mkstemp(temporary);
	err = errno;
	if (fd >= 0) {
		unfinished = temporary;
		on_signals(remove_unfinished);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return fd;
}

static void forget_unfinished(void)
{
	if (!unfinished)
		return;
	on_signals(SIG_DFL);
	unfinished = NULL;
}

static int fail(int err, char *error, size_t error_size, const char *path)
{
	snprintf(error, error_size, "cannot write %s: %s", path, strerror(err));
	return -err;
}

/* mkstemp() makes files private; the output gets the usual mode. */
static void give_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask) != 0)
		return; /* a private file is the safe result */
}

int output_begin(struct output *output, const char *path, char *error, size_t error_size)
{
	struct stat status;
	int fd;

	*output = (struct output){ .path = path };
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		if (S_ISDIR(status.st_mode))
			return fail(EISDIR, error, error_size, path);
		output->direct = true;
		output->temporary = strdup(path);
		return output->temporary ? 0 : fail(ENOMEM, error, error_size, path);
	}
	if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
		output->temporary = NULL;
		return fail(ENOMEM, error, error_size, path);
	}
	fd = make_unfinished(output->temporary);
	if (fd < 0) {
		int err = errno;

		free(output->temporary);
		output->temporary = NULL;
		return fail(err, error, error_size, path);
	}
	give_usual_mode(fd);
	close(fd);
	return 0;
}

int output_commit(struct output *output, char *error, size_t error_size)
{
	if (!output->direct && rename(output->temporary, output->path) != 0)
		return fail(errno, error, error_size, output->path);
	forget_unfinished();
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void output_end(struct output *output)
{
	if (output->temporary && !output->direct)
		unlink(output->temporary);
	forget_unfinished();
	free(output->temporary);
	output->temporary = NULL;
}
