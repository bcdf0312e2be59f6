/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/lake/lake.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/export/lake/lake_pipeline.h"
#include "analyzer/export/lake/lake_rows.h"
#include "analyzer/export/tables/parquet_file.h"
#include "lib/trace/clocks.h"

#define HOST_SIZE 80

static int failed(const char *what, const char *path, int err, char *error, size_t error_size)
{
	snprintf(error, error_size, "cannot %s %s: %s", what, path, strerror(-err));
	return err;
}

static int make_folder(const char *path, char *error, size_t error_size)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return failed("make the folder", path, -errno, error, error_size);
}

static int write_rows(const char *path, const struct data_table *table, const struct lake_data *lake)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	struct parquet_file *file = NULL;
	struct table_cursor at;
	int err, closed;

	err = parquet_open(&file, path, table, "rank");
	for (table_begin(&at, &lake->data); !err && table->next(&at);) {
		table->cells(&at, UINT64_MAX, cells);
		err = parquet_row(file, cells);
	}
	closed = file ? parquet_close(file) : 0;
	return err ? err : closed;
}

/* Readers take *.parquet: a file that is being written has another name. */
static int write_table(const char *folder, const char *name, const struct data_table *table,
		       const struct lake_data *lake, char *error, size_t error_size)
{
	char path[PATH_MAX], wanted[PATH_MAX], temporary[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", folder, table->name) >= (int)sizeof(path) ||
	    snprintf(wanted, sizeof(wanted), "%s/%s.parquet", path, name) >= (int)sizeof(wanted) ||
	    snprintf(temporary, sizeof(temporary), "%s/.%s.%d", path, name, (int)getpid()) >=
		    (int)sizeof(temporary))
		return failed("write to", folder, -ENAMETOOLONG, error, error_size);
	err = make_folder(path, error, error_size);
	if (err)
		return err;
	err = write_rows(temporary, table, lake);
	if (!err && rename(temporary, wanted))
		err = -errno;
	if (!err)
		return 0;
	unlink(temporary);
	return failed("write", wanted, err, error, error_size);
}

/* "<host>-<start time>-<first rank>": unique for a run, and the same when the run is added again. */
static void name_run(const struct model *model, const struct lake_rows *rows, char *name, size_t size)
{
	const char *host = model_text(model, model->info.hostname);
	uint64_t first = model->info.start_realtime_ns;
	char safe[HOST_SIZE];
	size_t i;

	if (!first)
		first = model->tasks.row[0].start_ns;
	for (i = 0; host[i] && i + 1 < sizeof(safe); i++)
		safe[i] = isalnum((unsigned char)host[i]) || host[i] == '.' ? host[i] : '_';
	safe[i] = '\0';
	snprintf(name, size, "%s-%" PRIu64 "%05u", *safe ? safe : "host", first,
		 rows->ranks.count ? rows->ranks.row[0].rank : 0);
}

int write_lake(struct model *model, const struct results *results, const char *path,
	       const struct lake_options *options, char *error, size_t error_size)
{
	const struct export_options all = { 0 };
	struct lake_rows rows;
	struct lake_data lake = { .rows = &rows };
	char name[HOST_SIZE + 64];
	int err = lake_rows_make(model, results, options, &rows, error, error_size);

	lake.host = model->info.hostname;
	if (!err && (lake_pipeline_make(model, results, &rows) || table_data_init(&lake.data, model, results, &all))) {
		snprintf(error, error_size, "out of memory");
		err = -ENOMEM;
	}
	if (!err) {
		name_run(model, &rows, name, sizeof(name));
		err = make_folder(path, error, error_size);
		for (const struct data_table *const *table = lake_tables; *table && !err; table++)
			err = write_table(path, name, *table, &lake, error, error_size);
		table_data_free(&lake.data);
	}
	lake_rows_free(&rows);
	return err;
}
