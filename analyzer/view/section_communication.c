/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, links between ranks, and the ranks that arrived last. */
#include <inttypes.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define OPERATION_FIGURES(COLUMN)                                                             \
	COLUMN(mean_ns, SHORT_NS, "mean", "their mean", cell_u64(row->total_ns / row->count)) \
	COLUMN(wait_percent, PERCENT, "wait", "of wait and transit",                          \
	       cell_known_real(row->timed && row->wait_ns + row->transit_ns,                  \
			       100.0 * (double)row->wait_ns /                                 \
				       (double)(row->wait_ns + row->transit_ns)))

DEFINE_FIGURES(operation_figures, struct communication_usage, OPERATION_FIGURES, NULL);

static const struct view_column OPERATION_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "device.id", "device" },
	{ "collective", .how = VIEW_JSON },
	{ "members", .how = VIEW_IF_DIFFERS | VIEW_BLANK | VIEW_SHRINK },
	{ "group_size", .how = VIEW_IF_KNOWN },
	{ "types", .how = VIEW_IF_KNOWN | VIEW_BLANK },
	{ "count" },
	{ "bytes", .how = VIEW_TEXT | VIEW_IF_KNOWN, .heading = "MB", .scale = 1e6, .decimals = 3 },
	{ "bytes", .how = VIEW_JSON },
	{ "total_ns" },
	{ "mean_ns" },
	{ "min_ns", .how = VIEW_JSON },
	{ "max_ns" },
	{ "timed", .how = VIEW_JSON | VIEW_NOT_0 },
	{ "transit_ns" },
	{ "wait_ns" },
	{ "synchronization_ns" },
	{ "idle_ns", .how = VIEW_JSON },
	{ "wait_percent", .how = VIEW_JSON },
	{ "algorithm_gb_per_second", .how = VIEW_IF_KNOWN },
	{ "bus_gb_per_second", .how = VIEW_IF_KNOWN },
	{ NULL },
};

static const struct view OPERATIONS = { "operations", "operations", &table_communication,
					OPERATION_COLUMNS, .figures = &operation_figures };

#define LINK_FIGURES(COLUMN)                                           \
	COLUMN(gigabytes_per_second, REAL, "GB/s", "while data moved", \
	       cell_known_real(row->transit_ns, (double)row->bytes / (double)row->transit_ns))

DEFINE_FIGURES(link_figures, struct link_usage, LINK_FIGURES, NULL);

static const struct view_column LINK_COLUMNS[] = {
	{ "device.id", "device" },
	{ "source" },
	{ "destination" },
	{ "transport" },
	{ "transfers" },
	{ "bytes", .heading = "MB", .scale = 1e6, .decimals = 3 },
	{ "transit_ns" },
	{ "gigabytes_per_second", .how = VIEW_BLANK },
	{ "waits", .how = VIEW_JSON },
	{ "wait_ns" },
	{ NULL },
};

static const struct view LINKS = { "links", "links", &table_links, LINK_COLUMNS,
				   .figures = &link_figures };

#define RANK_FIGURES(COLUMN) \
	COLUMN(label, TEXT, "device", "its number and rank", device_label(at, row->device))

DEFINE_FIGURES(rank_figures, struct rank_usage, RANK_FIGURES, NULL);

static const struct view_column RANK_COLUMNS[] = {
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "device.id", "device", VIEW_JSON },
	{ "device.rank", .how = VIEW_JSON },
	{ "job.id", "job", VIEW_JSON },
	{ "collectives" },
	{ "last" },
	{ "late_ns" },
	{ "wait_ns" },
	{ "clock_offset_ns", .how = VIEW_JSON },
	{ "clock_drift_ppb", .how = VIEW_JSON },
	{ "clock_error_ns", .how = VIEW_JSON },
	{ NULL },
};

static const struct view RANKS = { "ranks", NULL, &table_ranks, RANK_COLUMNS,
				   .figures = &rank_figures };

#define SKEW_FIGURES(COLUMN) \
	COLUMN(label, TEXT, "last device", "its number and rank", device_label(at, row->straggler))

DEFINE_FIGURES(skew_figures, struct collective_skew, SKEW_FIGURES, NULL);

static const struct view_column SKEW_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "start_ns" },
	{ "ranks" },
	{ "skew_ns" },
	{ "duration_ns" },
	{ "label", .how = VIEW_TEXT | VIEW_RIGHT },
	{ "straggler.id", "straggler", VIEW_JSON },
	{ "straggler.rank", "straggler_rank", VIEW_JSON },
	{ NULL },
};

static const struct view SKEWS = { "skews", "collectives", &table_collectives, SKEW_COLUMNS,
				   .figures = &skew_figures };

/* Prints the correction of the times of ranks whose clocks differ. */
static void print_clocks(const struct report *report)
{
	const struct communication_results *results = &report->results->devices->communication;

	for (uint32_t i = 0; i < results->rank_count; i++) {
		const struct rank_usage *rank = &results->ranks[i];
		const struct device *device = &report->model->devices.row[rank->device];

		if (!rank->clock.moved)
			continue;
		fprintf(report->out, "%s %u: its clock was off",
			device->has_rank ? "rank" : "device",
			device->has_rank ? device->rank : device->id);
		fprintf(report->out,
			" by %.3f ms, drift %.0f ppb, error %.3f ms, by the ends of collectives; "
			"corrected here\n",
			(double)rank->clock.offset_ns / -1e6, rank->clock.drift * -1e9,
			(double)rank->clock.error_ns / 1e6);
	}
}

static int print_ranks(const struct report *report)
{
	int err;

	fputs("\nThe last to arrive at collectives of several ranks:\n", report->out);
	err = view_text(report, &RANKS);
	if (err)
		return err;
	print_clocks(report);
	fputs("\nLargest differences between the first and the last rank's start:\n", report->out);
	return view_text(report, &SKEWS);
}

static bool communication_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && !devices->communication.operation_count &&
	       !devices->communication.link_count;
}

static int communication_text(const struct report *report)
{
	const struct communication_results *results;
	int err = 0;

	if (!report->results->devices)
		return 0;
	results = &report->results->devices->communication;
	print_heading(report->out, report->options, "Communication between devices");
	if (communication_empty(report)) {
		fputs("No device task that communicates.\n", report->out);
		return 0;
	}
	if (results->operation_count)
		err = view_text(report, &OPERATIONS);
	if (!err && results->link_count) {
		fputs("\nLinks:\n", report->out);
		err = view_text(report, &LINKS);
	}
	if (!err && results->rank_count)
		err = print_ranks(report);
	if (results->rank_count && results->unmatched)
		fprintf(report->out,
			"%" PRIu64 " tasks belong to collectives that some ranks have more often "
			"than others: not compared\n",
			results->unmatched);
	return err;
}

static void communication_json(const struct report *report)
{
	const struct communication_results *results;

	if (!report->results->devices)
		return;
	results = &report->results->devices->communication;
	json_map(report->json, "communication");
	view_json(report, &OPERATIONS);
	view_json(report, &LINKS);
	if (results->rank_count) {
		view_json(report, &RANKS);
		view_json(report, &SKEWS);
		json_u64(report->json, "unmatched", results->unmatched);
	}
	json_map_close(report->json);
}

const struct section section_communication = { communication_text,
					       communication_json,
					       VIEWS(&OPERATIONS, &LINKS, &RANKS, &SKEWS),
					       "communication",
					       communication_empty };
