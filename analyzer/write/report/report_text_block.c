/* SPDX-License-Identifier: Apache-2.0 */
/* Block requests and major page faults. */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static void block_row(struct table *table, const struct model *model,
		      const struct block_usage *usage)
{
	const struct process *process = &model->processes.row[usage->process];
	const char *device = model_text(model, model->drivers.row[usage->driver].device);
	const struct durations *latency = &usage->latency;

	table_row(table);
	table_text(table, *device ? device : "unknown");
	table_text(table, block_operation_name(usage->operation));
	table_count(table, process->pid);
	table_text(table, model_text(model, process->name));
	table_count(table, latency->count);
	table_count(table, usage->failed);
	table_format(table, "%.1f", (double)usage->bytes / 1024);
	table_us(table, latency->count ? usage->wait_ns / latency->count : 0);
	table_us(table, latency->mean_ns);
	table_us_if(table, latency->has_p50, latency->p50_ns);
	table_us_if(table, latency->has_p99, latency->p99_ns);
	table_us_if(table, latency->has_max, latency->max_ns);
	table_ms(table, usage->slept_ns);
}

static int print_requests(FILE *out, const struct model *model, const struct block_results *block,
			  const struct report_options *options)
{
	static const struct {
		const char *heading;
		int how;
	} columns[] = {
		{ "disk", TABLE_LEFT | TABLE_SHRINK },
		{ "operation", TABLE_LEFT },
		{ "pid", TABLE_RIGHT },
		{ "process", TABLE_LEFT | TABLE_SHRINK },
		{ "requests", TABLE_RIGHT },
		{ "failed", TABLE_RIGHT },
		{ "KiB", TABLE_RIGHT },
		{ "queued us", TABLE_RIGHT },
		{ "mean us", TABLE_RIGHT },
		{ "p50 us", TABLE_RIGHT },
		{ "p99 us", TABLE_RIGHT },
		{ "max us", TABLE_RIGHT },
		{ "slept for ms", TABLE_RIGHT },
	};
	uint32_t shown = rows_shown(options, block->row_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		table_column(table, columns[i].heading, columns[i].how);
	for (uint32_t i = 0; i < shown; i++)
		block_row(table, model, &block->rows[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "rows", block->row_count, shown);
	fputs("queued: mean time before they went to the device; mean to max: from there to their "
	      "completion;\nslept for: time in which the thread that made one slept until it was "
	      "complete\n",
	      out);
	return err;
}

static int print_faults(FILE *out, const struct model *model, const struct fault_results *faults,
			const struct report_options *options)
{
	uint32_t shown = rows_shown(options, faults->row_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "file", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "process", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "faults", TABLE_RIGHT);
	table_column(table, "slept for", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct fault_usage *usage = &faults->rows[i];
		const struct process *process = &model->processes.row[usage->process];

		table_row(table);
		table_text(table, usage->file ? model_text(model, usage->file)
					      : "no file, or unknown");
		table_count(table, process->pid);
		table_text(table, model_text(model, process->name));
		table_count(table, usage->count);
		table_count(table, usage->slept);
		table_ms(table, usage->total_ns);
		table_us(table, usage->max_ns);
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "rows", faults->row_count, shown);
	return err;
}

/* Nothing at all if nothing was recorded: most traces are without. */
int text_io(FILE *out, const struct model *model, const struct results *results,
	    const struct report_options *options)
{
	int err = 0;

	if (results->block && results->block->row_count) {
		print_heading(out, options, "Block I/O");
		err = print_requests(out, model, results->block, options);
	}
	if (!err && results->faults && results->faults->row_count) {
		print_heading(out, options, "Major page faults");
		err = print_faults(out, model, results->faults, options);
	}
	return err;
}
