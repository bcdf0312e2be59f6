/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/function_rows.h"

#include <stdlib.h>

#include "analyzer/model/model.h"

_Static_assert(INDEX_NONE == MAP_NONE, "what a map does not know is no row");

static uint64_t key_of(uint32_t function, uint32_t process)
{
	return (uint64_t)function << 32 | process;
}

bool function_rows_init(struct function_rows *rows, uint32_t functions)
{
	*rows = (struct function_rows){ .recent = calloc((size_t)functions + 1, sizeof(*rows->recent)) };
	for (uint32_t i = 0; rows->recent && i < functions; i++)
		rows->recent[i].row = INDEX_NONE;
	return rows->recent != NULL;
}

void function_rows_free(struct function_rows *rows)
{
	map_free(&rows->known);
	free(rows->recent);
	*rows = (struct function_rows){ 0 };
}

uint32_t function_rows_get(struct function_rows *rows, uint32_t function, uint32_t process)
{
	struct recent_row *recent = &rows->recent[function];

	if (recent->row == INDEX_NONE || recent->process != process)
		*recent = (struct recent_row){ process, map_get(&rows->known, key_of(function, process)) };
	return recent->row;
}

bool function_rows_put(struct function_rows *rows, uint32_t function, uint32_t process,
		       uint32_t row)
{
	rows->recent[function] = (struct recent_row){ process, row };
	return map_put(&rows->known, key_of(function, process), row);
}
