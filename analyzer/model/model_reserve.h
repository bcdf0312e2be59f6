/* SPDX-License-Identifier: Apache-2.0 */
/* model_reserve.h - makes room for rows of the model whose number is known before they are made. */
#ifndef PROFBPF_ANALYZER_MODEL_MODEL_RESERVE_H
#define PROFBPF_ANALYZER_MODEL_MODEL_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* model_reserve - used through MODEL_RESERVE. Returns false as model_grow(): then the rows are as before. */
bool model_reserve(void **row, uint32_t *capacity, uint32_t count, uint32_t more, size_t row_size);

/* MODEL_RESERVE(&model->calls, more): the next @more rows are appended without moving the array. */
#define MODEL_RESERVE(array, more)                                                                    \
	model_reserve((void **)&(array)->row, &(array)->capacity, (array)->count, more, sizeof(*(array)->row))

#endif /* PROFBPF_ANALYZER_MODEL_MODEL_RESERVE_H */
