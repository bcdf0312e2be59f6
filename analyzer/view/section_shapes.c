/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by step, for networks whose shapes change. */
#include "analyzer/analyse/device/operator_steps.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

static const struct view_column STEP_COLUMNS[] = {
	{ "step" },	    { "count" },	 { "total_ns" }, { "max_ns" },
	{ "input_shapes" }, { "output_shapes" }, { NULL },
};

static const struct view STEPS = { NULL, NULL, &table_operator_steps, STEP_COLUMNS, VIEW_MATRIX };

static struct cell in_step(const struct table_data *of, const struct operator_series *row,
			   uint32_t i)
{
	return i < row->count
		       ? cell_u64(of->results->operator_steps->steps[row->first + i].total_ns)
		       : cell_none();
}

#define OF_TYPE (row->of_type)
#define KIND task_kind_name(row->kind)
#define TYPE (row->type ? model_text(model, row->type) : KIND)
#define IN_STEP(COLUMN, n) \
	COLUMN(in##n, SHORT_NS, "in " #n ".", "in one of the first steps", in_step(of, row, n - 1))

#define SERIES_COLUMNS(COLUMN)                                                               \
	COLUMN(name, TEXT, "name", "the operator",                                           \
	       OF_TYPE ? cell_none() : cell_string(model, row->name))                        \
	COLUMN(label, TEXT, "type", "of operators", OF_TYPE ? cell_text(TYPE) : cell_none()) \
	COLUMN(type, TEXT, "kind", "the kind of its tasks", cell_text(KIND))                 \
	COLUMN(op_type, TEXT, "type", "the type from a device file", cell_string(model,      \
	       row->type))                                                                   \
	COLUMN(core, TEXT, "core", "what ran it", cell_text(operator_core_name(row->core)))  \
	COLUMN(device, ROW, "device", "a row of devices", cell_u64(row->device))             \
	COLUMN(total_ns, NS, "total", "in all steps", cell_u64(row->total_ns))               \
	COLUMN(count, COUNT, "steps", "steps in which it ran", cell_u64(row->count))         \
	COLUMN(shape_changes, COUNT, "new shapes",                                           \
	       "steps whose input shapes are not those of the step before",                  \
	       cell_known(row->shaped, row->changes))                                        \
	COLUMN(step_mean_ns, SHORT_NS, "mean", "of the steps in which it ran",               \
	       cell_u64((uint64_t)row->mean_ns))                                             \
	COLUMN(step_min_ns, SHORT_NS, "min", "the shortest of these", cell_u64(row->min_ns)) \
	COLUMN(step_max_ns, SHORT_NS, "max", "the longest of these", cell_u64(row->max_ns))  \
	IN_STEP(COLUMN, 1)                                                                   \
	IN_STEP(COLUMN, 2)                                                                   \
	IN_STEP(COLUMN, 3)                                                                   \
	IN_STEP(COLUMN, 4)                                                                   \
	IN_STEP(COLUMN, 5) IN_STEP(COLUMN, 6) IN_STEP(COLUMN, 7) IN_STEP(COLUMN, 8)

DEFINE_NEXT(next_series, at->of->results->operator_steps, series, count)
DEFINE_FIGURES(series, struct operator_series, SERIES_COLUMNS, next_series);

static bool is_type(const struct table_cursor *at, const struct table_cursor *outer)
{
	return ((const struct operator_series *)at->row)->of_type;
}

static bool is_operator(const struct table_cursor *at, const struct table_cursor *outer)
{
	return !is_type(at, outer);
}

#define IN(n)                                                                      \
	{                                                                          \
		"in" #n, .how = VIEW_TEXT | VIEW_BLANK, .heading = "us in " #n "." \
	}

#define SERIES                                                                     \
	{ "type", .how = VIEW_JSON }, { "op_type", .how = VIEW_JSON }, { "core" }, \
		{ "device.id", "device" }, { "total_ns", .how = VIEW_JSON },       \
	{                                                                          \
		"count", .how = VIEW_TEXT                                          \
	}

#define TIMES                                                                                      \
	{ "step_mean_ns", .heading = "us per step" }, { "step_min_ns" }, { "step_max_ns" }, IN(1), \
		IN(2), IN(3), IN(4), IN(5), IN(6), IN(7), IN(8),                                   \
	{                                                                                          \
		NULL                                                                               \
	}

static const struct view_column TYPE_COLUMNS[] = { { "label", .how = VIEW_TEXT | VIEW_SHRINK },
						   SERIES,
						   TIMES };

static const struct view_column OPERATOR_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK | VIEW_EMPTY, .unknown = "(no name)" },
	SERIES,
	{ "shape_changes" },
	TIMES,
};

static const struct view TYPES = { "types",	 "types",	   &series,
				   TYPE_COLUMNS, .where = is_type, .inside = { &STEPS } };

static const struct view OPERATORS = {
	"operators",	  "operators",		&series,
	OPERATOR_COLUMNS, .where = is_operator, .inside = { &STEPS }
};

static int shapes_text(const struct report *report)
{
	int err;

	if (!report->results->operator_steps)
		return 0;
	print_heading(report->out, report->options,
		      "Operators by step (time in all of their tasks)");
	if (!report->results->operator_steps->count) {
		fputs("No device task in a known step.\n", report->out);
		return 0;
	}
	err = view_text(report, &TYPES);
	fputs("\n", report->out);
	return err ? err : view_text(report, &OPERATORS);
}

static void shapes_json(const struct report *report)
{
	if (!report->results->operator_steps)
		return;
	json_map(report->json, "shapes");
	view_json(report, &TYPES);
	view_json(report, &OPERATORS);
	json_map_close(report->json);
}

const struct section section_shapes = { shapes_text, shapes_json,
					VIEWS(&TYPES, &OPERATORS), "shapes" };
