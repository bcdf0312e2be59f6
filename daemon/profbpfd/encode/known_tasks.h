/* SPDX-License-Identifier: Apache-2.0 */
/* known_tasks.h - the threads that a writer has described, and describes again in each segment while they live. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H

#include <stdint.h>

#include "daemon/profbpfd/session/item.h"

/* All zeros at first. */
struct known_tasks {
	void *tree; /* of struct task_row, by tid */
	uint32_t turn;
	uint64_t figures; /* number of accounts of threads in this turn */
};

/* known_tasks_note - takes an item of kind TASKS */
void known_tasks_note(struct known_tasks *known, const struct item *item);

/* known_tasks_alive - notes that the threads in @item (records of type REC_ACCOUNT) live in this turn */
void known_tasks_alive(struct known_tasks *known, const struct item *item);

/*
 * known_tasks_turn - drops tasks without records for two turns
 *
 * The end of a thread that is no target's is not recorded. For sessions that read the figures of all threads in each turn;
 * a turn without figures drops nothing.
 */
void known_tasks_turn(struct known_tasks *known);

/*
 * known_tasks_rows - all threads as an item of kind TASKS; NULL without memory
 *
 * The item does not own its rows' texts: set its count to 0 before freeing it.
 */
struct item *known_tasks_rows(const struct known_tasks *known);
void known_tasks_free(struct known_tasks *known);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_KNOWN_TASKS_H */
