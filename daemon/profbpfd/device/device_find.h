/* SPDX-License-Identifier: Apache-2.0 */
/* device_find.h - finds the memory files of device streams in a process. */
#ifndef PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FIND_H
#define PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEVICE_FIND_MAX 16 /* files per process */

/* A mapping with the name of a stream. */
struct device_candidate {
	uint64_t id; /* inode */
	uint64_t start, end; /* as in /proc/PID/maps */
};

/*
 * device_find - mappings of process @pid with the name of a stream, one per file
 *
 * Returns the number written to @out, or a negative errno (-ESRCH: gone).
 */
int device_find(pid_t pid, struct device_candidate out[DEVICE_FIND_MAX]);

/*
 * device_find_files - a hash of the streams' files that process @pid has descriptors of
 *
 * 0 = none, or no permission. Costs a readlink() per descriptor, a hundredth of the cost of reading the maps of a process
 * with thousands of mappings (measured: 6 ms for MindSpore's); but a program may have closed the descriptor.
 */
uint64_t device_find_files(pid_t pid);

/*
 * device_find_open - opens a candidate for reading and writing
 *
 * Through the process' descriptor or, if the program has closed that, through
 * map_files. Only opens a memory file of ordinary pages that cannot shrink.
 * Returns a close-on-exec descriptor; -ENOENT if it is gone, -EPERM if it is not
 * sealed or access is denied, or another negative errno.
 */
int device_find_open(pid_t pid, const struct device_candidate *candidate);

/*
 * device_find_pid - the id of process @pid in its own pid namespace, and in
 * *@foreign whether that differs from the daemon's namespace
 *
 * Returns the id or a negative errno.
 */
int device_find_pid(pid_t pid, int *foreign);

#endif /* PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FIND_H */
