/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(int err, char *error, size_t error_size, const char *path)
{
	snprintf(error, error_size, "cannot write %s: %s", path, strerror(err));
	return -err;
}

/* mkstemp() makes files private; the wanted file is to be like any other. */
static void give_usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask) != 0)
		return; /* private is the safe side */
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
	fd = mkstemp(output->temporary);
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
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

void output_end(struct output *output)
{
	if (output->temporary && !output->direct)
		unlink(output->temporary);
	free(output->temporary);
	output->temporary = NULL;
}
