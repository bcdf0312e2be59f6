/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_maps.h - the files that a process has mapped executable.
 */
#ifndef PROFBPF_LIB_ELF_PROCESS_MAPS_H
#define PROFBPF_LIB_ELF_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A device number as the kernel keeps it and BPF programs see it (struct rec_map.dev). */
#define KERNEL_DEV(major, minor) ((uint32_t)(major) << 20 | (uint32_t)(minor))

struct process_map {
	uint64_t start, end; /* of the file's first executable mapping */
	uint64_t offset; /* in the file, of start */
	uint64_t inode;
	uint32_t dev; /* KERNEL_DEV() of the device the kernel names in maps */
	bool deleted; /* no longer reachable under its path */
	char *path; /* in the process's own root; escapes and " (deleted)" undone */
};

struct process_maps {
	struct process_map *map;
	size_t count;
};

/*
 * process_maps_read - the executable file mappings of @pid
 *
 * One entry per (dev, inode), in order of address. Anonymous and special
 * mappings ([vdso]) are left out; memory files (memfd) are there, as deleted. At
 * most 16,384 files are kept.
 * Free the result with process_maps_free(). Returns 0 (a kernel thread has no
 * maps: count 0), -ESRCH if the process is gone, a zombie or about to end, -EACCES without the
 * permission to read it, -ENOMEM or another negative errno of open or read.
 */
int process_maps_read(pid_t pid, struct process_maps *maps);
void process_maps_free(struct process_maps *maps);

/*
 * process_map_parse - one line of /proc/PID/maps
 *
 * Returns whether it is an executable mapping, of a file or not (then inode is 0
 * and path "" or "[vdso]"). @map->path points into @line, which is changed.
 */
bool process_map_parse(char *line, struct process_map *map);

/* process_maps_find - the entry of a file; NULL if it is not mapped */
const struct process_map *process_maps_find(const struct process_maps *maps, uint32_t dev,
					    uint64_t inode);

/*
 * process_map_path - a path by which this process can open the mapped file
 *
 * Writes /proc/PID/root/PATH if that leads to the very file that is mapped, else
 * /proc/PID/map_files/START-END, which works for deleted and replaced files and
 * memory files. The device that maps names can differ from what stat tells
 * (btrfs, overlayfs): then map_files decides and, where that may not be opened,
 * an equal inode of an undeleted regular file. Returns 0, -ENOENT if neither
 * works (the mapping or the process is gone), -ENAMETOOLONG.
 */
int process_map_path(pid_t pid, const struct process_map *map, char *path, size_t path_size);

/*
 * process_map_open - open the mapped file for reading
 *
 * Like process_map_path(), checked after opening, so that a file swapped in
 * between cannot pass. Returns a close-on-exec descriptor or a negative errno.
 */
int process_map_open(pid_t pid, const struct process_map *map);

#endif /* PROFBPF_LIB_ELF_PROCESS_MAPS_H */
