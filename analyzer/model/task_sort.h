/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_sort.h - sorting rows of device tasks.
 *
 * @rows are @count indices into model->tasks, sorted in place; equal rows stay in order of their
 * index.
 */
#ifndef PROFBPF_ANALYZER_MODEL_TASK_SORT_H
#define PROFBPF_ANALYZER_MODEL_TASK_SORT_H

#include <stdint.h>

#include "analyzer/model/model.h"

/* By start_ns. */
void tasks_sort_by_start(const struct model *model, uint32_t *rows, uint32_t count);

/* By stream number; equal numbers of different devices are not distinguished. */
void tasks_sort_by_stream(const struct model *model, uint32_t *rows, uint32_t count);

#endif /* PROFBPF_ANALYZER_MODEL_TASK_SORT_H */
