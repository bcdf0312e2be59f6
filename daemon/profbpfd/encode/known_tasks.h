/* SPDX-License-Identifier: Apache-2.0 */
/* known_tasks.h - the threads that a writer has described, and describes again in each segment, as long as they live. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H

#include <stdint.h>

#include "daemon/profbpfd/session/item.h"

/* All zeros at first. */
struct known_tasks {
	void *tree; /* of struct task_row, by tid */
	uint32_t turn;
	uint64_t figures; /* of threads, in this turn */
};

/* known_tasks_note - what an item of kind TASKS tells */
void known_tasks_note(struct known_tasks *known, const struct item *item);

/* known_tasks_alive - threads that have an account (records of type REC_ACCOUNT) live in this turn */
void known_tasks_alive(struct known_tasks *known, const struct item *item);

/*
 * known_tasks_turn - forget those who were not heard of for two turns
 *
 * Nobody tells when a stranger's thread ends: for who has the figures of all threads read in each turn. Nothing is
 * forgotten in a turn without figures.
 */
void known_tasks_turn(struct known_tasks *known);

/* known_tasks_rows - all of them, as an item of kind TASKS; its rows' texts are not its own: free it with its count at 0. NULL without memory. */
struct item *known_tasks_rows(const struct known_tasks *known);
void known_tasks_free(struct known_tasks *known);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H */
