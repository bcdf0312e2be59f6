/* SPDX-License-Identifier: Apache-2.0 */
/* Computation, communication and copies of a device at the same time. */
#include <inttypes.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define DEVICE (&of->results->devices->overlap.devices[at->i])

/* "all", "none", or the stream's number, which may be an address. */
static struct cell stream_cell(struct table_cursor *at, const struct overlap_usage *row)
{
	if (at->outer == row)
		return cell_text("all");
	if (row->stream == MODEL_ID_NONE)
		return cell_text("none");
	snprintf(at->text[0], sizeof(at->text[0]),
		 row->stream > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64, row->stream);
	return cell_text(at->text[0]);
}

#define OVERLAP_FIGURES(COLUMN)                                                            \
	COLUMN(of, TEXT, "stream", "the stream, or all", stream_cell(at, row))             \
	COLUMN(start_ns, INSTANT, "start", "begin of the first kernel or collective",      \
	       cell_known(DEVICE->stage_ns, DEVICE->start_ns))                             \
	COLUMN(stage_ns, NS, "stage", "from there to the end of the last",                 \
	       cell_not_0(DEVICE->stage_ns))                                               \
	COLUMN(overlapped_percent, PERCENT, "overlapped", "of the communication",          \
	       cell_known_real(row->communication_ns, 100.0 * (double)row->overlapped_ns / \
							      (double)row->communication_ns))

DEFINE_FIGURES(overlap_figures, struct overlap_usage, OVERLAP_FIGURES, NULL);

#define USAGE                                                                            \
	{ "computation_ns" }, { "communication_ns" }, { "overlapped_ns" },               \
		{ "overlapped_percent", .how = VIEW_JSON }, { "pure_communication_ns" }, \
		{ "receive_ns", .how = VIEW_JSON }, { "free_ns" }, { "copy_ns" },        \
	{                                                                                \
		"pure_copy_ns"                                                           \
	}

static const struct view_column STREAM_COLUMNS[] = { { "stream", "id" }, USAGE, { NULL } };

static const struct view_column DEVICE_COLUMNS[] = {
	{ "device.id", "device" },
	{ "of", .how = VIEW_TEXT },
	{ "start_ns", .how = VIEW_JSON },
	{ "stage_ns", .how = VIEW_JSON },
	USAGE,
	{ NULL },
};

/* The row for the whole device comes first. */
static void streams_of(struct table_cursor *at, const struct table_cursor *device)
{
	at->i = device->i;
	at->limit = device->i + 1;
	at->m = 1;
}

static bool is_whole(const struct table_cursor *at, const struct table_cursor *outer)
{
	return at->outer == at->row;
}

/* Shows as many streams of each device as requested. */
static bool is_shown(const struct table_cursor *at, const struct table_cursor *outer)
{
	uint32_t top = report_of(at)->options->top;

	return at->outer == at->row || !top || at->k <= top;
}

static const struct view STREAMS = {
	"streams",	     NULL, &table_overlap, STREAM_COLUMNS, .figures = &overlap_figures,
	.within = streams_of
};

static const struct view OVERLAP = { "overlap",
				     NULL,
				     &table_overlap,
				     DEVICE_COLUMNS,
				     .figures = &overlap_figures,
				     .where = is_whole,
				     .inside = { &STREAMS } };

static const struct view SHOWN = {
	NULL, NULL, &table_overlap, DEVICE_COLUMNS, .figures = &overlap_figures, .where = is_shown
};

static bool overlap_empty(const struct report *report)
{
	const struct device_results *devices = report->results->devices;

	return devices && devices->overlap.count == 0;
}

static int overlap_text(const struct report *report)
{
	const struct overlap_results *overlap;
	int err;

	if (!report->results->devices)
		return 0;
	overlap = &report->results->devices->overlap;
	print_heading(report->out, report->options, "Computation and communication");
	if (overlap_empty(report)) {
		fputs("No device task that computes, communicates or copies.\n", report->out);
		return 0;
	}
	err = view_text(report, &SHOWN);
	for (uint32_t i = 0; i < overlap->count; i++)
		text_more(report->out, "streams", overlap->devices[i].stream_count,
			  rows_shown(report->options, overlap->devices[i].stream_count));
	return err;
}

static void overlap_json(const struct report *report)
{
	if (report->results->devices)
		view_json(report, &OVERLAP);
}

const struct section section_overlap = { overlap_text, overlap_json,
					 VIEWS(&OVERLAP, &SHOWN), .empty = overlap_empty };
