/* SPDX-License-Identifier: Apache-2.0 */
/* rows_fit.h - the limit on the memory of the rows of one kind. */
#ifndef PROFBPF_ANALYZER_MODEL_ROWS_FIT_H
#define PROFBPF_ANALYZER_MODEL_ROWS_FIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * rows_fit - may a block of memory be so large?
 *
 * Half of the machine's memory: better to fail than to make the machine swap or kill; a few bytes of a hostile file,
 * decompressed, make gigabytes of rows. Where large blocks lie in files (cli/spill_wrap.c), as much as there is room for on
 * the disk.
 */
bool rows_fit(uint64_t bytes);

#endif /* PROFBPF_ANALYZER_MODEL_ROWS_FIT_H */
