/* SPDX-License-Identifier: Apache-2.0 */
/* Block requests and major page faults. */
#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/host/faults.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define RDEV (model->drivers.row[row->driver].rdev)
#define LATENCY (row->latency)

#define BLOCK_FIGURES(COLUMN)                                                                    \
	COLUMN(major, NUMBER, "major", "the disk's number", cell_u64((RDEV & 0x7fffffff) >> 20)) \
	COLUMN(minor, NUMBER, "minor", "the disk's number", cell_u64(RDEV & 0xfffff))            \
	COLUMN(queued_mean_ns, SHORT_NS, "queued", "mean time before they went to the disk",     \
	       cell_u64(LATENCY.count ? row->wait_ns / LATENCY.count : 0))                       \
	COLUMN(mean_ns, SHORT_NS, "mean", "from there to the end",                               \
	       cell_known(LATENCY.count, LATENCY.mean_ns))                                       \
	COLUMN(min_ns, SHORT_NS, "min", "the shortest one",                                      \
	       cell_known(LATENCY.has_min, LATENCY.min_ns))                                      \
	COLUMN(p50_ns, SHORT_NS, "p50", "their median",                                          \
	       cell_known(LATENCY.has_p50, LATENCY.p50_ns))                                      \
	COLUMN(p99_ns, SHORT_NS, "p99", "their 99th percentile",                                 \
	       cell_known(LATENCY.has_p99, LATENCY.p99_ns))                                      \
	COLUMN(sleeps, COUNT, "sleeps", "sleeps for them", cell_u64(row->sleeps))

DEFINE_FIGURES(block_figures, struct block_usage, BLOCK_FIGURES, NULL);

static const struct view_column BLOCK_COLUMNS[] = {
	{ "device", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "major", .how = VIEW_JSON },
	{ "minor", .how = VIEW_JSON },
	{ "operation" },
	{ "process.pid" },
	{ "process.name", .how = VIEW_TEXT | VIEW_SHRINK, .heading = "process" },
	{ "count" },
	{ "failed" },
	{ "bytes", .heading = "KiB", .scale = 1024, .decimals = 1 },
	{ "queued_ns", .how = VIEW_JSON },
	{ "total_ns", .how = VIEW_JSON },
	{ "queued_mean_ns", .how = VIEW_TEXT },
	{ "mean_ns" },
	{ "min_ns", .how = VIEW_JSON },
	{ "p50_ns" },
	{ "p99_ns" },
	{ "max_ns" },
	{ "sleeps", .how = VIEW_JSON },
	{ "slept_ns" },
	{ NULL },
};

static const struct view BLOCK = { "block_io", "rows", &table_block_io, BLOCK_COLUMNS,
				   .figures = &block_figures };

static const struct view_column FAULT_COLUMNS[] = {
	{ "file", .how = VIEW_SHRINK, .unknown = "no file, or unknown" },
	{ "process.pid" },
	{ "process.name", .how = VIEW_TEXT | VIEW_SHRINK, .heading = "process" },
	{ "count" },
	{ "slept" },
	{ "total_ns" },
	{ "max_ns" },
	{ NULL },
};

static const struct view FAULTS = { "major_faults", "rows", &table_major_faults, FAULT_COLUMNS };

/* Writes nothing if nothing was recorded, as in most traces. */
static int io_text(const struct report *report)
{
	int err = 0;

	if (view_count(report, &BLOCK, NULL)) {
		print_heading(report->out, report->options, "Block I/O");
		err = view_text(report, &BLOCK);
		fputs("queued: mean time before requests went to the device; mean to max: from there to their completion;\n"
		      "slept for: time in which the requesting thread slept until a request was complete\n",
		      report->out);
	}
	if (!err && view_count(report, &FAULTS, NULL)) {
		print_heading(report->out, report->options, "Major page faults");
		err = view_text(report, &FAULTS);
	}
	return err;
}

const struct section section_io = { io_text, NULL, VIEWS(&BLOCK, &FAULTS) };
