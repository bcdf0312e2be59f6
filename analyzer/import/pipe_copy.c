/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/pipe_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART (64u << 10)
#define ADVICE "; a pipe is copied to a file first: name a folder with room in TMPDIR"

/* For file systems without O_TMPFILE. */
static int open_and_unlink(const char *folder)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/analyzer-XXXXXX", folder) >= sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_unnamed(void)
{
	const char *const FOLDERS[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++) {
		if (!FOLDERS[i] || !*FOLDERS[i])
			continue;
		fd = open(FOLDERS[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			fd = open_and_unlink(FOLDERS[i]);
	}
	return fd;
}

static bool write_whole(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

static int copy_bytes(int from, int to, const char *path, char *error, size_t error_size)
{
	char bytes[PART];

	for (;;) {
		ssize_t length = read(from, bytes, sizeof(bytes));
		int err;

		if (length == 0)
			return 0;
		if (length < 0 && errno == EINTR)
			continue;
		if (length > 0 && write_whole(to, bytes, (size_t)length))
			continue;
		err = -errno;
		snprintf(error, error_size, "%s: %s%s", path, strerror(-err),
			 length < 0 ? "" : ADVICE);
		return err;
	}
}

int pipe_copy_make(struct pipe_copy *copy, const char *path, char *error, size_t error_size)
{
	struct stat status;
	int fd, err;

	copy->fd = -1;
	if (stat(path, &status) != 0 || !S_ISFIFO(status.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	copy->fd = fd < 0 ? -1 : open_unnamed();
	if (copy->fd < 0) {
		err = -errno;
		snprintf(error, error_size, "%s: %s%s", path, strerror(-err),
			 fd < 0 ? "" : ADVICE);
	} else {
		snprintf(copy->path, sizeof(copy->path), "/proc/self/fd/%d", copy->fd);
		err = copy_bytes(fd, copy->fd, path, error, error_size);
	}
	if (fd >= 0)
		close(fd);
	if (err)
		pipe_copy_free(copy);
	return err;
}

void pipe_copy_free(struct pipe_copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	copy->fd = -1;
}
