/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/device/device_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_tid.h"
#include "device/stream.h"

static const char link_name[] = "/memfd:" STREAM_MEMFD_NAME " (deleted)";

static bool parse_line(const char *line, struct device_candidate *candidate)
{
	const char *path = strchr(line, '/');

	return path && strcmp(path, link_name) == 0 &&
	       sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &candidate->start,
		      &candidate->end, &candidate->id) == 3;
}

static bool has(const struct device_candidate *list, int count, uint64_t id)
{
	int i;

	for (i = 0; i < count; i++)
		if (list[i].id == id)
			return true;
	return false;
}

int device_find(pid_t pid, struct device_candidate out[DEVICE_FIND_MAX])
{
	struct device_candidate candidate;
	char path[64], *line = NULL;
	size_t size = 0;
	ssize_t length;
	int count = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	while (count < DEVICE_FIND_MAX && (length = getline(&line, &size, maps)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (parse_line(line, &candidate) && !has(out, count, candidate.id))
			out[count++] = candidate;
	}
	free(line);
	fclose(maps);
	return count;
}

/* Does an O_PATH descriptor refer to the file with inode @id, and is it harmless to open? */
static bool is_memory_file(int fd, uint64_t id)
{
	struct statfs fs;
	struct stat st;

	/* Not hugetlbfs: touching a page there can raise SIGBUS. */
	return fstat(fd, &st) == 0 && st.st_ino == id && S_ISREG(st.st_mode) &&
	       fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* Opens dir/name, if it is the file with inode @id, without side effects on other files. */
static int open_checked(int dir, const char *name, uint64_t id)
{
	int handle = openat(dir, name, O_PATH | O_CLOEXEC);
	int fd, seals;
	char path[64];

	if (handle < 0)
		return -errno;
	if (!is_memory_file(handle, id)) {
		close(handle);
		return -ENOENT;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(handle);
	if (fd < 0)
		return fd;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static DIR *open_descriptors(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return opendir(path);
}

/* Returns the next descriptor with the name of a stream, or NULL. */
static const char *next_named(DIR *dir)
{
	char target[sizeof(link_name) + 1];
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		ssize_t length =
			readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (length == (ssize_t)strlen(link_name) &&
		    memcmp(target, link_name, (size_t)length) == 0)
			return entry->d_name;
	}
	return NULL;
}

static int open_descriptor(pid_t pid, uint64_t id)
{
	DIR *dir = open_descriptors(pid);
	int result = -ENOENT;
	const char *name;

	if (!dir)
		return -errno;
	while (result == -ENOENT && (name = next_named(dir)))
		result = open_checked(dirfd(dir), name, id);
	closedir(dir);
	return result;
}

uint64_t device_find_files(pid_t pid)
{
	DIR *dir = open_descriptors(pid);
	uint64_t files = 0;
	const char *name;
	struct statx st;

	if (!dir)
		return 0;
	/* A sum, so that the order does not matter. AT_STATX_DONT_SYNC: file systems in user space are not asked. */
	while ((name = next_named(dir)))
		if (statx(dirfd(dir), name, AT_STATX_DONT_SYNC, STATX_INO, &st) == 0)
			files += st.stx_ino * 0x9e3779b97f4a7c15ull | 1;
	closedir(dir);
	return files;
}

int device_find_open(pid_t pid, const struct device_candidate *candidate)
{
	int fd = open_descriptor(pid, candidate->id);
	char path[96];

	if (fd != -ENOENT)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 candidate->start, candidate->end);
	return open_checked(AT_FDCWD, path, candidate->id);
}

int device_find_pid(pid_t pid, int *foreign)
{
	struct device_tid tid;
	int result = device_tid_read(pid, pid, &tid);

	if (result < 0)
		return result;
	*foreign = tid.foreign;
	return (int)tid.inner;
}
