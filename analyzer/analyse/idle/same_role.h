/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_role.h - threads that followed each other in the same role.
 *
 * A process for each item, workers created anew in each epoch, a thread for each request: to the thread that waits
 * for them they are one. Threads with the same name and the same process (main threads of
 * processes: the same parent) have one role if each began after the previous one had ended. This also holds
 * if the processes, or the parents, have one role themselves: the children of shells of which each item has one.
 * Threads that lived at the same time stay separate, and so do Python threads that run different functions
 * (thread_entry.h): the activity of one says nothing about the other.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H

#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * same_roles_find - returns, by thread, the first thread in its role
 *
 * An array of model->threads.count entries, which the caller frees; NULL without memory. O(n log n).
 */
uint32_t *same_roles_find(const struct model *model);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H */
