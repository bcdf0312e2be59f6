/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/trace_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profctl/message.h"

#define HOST_MAX 64

static char *default_name(void)
{
	char host[HOST_MAX + 1] = "", when[32] = "", *name = NULL;
	time_t now = time(NULL);
	struct tm local;

	if (gethostname(host, HOST_MAX) || !*host)
		strcpy(host, "host");
	for (char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '.' && *p != '_')
			*p = '_';
	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &local);
	return asprintf(&name, "profbpf-%s-%s.pbt", host, when) < 0 ? NULL : name;
}

static int open_stdout(struct output *output)
{
	if (isatty(STDOUT_FILENO)) {
		message("standard output is a terminal, but a trace is binary: use -o FILE, or redirect the output");
		return -EINVAL;
	}
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (output->fd < 0) {
		message("cannot write to standard output: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static int open_file(struct output *output)
{
	int err;

	/* First as a new file, to know later whether it is ours to remove. */
	output->fd = open(output->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	output->created = output->fd >= 0;
	if (output->fd < 0 && errno == EEXIST)
		output->fd = open(output->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
				  0666);
	if (output->fd < 0) {
		err = -errno;
		message("cannot write to %s: %s%s", output->name, strerror(-err),
			err == -ENOENT ? " (the folder does not exist)" : "");
		return err;
	}
	if (isatty(output->fd)) {
		message("%s is a terminal, but a trace is binary: give a file with -o",
			output->name);
		return -EINVAL;
	}
	return 0;
}

int output_open(struct output *output, const char *name)
{
	int err;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	output->name = name ? strdup(name) : default_name();
	if (!output->name) {
		message("out of memory");
		return -ENOMEM;
	}
	err = strcmp(output->name, "-") ? open_file(output) : open_stdout(output);
	if (err)
		output_close(output);
	return err;
}

void output_discard(struct output *output)
{
	if (output->created && output->name)
		unlink(output->name);
	output_close(output);
}

void output_close(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	free(output->name);
	memset(output, 0, sizeof(*output));
	output->fd = -1;
}
