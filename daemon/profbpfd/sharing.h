/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.h - do other processes map a file? */
#ifndef PROFBPF_DAEMON_SHARING_H
#define PROFBPF_DAEMON_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shared_file {
	uint32_t dev;		/* KERNEL_DEV() as /proc/PID/maps tells it */
	uint64_t inode;
	bool shared;		/* result */
};

/*
 * sharing_find - mark those of @files that a process other than ours maps
 *
 * @ours decides about a process id; the caller's own process counts as ours.
 * Processes that may not be looked at count as not mapping it. Costs a read of
 * /proc/PID/maps of every process of the machine. Returns 0 or a negative errno.
 */
int sharing_find(struct shared_file *files, size_t count, bool (*ours)(void *context, pid_t pid),
		 void *context);

#endif /* PROFBPF_DAEMON_SHARING_H */
