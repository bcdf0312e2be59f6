/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_role.h - which threads came after each other in the same role.
 *
 * A process for each item, workers made anew in each epoch, a thread for each request: they are one
 * and the same to who waits for them. Threads with the same name, of the same process – the first threads of
 * processes: of the same parent – are one if each began after the one before had ended. So are those of processes, or of
 * parents, that are one themselves: what a shell runs, of which there is one for each item. Those that lived at
 * the same time stay apart, and so do Python threads that run different functions (thread_entry.h): what one does
 * says nothing of the other.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H

#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * same_roles_find - the first thread of each thread's role, by thread
 *
 * An array of model->threads.count, the caller's to free; NULL without memory. O(n log n).
 */
uint32_t *same_roles_find(const struct model *model);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_SAME_ROLE_H */
