/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/all_tables.h"

#include <string.h>

#define TABLE_ADDRESS(name) &table_##name,

static const struct data_table *const TABLES[] = { ALL_TABLES(TABLE_ADDRESS) };

const struct data_table *const *tables_all(size_t *count)
{
	*count = sizeof(TABLES) / sizeof(TABLES[0]);
	return TABLES;
}

const struct data_table *table_find(const char *name)
{
	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++) {
		if (strcmp(TABLES[i]->name, name) == 0)
			return TABLES[i];
	}
	return NULL;
}

const struct data_table *column_refers_to(const struct column *column)
{
	static const char says[] = "a row of ";
	const char *name = strstr(column->meaning, says);
	size_t length;

	if (column->unit != UNIT_ROW || !name)
		return NULL;
	name += strlen(says);
	length = strcspn(name, ";,: ");
	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++) {
		if (strncmp(TABLES[i]->name, name, length) == 0 && !TABLES[i]->name[length])
			return TABLES[i];
	}
	return NULL;
}
