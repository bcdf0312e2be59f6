/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_busy.h - were the other devices of a device's file busy?
 *
 * A task may wait for a task of another device (an event, a collective). What was in the same file explains such a wait;
 * devices of other files do not count, because their processes need not have to do with this one.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_FILE_BUSY_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_FILE_BUSY_H

#include <stdint.h>

#include "analyzer/model/model.h"

struct file_busy;

/* Returns NULL without memory. Costs nothing until the first question. @model, with sorted tasks, must outlive it. */
struct file_busy *file_busy_new(const struct model *model);
void file_busy_free(struct file_busy *busy);

/*
 * file_busy_elsewhere - was another device of the same file busy for more than half of a time?
 *
 * Returns 1 or 0, or -ENOMEM. Takes O(log n) for each other device of the file.
 */
int file_busy_elsewhere(struct file_busy *busy, uint32_t device, uint64_t start_ns, uint64_t end_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_FILE_BUSY_H */
