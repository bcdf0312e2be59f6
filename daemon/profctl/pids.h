/* SPDX-License-Identifier: Apache-2.0 */
/* pids.h - a list of process ids as users write it. */
#ifndef PROFBPF_DAEMON_PROFCTL_PIDS_H
#define PROFBPF_DAEMON_PROFCTL_PIDS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/map.h"

struct pids {
	uint32_t *pid; /* owned */
	size_t count;
	size_t capacity;
	struct map there;
};

/*
 * pids_add - appends the process ids in "PID[,PID...]", or with "@FILE" those in a file, each once
 *
 * In a file they are separated by blanks, line ends and commas; "@-" is standard input.
 * Returns 0, or a negative errno with a message in @error.
 */
int pids_add(struct pids *pids, const char *text, char *error, size_t error_size);

/* pids_append - append @pid, if it is not there. Returns 0 or -ENOMEM. */
int pids_append(struct pids *pids, uint32_t pid);
void pids_free(struct pids *pids);

#endif /* PROFBPF_DAEMON_PROFCTL_PIDS_H */
