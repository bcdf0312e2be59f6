/* SPDX-License-Identifier: Apache-2.0 */
/* told_sums.h - selects and sorts the sums reported by device files that the report shows. */
#ifndef PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H
#define PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * told_sums - rows of model->operator_sums, longest time first
 *
 * Includes sums of devices without reported tasks; with @more also sums by shape or with times of the host, and sums
 * by type before sums by name. Returns an array of *@count rows, which the caller frees, or NULL without memory.
 */
uint32_t *told_sums(const struct model *model, bool more, uint32_t *count);

#endif /* PROFBPF_ANALYZER_VIEW_TOLD_SUMS_H */
