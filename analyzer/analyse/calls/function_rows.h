/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_rows.h - find the row in which calls of a function in a process are summed up.
 *
 * The model's calls are sorted by thread: usually the process is that of the function's previous call, and the
 * function's index alone finds the row.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map.h"

/* The row of a function's last look-up; INDEX_NONE = none. */
struct recent_row {
	uint32_t process;
	uint32_t row;
};

struct function_rows {
	struct map known; /* function << 32 | process -> row */
	struct recent_row *recent; /* by function */
};

/* Returns false without memory. @functions: the number of functions; all indices are below it. */
bool function_rows_init(struct function_rows *rows, uint32_t functions);
void function_rows_free(struct function_rows *rows);

/* Returns the row, or INDEX_NONE if there is none yet. */
uint32_t function_rows_get(struct function_rows *rows, uint32_t function, uint32_t process);

/* Returns false without memory. */
bool function_rows_put(struct function_rows *rows, uint32_t function, uint32_t process,
		       uint32_t row);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_FUNCTION_ROWS_H */
