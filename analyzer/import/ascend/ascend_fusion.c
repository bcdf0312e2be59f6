/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that a graph's compilation fused into one: fusion_op_*.csv of msprof. Sizes are kilobytes of 1,024;
 * names of the fused operators are separated by semicolons, in older files by commas.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"

#define PARTS 1000 /* sizes are read with three decimals */
#define KILO 1024
#define NO_ID UINT32_MAX /* the files' value for "none" */

enum column {
	C_MODEL,
	C_MODEL_ID,
	C_NAME,
	C_ORIGINALS,
	C_INPUT,
	C_OUTPUT,
	C_WEIGHT,
	C_WORKSPACE,
	C_TOTAL,
	COLUMNS
};

static const char *const NAMES[] = {
	"Model Name",
	"Model ID",
	"Fusion Op",
	"Original Ops",
	"Memory Input(KB)|Memory Input",
	"Memory Output(KB)|Memory Output",
	"Memory Weight(KB)|Memory Weight",
	"Memory Workspace(KB)|Memory Workspace",
	"Memory Total(KB)|Memory Total",
	NULL,
};

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Fusion Op", "Original Ops", NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

static uint64_t size_of(const struct csv_value *value)
{
	int64_t parts;

	if (!value->text || !decimal_scaled(value->text, value->length, 3, &parts) || parts < 0 ||
	    parts > INT64_MAX / KILO)
		return UINT64_MAX;
	return ((uint64_t)parts * KILO + PARTS / 2) / PARTS;
}

/* Counts the names that are not empty. */
static uint32_t count_names(const char *names, const char *between)
{
	uint32_t count = 0;

	while (*names) {
		size_t length = strcspn(names, between);

		count += length > 0;
		names += length + (names[length] != '\0');
	}
	return count;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct import *import = context;
	struct model *model = import->model;
	const char *originals = values[C_ORIGINALS].text ? values[C_ORIGINALS].text : "";
	struct fused_operator row = {
		.model_id = MODEL_ID_NONE,
		.model = model_string(model, values[C_MODEL].text),
		.name = model_string(model, values[C_NAME].text),
		.originals = model_string(model, originals),
		.count = count_names(originals, strchr(originals, ';') ? ";" : ","),
		.input_bytes = size_of(&values[C_INPUT]),
		.output_bytes = size_of(&values[C_OUTPUT]),
		.weight_bytes = size_of(&values[C_WEIGHT]),
		.workspace_bytes = size_of(&values[C_WORKSPACE]),
		.total_bytes = size_of(&values[C_TOTAL]),
		.file = import->file,
	};

	if (values[C_MODEL_ID].text && decimal_unsigned(values[C_MODEL_ID].text,
							values[C_MODEL_ID].length, &row.model_id) &&
	    row.model_id == NO_ID)
		row.model_id = MODEL_ID_NONE;
	if (row.model == INDEX_NONE || row.name == INDEX_NONE || row.originals == INDEX_NONE)
		return -ENOMEM;
	if (!row.name || !row.count)
		return import_finding(import, "fused operators without a name or without what they "
					      "were made of",
				      NULL);
	return MODEL_PUSH(&model->fused_operators, row) ? 0 : -ENOMEM;
}

static int import(struct import *import)
{
	const struct csv_reader reader = { .columns = NAMES, .row = on_row, .context = import, .place = &import->place };
	uint32_t rows = import->model->fused_operators.count;
	char damage[256] = "";
	int err = csv_table_read(import->path, &reader, damage, sizeof(damage));

	return import_end_reading(import, err, import->model->fused_operators.count > rows, damage);
}

const struct importer import_ascend_fusion = {
	.name = "msprof",
	.what = "a table of fused operators (fusion_op_*)",
	.detect = detect,
	.import = import,
};
