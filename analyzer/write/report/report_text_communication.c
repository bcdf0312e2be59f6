/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

#define NAME_SIZE 256

static int print_table(FILE *out, struct table *table, const char *what, uint32_t count,
		       uint32_t shown)
{
	int err = table_print(table, out);

	table_free(table);
	text_more(out, what, count, shown);
	return err;
}

static void add_operation(struct table *table, const struct model *model,
			  const struct communication_usage *row)
{
	char name[NAME_SIZE];

	table_row(table);
	table_text(table, communication_name(model_text(model, row->name), name, sizeof(name)));
	table_count(table, model->devices.row[row->device].id);
	table_count(table, row->count);
	table_ms(table, row->total_ns);
	table_us(table, row->total_ns / row->count);
	table_us(table, row->max_ns);
	if (row->timed) {
		table_ms(table, row->transit_ns);
		table_ms(table, row->wait_ns);
		table_ms(table, row->synchronization_ns);
	} else {
		table_unknown(table);
		table_unknown(table);
		table_unknown(table);
	}
}

static int print_operations(FILE *out, const struct model *model,
			    const struct communication_results *results,
			    const struct report_options *options)
{
	uint32_t shown = rows_shown(options, results->operation_count);
	struct table *table = table_new(options);

	if (!table)
		return -ENOMEM;
	table_column(table, "operation", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "count", TABLE_RIGHT);
	table_column(table, "total ms", TABLE_RIGHT);
	table_column(table, "mean us", TABLE_RIGHT);
	table_column(table, "max us", TABLE_RIGHT);
	table_column(table, "transit ms", TABLE_RIGHT);
	table_column(table, "wait ms", TABLE_RIGHT);
	table_column(table, "before first transfer ms", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++)
		add_operation(table, model, &results->operations[i]);
	return print_table(out, table, "operations", results->operation_count, shown);
}

static void add_rank(struct table *table, uint32_t rank)
{
	if (rank == INDEX_NONE)
		table_unknown(table);
	else
		table_count(table, rank);
}

static void add_link(struct table *table, const struct model *model, const struct link_usage *row)
{
	table_row(table);
	table_count(table, model->devices.row[row->device].id);
	add_rank(table, row->source);
	add_rank(table, row->destination);
	table_text(table, row->transport ? model_text(model, row->transport) : "unknown");
	table_count(table, row->transfers);
	table_format(table, "%.3f", (double)row->bytes / 1e6);
	table_ms(table, row->transit_ns);
	if (row->transit_ns)
		table_format(table, "%.3f", (double)row->bytes / (double)row->transit_ns);
	else
		table_empty(table);
	table_ms(table, row->wait_ns);
}

static int print_links(FILE *out, const struct model *model,
		       const struct communication_results *results,
		       const struct report_options *options)
{
	uint32_t shown = rows_shown(options, results->link_count);
	struct table *table;

	if (!results->link_count)
		return 0;
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	fputs("\nLinks:\n", out);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "from rank", TABLE_RIGHT);
	table_column(table, "to rank", TABLE_RIGHT);
	table_column(table, "transport", TABLE_LEFT);
	table_column(table, "transfers", TABLE_RIGHT);
	table_column(table, "MB", TABLE_RIGHT);
	table_column(table, "transit ms", TABLE_RIGHT);
	table_column(table, "GB/s", TABLE_RIGHT);
	table_column(table, "wait ms", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++)
		add_link(table, model, &results->links[i]);
	return print_table(out, table, "links", results->link_count, shown);
}

static int print_ranks(FILE *out, const struct model *model,
		       const struct communication_results *results,
		       const struct report_options *options)
{
	struct table *table = table_new(options);

	if (!table)
		return -ENOMEM;
	fputs("\nWho came last to collectives that several ranks take part in:\n", out);
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "collectives", TABLE_RIGHT);
	table_column(table, "came last", TABLE_RIGHT);
	table_column(table, "late ms", TABLE_RIGHT);
	table_column(table, "waited for others ms", TABLE_RIGHT);
	for (uint32_t i = 0; i < results->rank_count; i++) {
		const struct rank_usage *row = &results->ranks[i];

		table_row(table);
		text_device_cell(table, model, row->device);
		table_count(table, row->collectives);
		table_count(table, row->last);
		table_ms(table, row->late_ns);
		table_ms(table, row->wait_ns);
	}
	return print_table(out, table, "ranks", results->rank_count, results->rank_count);
}

static int print_skews(FILE *out, const struct model *model,
		       const struct communication_results *results,
		       const struct report_options *options)
{
	uint32_t shown = rows_shown(options, results->skew_count);
	struct table *table = table_new(options);

	if (!table)
		return -ENOMEM;
	fputs("\nLargest differences between the first and the last rank's start:\n", out);
	table_column(table, "collective", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "start ms", TABLE_RIGHT);
	table_column(table, "ranks", TABLE_RIGHT);
	table_column(table, "skew us", TABLE_RIGHT);
	table_column(table, "duration us", TABLE_RIGHT);
	table_column(table, "last device", TABLE_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct collective_skew *row = &results->skews[i];

		table_row(table);
		table_text(table, model_text(model, row->name));
		table_ms_after(table, model->info.session_start_ns, row->start_ns);
		table_count(table, row->ranks);
		table_us(table, row->skew_ns);
		table_us(table, row->duration_ns);
		text_device_cell(table, model, row->straggler);
	}
	return print_table(out, table, "collectives", results->skew_count, shown);
}

int report_text_communication(FILE *out, const struct model *model,
			      const struct device_results *devices,
			      const struct report_options *options)
{
	const struct communication_results *results = &devices->communication;
	int err = 0;

	print_heading(out, options, "Communication between devices");
	if (!results->operation_count && !results->link_count) {
		fputs("No device task that communicates.\n", out);
		return 0;
	}
	if (results->operation_count)
		err = print_operations(out, model, results, options);
	if (!err)
		err = print_links(out, model, results, options);
	if (!err && results->rank_count)
		err = print_ranks(out, model, results, options);
	if (!err && results->rank_count)
		err = print_skews(out, model, results, options);
	if (results->rank_count && results->unmatched)
		fprintf(out,
			"%" PRIu64 " tasks are of collectives that some ranks have more often than "
			"others: not compared\n",
			results->unmatched);
	return err;
}
