/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/tables/table_files.h"
#include "analyzer/store/all_tables.h"

#include "analyzer/export/export_error.h"

int write_table_files(write_table_fn *write, const struct model *model,
		      const struct results *results, const char *folder,
		      const struct export_options *options, char *error, size_t error_size)
{
	struct table_data data;
	size_t count;
	const struct data_table *const *tables = tables_all(&count);
	int err = table_data_init(&data, model, results, options);

	for (size_t i = 0; i < count && !err; i++)
		err = write(tables[i], &data, folder);
	table_data_free(&data);
	if (err)
		export_explain(err, folder, error, error_size);
	return err;
}
