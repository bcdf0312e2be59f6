/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Files; real processes map some hundred. Bounds the quadratic search for duplicates. */
#define MAX_MAPS 16384

static const char deleted_suffix[] = " (deleted)";

/* The kernel writes a newline in a path as \012 and leaves everything else as it is. */
static void undo_escapes(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

static bool cut_deleted(char *path)
{
	size_t length = strlen(path), suffix = sizeof(deleted_suffix) - 1;

	if (length <= suffix || strcmp(path + length - suffix, deleted_suffix) != 0)
		return false;
	path[length - suffix] = 0;
	return true;
}

/*
 * One line of maps: "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH".
 */
bool process_map_parse(char *line, struct process_map *map)
{
	unsigned int major, minor;
	char permissions[5];
	int path = 0;

	*map = (struct process_map){ 0 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &map->start, &map->end, permissions, &map->offset, &major, &minor, &map->inode,
		   &path) < 7 ||
	    !path)
		return false;
	if (permissions[2] != 'x')
		return false;
	map->dev = KERNEL_DEV(major, minor);
	map->path = line + path;
	map->path[strcspn(map->path, "\n")] = 0;
	map->deleted = cut_deleted(map->path);
	if (strncmp(map->path, "/memfd:", 7) == 0)
		map->deleted = true;
	undo_escapes(map->path);
	return true;
}

static int add_map(struct process_maps *maps, size_t *capacity, const struct process_map *map)
{
	char *path;

	if (process_maps_find(maps, map->dev, map->inode) || maps->count == MAX_MAPS)
		return 0;
	if (maps->count == *capacity) {
		size_t grown_capacity = *capacity ? *capacity * 2 : 64;
		void *grown = reallocarray(maps->map, grown_capacity, sizeof(*maps->map));

		if (!grown)
			return -ENOMEM;
		maps->map = grown;
		*capacity = grown_capacity;
	}
	path = strdup(map->path);
	if (!path)
		return -ENOMEM;
	maps->map[maps->count] = *map;
	maps->map[maps->count++].path = path;
	return 0;
}

/* A bit of the process' flags in /proc/PID/stat, proc(5); from include/linux/sched.h. */
#define PF_EXITING 0x4

/*
 * The maps of a process that ends are cut off where they are read meanwhile, and later as empty as a
 * kernel thread's; only the latter still runs.
 */
static int check_alive(pid_t pid)
{
	char path[64], line[512], state, *after;
	unsigned int flags;
	FILE *file;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	if (!fgets(line, sizeof(line), file))
		err = -ESRCH;
	fclose(file);
	if (err)
		return err;
	after = strrchr(line, ')');
	if (!after || sscanf(after, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return -ESRCH;
	return strchr("ZXx", state) || flags & PF_EXITING ? -ESRCH : 0;
}

int process_maps_read(pid_t pid, struct process_maps *maps)
{
	size_t capacity = 0, line_size = 0;
	char path[64], *line = NULL;
	struct process_map map;
	FILE *file;
	int err = 0;

	*maps = (struct process_maps){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (!err && getline(&line, &line_size, file) > 0) {
		if (process_map_parse(line, &map) && map.inode && map.path[0] == '/')
			err = add_map(maps, &capacity, &map);
	}
	if (!err && ferror(file))
		err = errno ? -errno : -EIO;
	if (!err)
		err = check_alive(pid);
	free(line);
	fclose(file);
	if (err)
		process_maps_free(maps);
	return err;
}

void process_maps_free(struct process_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->map[i].path);
	free(maps->map);
	*maps = (struct process_maps){ 0 };
}

const struct process_map *process_maps_find(const struct process_maps *maps, uint32_t dev,
					    uint64_t inode)
{
	for (size_t i = 0; i < maps->count; i++) {
		if (maps->map[i].inode == inode && maps->map[i].dev == dev)
			return &maps->map[i];
	}
	return NULL;
}

enum sameness {
	DIFFERENT,
	SAME_INODE, /* the device number is another */
	SAME,
};

static enum sameness compare(const struct stat *st, const struct process_map *map)
{
	if (!S_ISREG(st->st_mode) || st->st_ino != map->inode)
		return DIFFERENT;
	return KERNEL_DEV(major(st->st_dev), minor(st->st_dev)) == map->dev ? SAME : SAME_INODE;
}

/* Writes both paths; a path that cannot exist is empty. */
static int candidate_paths(pid_t pid, const struct process_map *map, char *root_path,
			   char *map_path, size_t size)
{
	int n;

	root_path[0] = 0;
	if (!map->deleted) {
		n = snprintf(root_path, size, "/proc/%d/root%s", pid, map->path);
		if (n < 0 || (size_t)n >= size)
			root_path[0] = 0;
	}
	n = snprintf(map_path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		     map->end);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int give(const char *from, char *path, size_t path_size)
{
	if (strlen(from) >= path_size)
		return -ENAMETOOLONG;
	strcpy(path, from);
	return 0;
}

int process_map_path(pid_t pid, const struct process_map *map, char *path, size_t path_size)
{
	char root_path[PATH_MAX + 32], map_path[PATH_MAX + 32];
	enum sameness root_sameness = DIFFERENT;
	struct stat st;
	int err;

	err = candidate_paths(pid, map, root_path, map_path, sizeof(root_path));
	if (err)
		return err;
	if (root_path[0] && stat(root_path, &st) == 0)
		root_sameness = compare(&st, map);
	if (root_sameness == SAME)
		return give(root_path, path, path_size);
	if (stat(map_path, &st) == 0 && compare(&st, map) != DIFFERENT)
		return give(map_path, path, path_size);
	if (root_sameness == SAME_INODE)
		return give(root_path, path, path_size);
	return -ENOENT;
}

int process_map_open(pid_t pid, const struct process_map *map)
{
	char path[PATH_MAX + 32];
	struct stat st;
	int fd, err;

	err = process_map_path(pid, map, path, sizeof(path));
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || compare(&st, map) == DIFFERENT) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}
