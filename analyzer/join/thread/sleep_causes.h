/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleep_causes.h - finds sleeps that were major page faults or waited for a disk.
 *
 * A sleep is in a major page fault if it lies within the record of one. A sleep waits for a block device if the thread
 * waits for I/O, or is in a major fault, or sleeps uninterruptibly, and a request of its own completes during the
 * sleep: the thread waited for the last one that completed in the WAKE_LATE_NS before its wake-up. Requests of other
 * threads that a thread waits for (read ahead by another thread, a journal's) are not found.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H

#include "analyzer/model/model.h"

/* Largest delay from a request's completion to the wake-up: a kernel thread may run in between. */
#define WAKE_LATE_NS 1000000

/* sleep_causes_find - call it after timelines_build(); returns 0 or -ENOMEM */
int sleep_causes_find(struct model *model);

/* Returns the request that a sleep waited for, or NULL. O(log n). */
const struct block_request *sleep_request(const struct model *model, const struct span *span);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H */
