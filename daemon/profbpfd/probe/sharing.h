/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharing.h - how many targets, and how many other processes, map a file?
 *
 * The machine's processes are looked at once, when a session starts, so that the
 * answer costs nothing later, when a target has just loaded a library and every
 * millisecond counts. A stranger that maps the file afterwards is not noticed: it
 * pays for a breakpoint that ignores it.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sharing;

/*
 * sharing_new - note what every process of the machine but this one maps
 *
 * Reads /proc/PID/maps of all of them; those that may not be looked at count as
 * mapping nothing. Returns NULL without memory or without /proc.
 */
struct sharing *sharing_new(void);
void sharing_free(struct sharing *sharing);

struct sharers {
	size_t ours, strangers;
};

/*
 * sharing_count - how many processes mapped the file
 *
 * @dev is KERNEL_DEV() as /proc/PID/maps tells it; @ours decides about a process.
 */
void sharing_count(const struct sharing *sharing, uint32_t dev, uint64_t inode,
		   bool (*ours)(void *context, pid_t pid), void *context, struct sharers *count);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_SHARING_H */
