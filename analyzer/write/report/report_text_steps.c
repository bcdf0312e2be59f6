/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps, and what to do. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define NAME_SIZE 128

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int print_medians(FILE *out, const struct pipeline_steps *steps)
{
	uint64_t *values = calloc((size_t)steps->count + 1, sizeof(*values)), wait_ns;

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = steps->rows[i].data_wait_ns;
	qsort(values, steps->count, sizeof(*values), by_value);
	wait_ns = values[steps->count / 2];
	for (uint32_t i = 0; i < steps->count; i++)
		values[i] = steps->rows[i].duration_ns;
	qsort(values, steps->count, sizeof(*values), by_value);
	fprintf(out,
		"%u steps, from one fetch of a batch to the next; median %.3f ms, of it %.3f ms "
		"waiting for data; longest %.3f ms\n",
		steps->count, (double)values[steps->count / 2] / 1e6, (double)wait_ns / 1e6,
		(double)values[steps->count - 1] / 1e6);
	free(values);
	return 0;
}

static void step_row(struct table *table, const struct model *model, const struct results *results,
		     const struct pipeline *pipeline, const struct step *step)
{
	char name[NAME_SIZE];

	table_row(table);
	table_count(table, step->index);
	table_ms_after(table, model->info.session_start_ns, step->start_ns);
	table_ms(table, step->duration_ns);
	table_ms(table, step->data_wait_ns);
	table_ms(table, step->duration_ns - step->data_wait_ns);
	if (step->op == INDEX_NONE)
		table_empty(table);
	else
		table_text(table,
			   printable(model_text(model, pipeline->operators.row[step->op].name),
				     name, sizeof(name)));
}

int text_steps(FILE *out, const struct model *model, const struct results *results,
	       const struct report_options *options)
{
	const struct step_results *all = results->steps;
	const struct pipeline_steps *steps;
	struct table *table;
	uint32_t shown;
	int err;

	if (!all || all->main == INDEX_NONE)
		return 0;
	steps = &all->pipelines[all->main];
	print_heading(out, options, "Steps");
	err = print_medians(out, steps);
	table = err ? NULL : table_new(options);
	if (!table)
		return -ENOMEM;
	table_column(table, "step", TABLE_RIGHT);
	table_column(table, "start ms", TABLE_RIGHT);
	table_column(table, "duration ms", TABLE_RIGHT);
	table_column(table, "data wait ms", TABLE_RIGHT);
	table_column(table, "rest ms", TABLE_RIGHT);
	table_column(table, "bounded by", TABLE_LEFT | TABLE_SHRINK);
	shown = rows_shown(options, steps->count);
	for (uint32_t i = 0; i < shown; i++)
		step_row(table, model, results, steps->usage->pipeline, &steps->rows[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "steps", steps->count, shown);
	return err;
}

int text_advice(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct advice_results *advice = results->advice;
	uint32_t shown;

	if (!advice || !advice->advice_count)
		return 0;
	shown = rows_shown(options, advice->advice_count);
	print_heading(out, options, "Advice");
	for (uint32_t i = 0; i < shown; i++) {
		const struct advice *row = &advice->list[i];

		fprintf(out, "%s: %s\n  because %s\n  do: %s\n", row->severity, row->title,
			row->evidence, row->remedy);
	}
	text_more(out, "pieces", advice->advice_count, shown);
	return 0;
}
