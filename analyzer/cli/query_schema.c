/* SPDX-License-Identifier: Apache-2.0 */
/* The list of tables and their columns. */
#include <errno.h>
#include <string.h>

#include "analyzer/cli/query.h"
#include "analyzer/store/all_tables.h"
#include "analyzer/export/lake/lake.h"
#include "analyzer/view/render/csv_file.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/render/written.h"

static void schema_text(FILE *out, const struct data_table *table)
{
	fprintf(out, "%s - %s\n", table->name, table->meaning);
	for (unsigned int i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		const char *unit = column_unit_name(column);

		fprintf(out, "  %-26s %-8s %s%s%s%s\n", column->name, column_type_name(column),
			column->meaning, *unit ? " (" : "", unit, *unit ? ")" : "");
	}
	fputc('\n', out);
}

static void schema_markdown(FILE *out, const struct data_table *table)
{
	fprintf(out,
		"\n## %s\n\nA row: %s.\n\n| column | type | unit | meaning |\n|---|---|---|---|\n",
		table->name, table->meaning);
	for (unsigned int i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		fprintf(out, "| `%s` | %s | %s | %s |\n", column->name, column_type_name(column),
			column_unit_name(column), column->meaning);
	}
}

static void schema_csv(struct csv_file *csv, const struct data_table *table)
{
	for (unsigned int i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		csv_text(csv, table->name);
		csv_text(csv, column->name);
		csv_text(csv, column_type_name(column));
		csv_text(csv, column_unit_name(column));
		csv_text(csv, column->heading);
		csv_text(csv, column->meaning);
		csv_end_row(csv);
	}
}

static void schema_json(struct json *json, const struct data_table *table)
{
	json_map(json, NULL);
	json_text(json, "name", table->name);
	json_text(json, "meaning", table->meaning);
	json_array(json, "columns");
	for (unsigned int i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		json_map(json, NULL);
		json_text(json, "name", column->name);
		json_text(json, "type", column_type_name(column));
		if (*column_unit_name(column))
			json_text(json, "unit", column_unit_name(column));
		json_text(json, "heading", column->heading);
		json_text(json, "meaning", column->meaning);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

static const char MARKDOWN_TITLE[] =
	"<!-- Made by: analyzer query --schema --format markdown -->\n"
	"# Tables\n"
	"\n"
	"What `analyzer query`, `--to csv`, `--to sqlite` and `--to parquet` know. Instants are "
	"nanoseconds of the traced\n"
	"host's CLOCK_MONOTONIC, as in the JSON report; what is unknown is NULL. A column that is "
	"called like a table\n"
	"(`thread`) holds the number of a row of it.\n";

static const char LAKE_TITLE[] =
	"<!-- Made by: analyzer lake --schema --format markdown -->\n"
	"# The lake\n"
	"\n"
	"`analyzer lake RUN... -o LAKE` adds what ranks are compared by to a directory that all hosts of a job share: "
	"`LAKE/<table>/*.parquet`,\n"
	"a file for each run, written beside and renamed into place. The same run added again replaces its own files. Any "
	"engine that reads\n"
	"Parquet can ask it: `select rank, median(step_ns) from 'LAKE/steps/*.parquet' group by rank` in DuckDB. Instants "
	"are nanoseconds of\n"
	"each host's own CLOCK_REALTIME; what is unknown is NULL. `rank` is INT32, other integers are INT64.\n"
	"\n"
	"`profbpf-fleet report LAKE` says of it who holds the job back: [fleet.md](fleet.md).\n";

static bool has_table(const struct data_table *const *tables, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, tables[i]->name) == 0)
			return true;
	}
	return false;
}

static int write_schema(FILE *out, const struct data_table *const *tables, size_t count, const char *title,
			const char *name, enum query_format format)
{
	struct csv_file csv = { .out = out };
	struct json *json = NULL;

	if (name && !has_table(tables, count, name))
		return -ENOENT;
	if (format == QUERY_JSON && !(json = json_new(out, true)))
		return -ENOMEM;
	if (json)
		json_array(json, NULL);
	if (format == QUERY_CSV)
		fputs("table,column,type,unit,heading,meaning\n", out);
	if (format == QUERY_MARKDOWN && !name)
		fputs(title, out);
	for (size_t i = 0; i < count; i++) {
		if (name && strcmp(name, tables[i]->name) != 0)
			continue;
		switch (format) {
		case QUERY_JSON: schema_json(json, tables[i]); break;
		case QUERY_CSV: schema_csv(&csv, tables[i]); break;
		case QUERY_MARKDOWN: schema_markdown(out, tables[i]); break;
		default: schema_text(out, tables[i]);
		}
	}
	if (json) {
		json_array_close(json);
		return json_end(json);
	}
	return csv.err ? csv.err : stream_flush(out);
}

int query_schema(FILE *out, const char *name, enum query_format format)
{
	size_t count;
	const struct data_table *const *tables = tables_all(&count);

	return write_schema(out, tables, count, MARKDOWN_TITLE, name, format);
}

int lake_schema(FILE *out, const char *name, enum query_format format)
{
	size_t count = 0;

	while (lake_tables[count])
		count++;
	return write_schema(out, lake_tables, count, LAKE_TITLE, name, format);
}
