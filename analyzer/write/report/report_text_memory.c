/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/analyse/memory.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define MIB (1024.0 * 1024.0)

static void add_mib(struct table *table, uint64_t bytes)
{
	table_format(table, "%.3f", (double)bytes / MIB);
}

static void add_ledger(struct table *table, const struct model *model,
		       const struct memory_ledger *ledger)
{
	table_row(table);
	if (ledger->process < model->processes.count)
		table_count(table, model->processes.row[ledger->process].pid);
	else
		table_unknown(table);
	table_text(table, model_text(model, ledger->family));
	table_text(table, ledger->host ? "host" : "device");
	table_count(table, ledger->allocations);
	table_count(table, ledger->failed);
	table_count(table, ledger->frees);
	add_mib(table, ledger->curve.peak_bytes);
	if (ledger->curve.count)
		table_ms_after(table, model->info.session_start_ns, ledger->curve.peak_ns);
	else
		table_unknown(table);
	add_mib(table, ledger->curve.last_bytes);
	table_count(table, ledger->live_count);
}

static int print_ledgers(FILE *out, const struct model *model, const struct memory_results *memory,
			 const struct report_options *options)
{
	uint32_t shown = rows_shown(options, memory->ledger_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	table_column(table, "pid", TABLE_RIGHT);
	table_column(table, "runtime", TABLE_LEFT);
	table_column(table, "memory", TABLE_LEFT);
	table_column(table, "allocations", TABLE_RIGHT);
	table_column(table, "failed", TABLE_RIGHT);
	table_column(table, "frees", TABLE_RIGHT);
	table_column(table, "peak MiB", TABLE_RIGHT);
	table_column(table, "peak at ms", TABLE_RIGHT);
	table_column(table, "left MiB", TABLE_RIGHT);
	table_column(table, "not freed", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++)
		add_ledger(table, model, &memory->ledgers[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "ledgers", memory->ledger_count, shown);
	return err;
}

static int print_live(FILE *out, const struct model *model, const struct memory_ledger *ledger,
		      const struct report_options *options)
{
	uint32_t shown = rows_shown(options, ledger->live_rows);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	fprintf(out, "\n%s memory of process %u that was not freed%s:\n",
		ledger->host ? "Host" : "Device",
		ledger->process < model->processes.count ? model->processes.row[ledger->process].pid
							 : 0,
		ledger->exited ? " when it ended" : " by the end of the recording");
	table_column(table, "function", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "bytes", TABLE_RIGHT);
	table_column(table, "count", TABLE_RIGHT);
	table_column(table, "total MiB", TABLE_RIGHT);
	table_column(table, "oldest from ms", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct memory_live *row = &ledger->live[i];

		table_row(table);
		table_text(table, model_text(model, model->functions.row[row->function].name));
		table_count(table, row->bytes);
		table_count(table, row->count);
		add_mib(table, row->bytes * row->count);
		table_ms_after(table, model->info.session_start_ns, row->first_ns);
	}
	err = table_print(table, out);
	table_free(table);
	text_more(out, "sizes", ledger->live_rows, shown);
	return err;
}

static void add_series(struct table *table, const struct model *model,
		       const struct memory_series *series)
{
	table_row(table);
	if (series->host)
		table_text(table, "host");
	else
		table_format(table, "device %u", series->device);
	table_text(table, model_text(model, series->component));
	table_count(table, series->records);
	if (series->curve.count) {
		add_mib(table, series->curve.peak_bytes);
		table_ms_after(table, model->info.session_start_ns, series->curve.peak_ns);
		add_mib(table, series->curve.last_bytes);
	} else {
		table_unknown(table);
		table_unknown(table);
		table_unknown(table);
	}
	if (series->has_reserved)
		add_mib(table, series->peak_reserved);
	else
		table_unknown(table);
}

static int print_series(FILE *out, const struct model *model, const struct memory_results *memory,
			const struct report_options *options)
{
	uint32_t shown = rows_shown(options, memory->series_count);
	struct table *table = table_new(options);
	int err;

	if (!table)
		return -ENOMEM;
	fputs("\nAs device files recorded it:\n", out);
	table_column(table, "memory", TABLE_LEFT);
	table_column(table, "component", TABLE_LEFT);
	table_column(table, "records", TABLE_RIGHT);
	table_column(table, "peak MiB", TABLE_RIGHT);
	table_column(table, "peak at ms", TABLE_RIGHT);
	table_column(table, "at the end MiB", TABLE_RIGHT);
	table_column(table, "reserved peak MiB", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++)
		add_series(table, model, &memory->series[i]);
	err = table_print(table, out);
	table_free(table);
	text_more(out, "allocators", memory->series_count, shown);
	return err;
}

int text_memory(FILE *out, const struct model *model, const struct results *results,
		const struct report_options *options)
{
	const struct memory_results *memory = results->memory;
	int err = 0;

	if (!memory->ledger_count && !memory->series_count)
		return 0;
	print_heading(out, options, "Memory");
	if (memory->ledger_count && model->info.min_duration_ns)
		fprintf(out,
			"Calls shorter than %" PRIu64 " ns were not recorded: they lack here.\n",
			model->info.min_duration_ns);
	if (memory->ledger_count)
		err = print_ledgers(out, model, memory, options);
	for (uint32_t i = 0; i < memory->ledger_count && !err; i++) {
		if (memory->ledgers[i].unknown_frees)
			fprintf(out,
				"%" PRIu64
				" frees are of what was allocated before the recording\n",
				memory->ledgers[i].unknown_frees);
		if (memory->ledgers[i].live_rows)
			err = print_live(out, model, &memory->ledgers[i], options);
	}
	if (!err && memory->series_count)
		err = print_series(out, model, memory, options);
	return err;
}
