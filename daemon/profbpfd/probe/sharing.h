/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharing.h - counts the targets, and the other processes, that map a file.
 *
 * The mappings of all processes are read once, when a session starts, so that the
 * answer is quick later, when a target has just loaded a library and every
 * millisecond counts. A process that is no target and maps the file afterwards is not
 * noticed: it pays for a breakpoint that ignores it.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sharing;

/*
 * sharing_new - notes the mappings of every process of the machine except this one
 *
 * Reads /proc/PID/maps of all of them; unreadable ones count as mapping nothing.
 * Returns NULL without memory or without /proc.
 */
struct sharing *sharing_new(void);
void sharing_free(struct sharing *sharing);

struct sharers {
	size_t ours, strangers;
};

/*
 * sharing_count - the number of processes that mapped the file
 *
 * @dev is the KERNEL_DEV() from /proc/PID/maps; @ours: is the process a target?
 */
void sharing_count(const struct sharing *sharing, uint32_t dev, uint64_t inode,
		   bool (*ours)(void *context, pid_t pid), void *context, struct sharers *count);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H */
