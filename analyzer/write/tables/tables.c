/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/tables/tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/write/export_filter.h"

int write_tables(struct rows *rows, const struct model *model, const struct results *results,
		 const struct export_options *options)
{
	static void (*const PARTS[])(struct rows *, const struct tables *) = {
		tables_model, tables_model_devices, tables_host, tables_devices,
		tables_steps, tables_memory,	    tables_more,  tables_told,
	};
	bool *threads = export_threads(model, options);
	const struct tables of = {
		.model = model, .results = results, .options = options, .threads = threads
	};

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
		PARTS[i](rows, &of);
	free(threads);
	return rows_finish(rows);
}
