/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_rows.h - which row calls of a function in a process are summed up in.
 *
 * Calls of the model come by threads: mostly the process is that of the function's call before, and the row is found by
 * the function's number alone.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map.h"

/* A function's row that was asked for last; INDEX_NONE = none. */
struct recent_row {
	uint32_t process;
	uint32_t row;
};

struct function_rows {
	struct map known; /* function << 32 | process -> row */
	struct recent_row *recent; /* by function */
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
