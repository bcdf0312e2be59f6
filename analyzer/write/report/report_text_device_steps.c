/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as the devices ran them. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/analyse/device_steps.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static uint64_t reduce_ns(const struct device_step_trace *trace, const struct device_step_row *row)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < row->reduce_count; i++)
		ns += trace->reduces[row->first_reduce + i].total_ns;
	return ns;
}

static void signed_ms(struct table *table, bool known, double ns)
{
	if (known)
		table_format(table, "%.3f", ns / 1e6);
	else
		table_unknown(table);
}

static void add_mean(struct table *table, const struct device_step_trace *trace)
{
	const struct device_step_means *means = &trace->means;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < trace->mean_reduce_count; i++)
		ns += trace->mean_reduces[i].total_ns;
	table_row(table);
	table_text(table, "mean");
	table_empty(table);
	signed_ms(table, true, means->duration_ns);
	signed_ms(table, !trace->rows[0].first || trace->count > 1, means->gap_ns);
	signed_ms(table, means->bp_steps > 0, means->fp_bp_ns);
	signed_ms(table, means->bp_steps > 0, means->tail_ns);
	signed_ms(table, true, (double)ns / means->steps);
	signed_ms(table, true, means->busy_ns);
}

static void add_row(struct table *table, const struct model *model,
		    const struct device_step_trace *trace, const struct device_step_row *row)
{
	table_row(table);
	table_count(table, row->number);
	table_ms_after(table, model->info.session_start_ns, row->start_ns);
	table_ms(table, row->end_ns - row->start_ns);
	signed_ms(table, !row->first, (double)row->gap_ns);
	signed_ms(table, row->bp_end_ns != 0, (double)row->fp_bp_ns);
	signed_ms(table, row->bp_end_ns != 0, (double)row->tail_ns);
	table_ms(table, reduce_ns(trace, row));
	table_ms(table, row->busy_ns);
}

static int print_rows(FILE *out, const struct model *model, const struct device_step_trace *trace,
		      const struct report_options *options)
{
	uint32_t shown = rows_shown(options, trace->count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "step", TABLE_RIGHT);
	table_column(table, "start ms", TABLE_RIGHT);
	table_column(table, "duration ms", TABLE_RIGHT);
	table_column(table, "gap ms", TABLE_RIGHT);
	table_column(table, "fp+bp ms", TABLE_RIGHT);
	table_column(table, "tail ms", TABLE_RIGHT);
	table_column(table, "collectives ms", TABLE_RIGHT);
	table_column(table, "device busy ms", TABLE_RIGHT);
	if (trace->means.steps)
		add_mean(table, trace);
	for (uint32_t i = 0; i < shown; i++)
		add_row(table, model, trace, &trace->rows[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "steps", trace->count, shown);
	return err;
}

/* "Stream 3: 12.0 collectives and 4.200 ms a step". */
static void print_streams(FILE *out, const struct device_step_trace *trace)
{
	for (uint32_t i = 0; i < trace->mean_reduce_count; i++) {
		const struct step_reduce *reduce = &trace->mean_reduces[i];

		if (reduce->stream == MODEL_ID_NONE)
			fputs("Of no stream", out);
		else
			fprintf(out, "Stream %" PRIu64, reduce->stream);
		fprintf(out, ": %.1f collectives and %.3f ms of them a step\n",
			(double)reduce->count / trace->means.steps,
			(double)reduce->total_ns / trace->means.steps / 1e6);
	}
}

int text_device_steps(FILE *out, const struct model *model, const struct results *results,
		      const struct report_options *options)
{
	const struct device_step_results *all = results->device_steps;
	char name[128];
	int err = 0;

	if (!all || all->main == INDEX_NONE)
		return 0;
	print_heading(out, options, "Steps of the devices");
	for (uint32_t i = 0; i < all->count && !err; i++) {
		const struct device_step_trace *trace = &all->traces[i];

		fprintf(out, "Device %u: %u steps, known from %s",
			model->devices.row[trace->device].id, trace->count,
			step_source_text(trace->source));
		if (trace->source == STEPS_INFERRED)
			fprintf(out, " (%.0f %% of the kernels)", trace->confidence);
		if (trace->fp_name)
			fprintf(out, "; they begin with %s",
				printable(model_text(model, trace->fp_name), name, sizeof(name)));
		fputs("\n", out);
		if (trace->means.steps && !(trace->count == 1 && trace->rows[0].first))
			fputs("The mean leaves out the first step.\n", out);
		err = print_rows(out, model, trace, options);
		if (!err)
			print_streams(out, trace);
	}
	return err;
}
