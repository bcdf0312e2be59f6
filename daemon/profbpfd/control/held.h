/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - identifies a requested process, even though process ids are reused.
 *
 * A pidfd holds the process. If there would be too many descriptors, its start time identifies it: no id is
 * reused within the resolution of the start time, a hundredth of a second.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HELD_BY_DESCRIPTOR_MAX 256 /* per request */

struct held {
	int fd; /* a pidfd; -1 = none */
	uint64_t started; /* process_facts.started; 0 = released: it has exited, or another structure holds it */
};

#define HELD_NONE ((struct held){ .fd = -1 })

static inline bool held_any(const struct held *held)
{
	return held->fd >= 0 || held->started;
}

/* held_gone - has the process exited? False if it was released */
bool held_gone(const struct held *held, pid_t pid);

/* held_let_go - releases it and closes its descriptor; does nothing if it was released */
void held_let_go(struct held *held);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_HELD_H */
