/* SPDX-License-Identifier: Apache-2.0 */
/* Memory allocated by runtimes, and memory records of device files. */
#include <inttypes.h>

#include "analyzer/analyse/memory/memory.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define MIB(text) .heading = text " MiB", .scale = 1024.0 * 1024.0, .decimals = 3

static const struct view_column POINT_COLUMNS[] = { { "ts_ns" }, { "bytes" }, { NULL } };

static const struct view CURVE = { "curve", NULL, &table_memory_curves, POINT_COLUMNS, VIEW_PAIRS };

#define LIVE_FIGURES(COLUMN) \
	COLUMN(total_bytes, BYTES, "total", "of all blocks", cell_u64(row->bytes * row->count))

DEFINE_FIGURES(live_figures, struct memory_live, LIVE_FIGURES, NULL);

static const struct view_column LIVE_COLUMNS[] = {
	{ "function.name", "function", VIEW_SHRINK | VIEW_EMPTY },
	{ "bytes" },
	{ "count" },
	{ "total_bytes", MIB("total") },
	{ "first_ns" },
	{ "thread.tid", .how = VIEW_JSON },
	{ NULL },
};

static const struct view LIVE = { "live", "sizes", &table_memory_live, LIVE_COLUMNS,
				  .figures = &live_figures };

#define LEDGER_FIGURES(COLUMN) \
	COLUMN(exited, FLAG, "exited", "has the process ended?", cell_flag(row->exited))

DEFINE_FIGURES(ledger_figures, struct memory_ledger, LEDGER_FIGURES, NULL);

static const struct view_column LEDGER_COLUMNS[] = {
	{ "process.pid" },
	{ "runtime", .how = VIEW_EMPTY },
	{ "memory" },
	{ "allocations" },
	{ "allocated_bytes", .how = VIEW_JSON },
	{ "failed" },
	{ "frees" },
	{ "unknown_frees", .how = VIEW_JSON },
	{ "peak_bytes", MIB("peak") },
	{ "peak_ns" },
	{ "live_bytes", MIB("left") },
	{ "live_count" },
	{ "exited", .how = VIEW_JSON },
	{ NULL },
};

static const struct view LEDGERS = { "ledgers",
				     "ledgers",
				     &table_memory,
				     LEDGER_COLUMNS,
				     .figures = &ledger_figures,
				     .inside = { &LIVE, &CURVE } };

#define RECORD_POINT_COLUMNS(COLUMN)                                         \
	COLUMN(ts_ns, INSTANT, "time", "from when on", cell_u64(row->ts_ns)) \
	COLUMN(bytes, BYTES, "bytes", "what was in use", cell_u64(row->bytes))

static bool next_point(struct table_cursor *at)
{
	const struct memory_results *memory = at->of->results->memory;

	CURSOR_OUTER(at, memory->series_count)
	{
		const struct memory_curve *curve = &memory->series[at->i].curve;

		if (cursor_inner(at, curve, curve->points, curve->count, sizeof(*curve->points)))
			return true;
	}
	return false;
}

DEFINE_FIGURES(record_points, struct memory_point, RECORD_POINT_COLUMNS, next_point);

static const struct view RECORD_CURVE = { "curve", NULL, &record_points, NULL, VIEW_PAIRS };

static struct cell place_cell(struct table_cursor *at, const struct memory_series *row)
{
	if (row->host)
		return cell_text("host");
	snprintf(at->text[0], sizeof(at->text[0]), "device %u", row->device);
	return cell_text(at->text[0]);
}

#define RECORD_FIGURES(COLUMN)                                                                     \
	COLUMN(place, TEXT, "memory", "whose memory it is", place_cell(at, row))                   \
	COLUMN(memory, TEXT, "memory", "device or host", cell_text(row->host ? "host" : "device")) \
	COLUMN(number, NUMBER, "device", "the file's number of it",                                \
	       cell_known(!row->host, row->device))

DEFINE_FIGURES(record_figures, struct memory_series, RECORD_FIGURES, NULL);

static const struct view_column RECORD_COLUMNS[] = {
	{ "file.path", "file", VIEW_JSON },
	{ "place", .how = VIEW_TEXT },
	{ "memory", .how = VIEW_JSON },
	{ "number", "device", VIEW_JSON },
	{ "component", .how = VIEW_BLANK },
	{ "records" },
	{ "allocations", .how = VIEW_JSON },
	{ "releases", .how = VIEW_JSON },
	{ "peak_bytes", MIB("peak") },
	{ "peak_ns" },
	{ "last_bytes", MIB("at the end") },
	{ "peak_reserved_bytes", MIB("reserved peak") },
	{ NULL },
};

static const struct view RECORDS = { "records",
				     "allocators",
				     &table_memory_allocators,
				     RECORD_COLUMNS,
				     .figures = &record_figures,
				     .inside = { &RECORD_CURVE } };

static int print_left(const struct report *report, struct table_cursor *at)
{
	const struct model *model = report->model;
	const struct memory_ledger *ledger = at->row;

	if (ledger->unknown_frees)
		fprintf(report->out,
			"%" PRIu64 " frees are of memory allocated before the recording\n",
			ledger->unknown_frees);
	if (!ledger->live_rows)
		return 0;
	fprintf(report->out, "\n%s memory of process %u that was not freed%s:\n",
		ledger->host ? "Host" : "Device",
		ledger->process < model->processes.count ? model->processes.row[ledger->process].pid
							 : 0,
		ledger->exited ? " when it ended" : " by the end of the recording");
	return view_text_of(report, &LIVE, at, NULL);
}

static int print_ledgers(const struct report *report)
{
	struct table_cursor at;
	int err;

	if (report->model->info.min_duration_ns)
		fprintf(report->out,
			"Calls shorter than %" PRIu64 " ns were not recorded: they are missing here.\n",
			report->model->info.min_duration_ns);
	err = view_text(report, &LEDGERS);
	view_begin(report, &LEDGERS, NULL, &at);
	while (!err && view_next(&LEDGERS, NULL, &at))
		err = print_left(report, &at);
	return err;
}

static int memory_text(const struct report *report)
{
	const struct memory_results *memory = report->results->memory;
	int err = 0;

	if (!memory || (!memory->ledger_count && !memory->series_count))
		return 0;
	print_heading(report->out, report->options, "Memory");
	if (memory->ledger_count)
		err = print_ledgers(report);
	if (err || !memory->series_count)
		return err;
	fputs("\nFrom device files:\n", report->out);
	return view_text(report, &RECORDS);
}

static void memory_json(const struct report *report)
{
	if (!report->results->memory)
		return;
	json_map(report->json, "memory");
	view_json(report, &LEDGERS);
	view_json(report, &RECORDS);
	json_map_close(report->json);
}

const struct section section_memory = { memory_text, memory_json,
					VIEWS(&LEDGERS, &RECORDS), "memory" };
