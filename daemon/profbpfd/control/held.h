/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - a process that was asked for, which is not mistaken for another though ids are used again.
 *
 * The kernel holds it by a descriptor. Where those would be too many, it is known by when it began: no id
 * comes round twice within the hundredth of a second to which that is told.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HELD_BY_DESCRIPTOR_MAX 256 /* of a request */

struct held {
	int fd; /* a pidfd; -1 = none */
	uint64_t started; /* process_facts.started; 0 = let go: it has exited, or is another's to hold */
};

#define HELD_NONE ((struct held){ .fd = -1 })

static inline bool held_any(const struct held *held)
{
	return held->fd >= 0 || held->started;
}

/* held_gone - the process has exited; false if it was let go */
bool held_gone(const struct held *held, pid_t pid);

/* held_let_go - close its descriptor; does nothing if it was let go */
void held_let_go(struct held *held);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H */
