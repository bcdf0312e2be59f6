/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/function_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/model.h"

_Static_assert(INDEX_NONE == MAP_NONE, "what a map does not know is no row");

static uint64_t key_of(uint32_t function, uint32_t process)
{
	return (uint64_t)function << 32 | process;
}

static void forget_recent(struct function_rows *rows, uint32_t process)
{
	memset(rows->recent, 0xff, rows->functions * sizeof(*rows->recent));
	rows->process = process;
}

bool function_rows_init(struct function_rows *rows, uint32_t functions)
{
	*rows = (struct function_rows){ .recent = indices_none(functions),
					.functions = functions,
					.process = INDEX_NONE };
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
	if (process != rows->process)
		forget_recent(rows, process);
	if (rows->recent[function] == INDEX_NONE)
		rows->recent[function] = map_get(&rows->known, key_of(function, process));
	return rows->recent[function];
}

bool function_rows_put(struct function_rows *rows, uint32_t function, uint32_t process,
		       uint32_t row)
{
	if (process == rows->process)
		rows->recent[function] = row;
	return map_put(&rows->known, key_of(function, process), row);
}
