/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_rows.h - which row calls of a function in a process are summed up in.
 *
 * Calls of the model come by threads: mostly the process is that of the call before, and its rows are found by
 * their function's number alone.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map.h"

struct function_rows {
	struct map known; /* function << 32 | process -> row */
	uint32_t *recent; /* by function: its row in @process, or INDEX_NONE */
	uint32_t functions;
	uint32_t process;
};

/* Returns false without memory. @functions: how many there are; numbers are below. */
bool function_rows_init(struct function_rows *rows, uint32_t functions);
void function_rows_free(struct function_rows *rows);

/* The row, or INDEX_NONE if there is none yet. */
uint32_t function_rows_get(struct function_rows *rows, uint32_t function, uint32_t process);

/* Returns false without memory. */
bool function_rows_put(struct function_rows *rows, uint32_t function, uint32_t process,
		       uint32_t row);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H */
