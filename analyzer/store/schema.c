/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export_filter.h"

void table_begin(struct table_cursor *at, const struct table_data *of)
{
	*at = (struct table_cursor){ .of = of, .limit = UINT64_MAX, .inner_limit = UINT64_MAX };
}

static const struct {
	enum column_type type;
	const char *name;
} UNITS_KNOWN[UNITS] = {
	[UNIT_ROW] = { COLUMN_INTEGER, "" },
	[UNIT_NUMBER] = { COLUMN_INTEGER, "" },
	[UNIT_COUNT] = { COLUMN_INTEGER, "" },
	[UNIT_FLAG] = { COLUMN_INTEGER, "0 or 1" },
	[UNIT_STATUS] = { COLUMN_INTEGER, "" },
	[UNIT_NS] = { COLUMN_INTEGER, "ns" },
	[UNIT_SHORT_NS] = { COLUMN_INTEGER, "ns" },
	[UNIT_INSTANT] = { COLUMN_INTEGER, "instant, ns" },
	[UNIT_BYTES] = { COLUMN_INTEGER, "bytes" },
	[UNIT_PERCENT] = { COLUMN_REAL, "%" },
	[UNIT_REAL] = { COLUMN_REAL, "" },
	[UNIT_TEXT] = { COLUMN_TEXT, "" },
};

enum column_type column_type(const struct column *column)
{
	return UNITS_KNOWN[column->unit].type;
}

const char *column_type_name(const struct column *column)
{
	static const char *const names[] = {
		[COLUMN_INTEGER] = "INTEGER", [COLUMN_REAL] = "REAL", [COLUMN_TEXT] = "TEXT"
	};

	return names[column_type(column)];
}

const char *column_unit_name(const struct column *column)
{
	return UNITS_KNOWN[column->unit].name;
}

int table_data_init(struct table_data *data, const struct model *model,
		    const struct results *results, const struct export_options *options)
{
	*data = (struct table_data){ .model = model,
				     .results = results,
				     .options = options,
				     .threads = export_threads(model, options),
				     .syscalls = syscall_table_new(
					     model_text(model, model->info.arch)) };
	return data->threads && data->syscalls ? 0 : -ENOMEM;
}

void table_data_free(struct table_data *data)
{
	free(data->threads);
	data->threads = NULL;
	if (data->syscalls)
		syscall_table_free(data->syscalls);
	data->syscalls = NULL;
}
