/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleep_causes.h - which sleeps were major page faults, and which waited for a disk.
 *
 * A sleep in a page fault lies within the record of a major one, or it was in none. A
 * sleep waits for a block device if the thread waits for I/O, or is in a major fault, or
 * sleeps uninterruptibly, and a request of its own is complete during the sleep: the last
 * one before it was woken is what it waited for, as far as it was complete in the
 * WAKE_LATE_NS before. Requests of others that a thread waits for (read ahead by another
 * thread, a journal's) are not told.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H

#include "analyzer/model/model.h"

/* From a request's completion to the wake-up: a thread of the kernel may be in between. */
#define WAKE_LATE_NS 1000000

/* sleep_causes_find - after timelines_build(); 0 or -ENOMEM */
int sleep_causes_find(struct model *model);

/* The request that a sleep waited for, or NULL. O(log n). */
const struct block_request *sleep_request(const struct model *model, const struct span *span);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_SLEEP_CAUSES_H */
