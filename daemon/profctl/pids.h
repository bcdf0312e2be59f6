/* SPDX-License-Identifier: Apache-2.0 */
/* pids.h - a list of process ids as users write it. */
#ifndef PROFBPF_DAEMON_PROFCTL_PIDS_H
#define PROFBPF_DAEMON_PROFCTL_PIDS_H

#include <stddef.h>
#include <stdint.h>

struct pids {
	uint32_t *pid; /* owned */
	size_t count;
};

/*
 * pids_add - append those in "PID[,PID...]", each once
 *
 * Returns 0, -ENOMEM, or -EINVAL with a message in @error.
 */
int pids_add(struct pids *pids, const char *text, char *error, size_t error_size);
void pids_free(struct pids *pids);

#endif /* PROFBPF_DAEMON_PROFCTL_PIDS_H */
