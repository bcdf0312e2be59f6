/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_parts.h"
#include "analyzer/write/table.h"

static void add_row(struct table *table, const struct model *model,
		    const struct overlap_usage *usage, bool stream)
{
	table_row(table);
	table_count(table, model->devices.row[usage->device].id);
	if (!stream)
		table_text(table, "all");
	else if (usage->stream == MODEL_ID_NONE)
		table_text(table, "none");
	else
		table_format(table, usage->stream > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64,
			     usage->stream);
	table_ms(table, usage->computation_ns);
	table_ms(table, usage->communication_ns);
	table_ms(table, usage->overlapped_ns);
	table_ms(table, usage->pure_communication_ns);
	table_ms(table, usage->free_ns);
	table_ms(table, usage->copy_ns);
	table_ms(table, usage->pure_copy_ns);
}

static void add_columns(struct table *table)
{
	table_column(table, "device", TABLE_RIGHT);
	table_column(table, "stream", TABLE_LEFT);
	table_column(table, "computation ms", TABLE_RIGHT);
	table_column(table, "communication ms", TABLE_RIGHT);
	table_column(table, "overlapped ms", TABLE_RIGHT);
	table_column(table, "pure communication ms", TABLE_RIGHT);
	table_column(table, "free ms", TABLE_RIGHT);
	table_column(table, "copies ms", TABLE_RIGHT);
	table_column(table, "pure copies ms", TABLE_RIGHT);
}

int report_text_overlap(FILE *out, const struct model *model, const struct device_results *devices,
			const struct report_options *options)
{
	const struct overlap_results *overlap = &devices->overlap;
	struct table *table;
	int error;

	print_heading(out, options, "Computation and communication");
	if (overlap->count == 0) {
		fputs("No device task that computes, communicates or copies.\n", out);
		return 0;
	}
	table = table_new(options);
	if (!table)
		return -ENOMEM;
	add_columns(table);
	for (uint32_t i = 0; i < overlap->count; i++) {
		const struct overlap_device *device = &overlap->devices[i];
		uint32_t shown = rows_shown(options, device->stream_count);

		add_row(table, model, &device->all, false);
		for (uint32_t k = 0; k < shown; k++)
			add_row(table, model, &device->streams[k], true);
	}
	error = table_print(table, out);
	for (uint32_t i = 0; i < overlap->count; i++)
		text_more(out, "streams", overlap->devices[i].stream_count,
			  rows_shown(options, overlap->devices[i].stream_count));
	table_free(table);
	return error;
}
