/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounts.h - the growth of a thread's cumulative figures between two instants.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_ACCOUNTS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * accounts_growth - fill *@growth with the figures' growth from @from_ns to @to_ns
 *
 * A thread that was born during the session counts from 0. A thread that existed before but was not
 * read at the session's start counts from its first account. Returns false, and fills nothing, if
 * the thread has no accounts.
 */
bool accounts_growth(const struct model *model, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     struct account *growth);

/*
 * accounts_at - the cumulative figures at an instant, by the same rules
 *
 * Returns false, and fills nothing, if the thread has no accounts.
 */
bool accounts_at(const struct model *model, uint32_t thread, uint64_t ts_ns, struct account *at);

/* Returns the number of rows of model->accounts of a thread, and sets *@first to the first of them. O(log n). */
uint32_t accounts_of(const struct model *model, uint32_t thread, uint32_t *first);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_ACCOUNTS_H */
