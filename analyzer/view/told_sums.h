/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told_sums.h - which of the sums that device files tell are shown, and in which order.
 */
#ifndef PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H
#define PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * told_sums - rows of model->operator_sums, those with most time first
 *
 * Sums of devices whose tasks nobody told; with @more also those by shape or with times of the host, and sums by type
 * before those by name. Returns @count of them, which the caller frees, or NULL without memory.
 */
uint32_t *told_sums(const struct model *model, bool more, uint32_t *count);

#endif /* PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H */
