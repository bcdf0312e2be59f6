/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of runtimes, the work that they launched, and the sums of calls in device files. */
#include <inttypes.h>

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/analyse/calls/launched.h"
#include "analyzer/analyse/calls/probe_cost.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define NAME_SIZE 128

/* ---- By function */

#define API_FIGURES(COLUMN)                                                             \
	COLUMN(open_ns, NS, "open", "how long calls have lasted that had not returned", \
	       cell_known(row->open, row->open_ns))                                     \
	COLUMN(unrecorded, COUNT, "too short", "calls below the requested minimum "     \
					       "(--min-duration)",                      \
	       cell_u64(row->unrecorded))

DEFINE_FIGURES(api_figures, struct api_usage, API_FIGURES, NULL);

static const struct view_column API_COLUMNS[] = {
	{ "function.runtime", .how = VIEW_EMPTY },
	{ "function.name", "function", VIEW_SHRINK | VIEW_EMPTY },
	{ "function.symbol", .how = VIEW_JSON | VIEW_EMPTY },
	{ "function.kind" },
	{ "function.file", .how = VIEW_JSON | VIEW_EMPTY },
	{ "process.pid", .how = VIEW_IF_DIFFERS },
	{ "count" },
	{ "open" },
	{ "open_ns", .how = VIEW_JSON },
	{ "left_calls", "left", VIEW_IF_ANY },
	{ "end_unknown", .how = VIEW_IF_ANY },
	{ "errors" },
	{ "inner_calls", "inner", VIEW_TEXT | VIEW_IF_ANY },
	{ "inner_calls", "inner", VIEW_JSON },
	{ "unrecorded", .how = VIEW_IF_ANY },
	{ "total_ns" },
	{ "mean_ns" },
	{ "min_ns", .how = VIEW_JSON },
	{ "p50_ns" },
	{ "p99_ns" },
	{ "max_ns" },
	{ NULL },
};

static const struct view API = { "api", "functions", &table_api, API_COLUMNS,
				 .figures = &api_figures };

#define TOTAL_COLUMNS(COLUMN)                                                                      \
	COLUMN(family, TEXT, "family", "runtimes whose layers belong together",                    \
	       cell_string(model, row->family))                                                    \
	COLUMN(pid, NUMBER, "pid", "who called",                                            \
	       cell_known(!model->processes.row[row->process].worded,                              \
			  model->processes.row[row->process].pid))                                 \
	COLUMN(count, COUNT, "calls", "calls, without those inside of others",                     \
	       cell_u64(row->count))                                                               \
	COLUMN(end_unknown, COUNT, "end unknown", "calls whose end is not known",                  \
	       cell_not_0(row->unknown))                                                           \
	COLUMN(total_ns, NS, "total", "time in the others", cell_u64(row->total_ns))

DEFINE_NEXT(next_total, at->of->results->api, totals, total_count)
DEFINE_FIGURES(totals, struct api_total, TOTAL_COLUMNS, next_total);

static const struct view_column TOTALS[] = {
	{ "family", .how = VIEW_EMPTY },
	{ "pid" },
	{ "count" },
	{ "end_unknown" },
	{ "total_ns" },
	{ NULL },
};

static const struct view API_TOTALS = { "api_totals", "runtimes", &totals, TOTALS };

static void print_totals(const struct report *report, double seconds)
{
	const struct api_results *api = report->results->api;
	const struct model *model = report->model;
	uint32_t shown = rows_shown(report->options, api->total_count);
	char family[NAME_SIZE], name[NAME_SIZE];

	for (uint32_t i = 0; i < shown; i++) {
		const struct api_total *total = &api->totals[i];
		const struct process *process = &model->processes.row[total->process];
		const char *known = model_text(model, total->family);
		char pid[16] = "";

		if (!process->worded)
			snprintf(pid, sizeof(pid), "%u%s", process->pid,
				 *model_text(model, process->name) ? " " : "");
		fprintf(report->out,
			"%s in process %s%s: %" PRIu64 " call%s, %.3f ms inside, all threads "
			"together",
			printable(*known ? known : "unknown", family, sizeof(family)), pid,
			printable(model_text(model, process->name), name, sizeof(name)),
			total->count, plural_s(total->count), (double)total->total_ns / 1e6);
		if (seconds > 0)
			fprintf(report->out, " (%.1f %% of one thread's time)",
				100 * (double)total->total_ns / 1e9 / seconds);
		if (total->unknown)
			fprintf(report->out, ", and %" PRIu64 " call%s whose end is not known",
				total->unknown, plural_s(total->unknown));
		fputc('\n', report->out);
	}
	text_more(report->out, "runtimes", api->total_count, shown);
}

/* Explains columns that matter only in few traces. */
static void print_legend(const struct report *report)
{
	const struct api_results *api = report->results->api;
	const struct probe_cost_results *cost = report->results->probe_cost;
	uint64_t open = 0, open_ns = 0, left = 0, end_unknown = 0, inner = 0, unrecorded = 0;
	FILE *out = report->out;

	for (uint32_t i = 0; i < api->row_count; i++) {
		open += api->rows[i].open;
		open_ns += api->rows[i].open_ns;
		left += api->rows[i].left;
		end_unknown += api->rows[i].end_unknown;
		inner += api->rows[i].inner;
		unrecorded += api->rows[i].unrecorded;
	}
	if (open)
		fprintf(out,
			"open: had not returned when the recording or the thread ended; their %.3f "
			"ms in sum are not in the times of the table\n",
			(double)open_ns / 1e6);
	if (left)
		fputs("left: ended by an exception, longjmp or unwinding, at an unknown time; not "
		      "in the times of the table\n",
		      out);
	if (end_unknown)
		fputs("end unknown: only the entry was recorded; not in the times of the table\n", out);
	if (cost && cost->subtracted)
		fputs("the probes' cost is subtracted from the times (--subtract-probe-cost); 0: "
		      "not more than that cost\n",
		      out);
	if (inner)
		fputs("inside others: made by a call of the same runtime; not counted again in the "
		      "sums above\n",
		      out);
	if (unrecorded)
		fputs("too short: below the requested minimum (--min-duration); counted, but not in p50 to max\n",
		      out);
}

/* ---- Kernels, operators and collectives by name, below the functions that launched them */

#define LAUNCHED_FIGURES(COLUMN)                                                             \
	COLUMN(named, TEXT, "named by", "how its name is known, if it is",                   \
	       cell_text(row->name ? call_named_text(row->named) : NULL))                    \
	COLUMN(mean_ns, SHORT_NS, "mean", "of those that returned",                          \
	       cell_known(row->returned, row->returned ? row->total_ns / row->returned : 0)) \
	COLUMN(prepared, COUNT, "prepared", "operators prepared for the launch",             \
	       cell_known(row->phases, row->prepared))                                       \
	COLUMN(reused, COUNT, "reused", "prepared once, launched before",                    \
	       cell_known(row->phases, row->reused))                                         \
	COLUMN(unprepared, COUNT, "unprepared", "whose preparation was not recorded",        \
	       cell_known(row->phases, row->unprepared))                                     \
	COLUMN(prepare_count, COUNT, "prepare calls", "calls that prepare",                  \
	       cell_known(row->phases, row->prepare_count))                                  \
	COLUMN(prepare_ns, NS, "prepare", "time in these", cell_known(row->phases, row->prepare_ns))

DEFINE_FIGURES(launched_figures, struct launched_usage, LAUNCHED_FIGURES, NULL);

#define PHASE (VIEW_IF_KNOWN | VIEW_BLANK)

static const struct view_column LAUNCHED_COLUMNS[] = {
	{ "runtime", .how = VIEW_EMPTY },
	{ "name", .how = VIEW_SHRINK },
	{ "named", .how = VIEW_TEXT | VIEW_BLANK },
	{ "named_by", .how = VIEW_JSON },
	{ "process.pid", .how = VIEW_IF_DIFFERS },
	{ "count" },
	{ "errors" },
	{ "total_ns" },
	{ "mean_ns" },
	{ "prepared", .how = PHASE },
	{ "reused", .how = PHASE },
	{ "unprepared", .how = PHASE },
	{ "prepare_count", .how = VIEW_JSON },
	{ "prepare_ns", .how = PHASE },
	{ NULL },
};

static const struct view LAUNCHED = { "launched", "launched names", &table_launched,
				      LAUNCHED_COLUMNS, .figures = &launched_figures };

static int print_launched(const struct report *report)
{
	const struct launched_results *launched = report->results->launched;
	bool phases = false;
	int err;

	if (!launched || !launched->row_count)
		return 0;
	fputc('\n', report->out);
	err = view_text(report, &LAUNCHED);
	for (uint32_t i = 0; i < launched->row_count; i++)
		phases |= launched->rows[i].phases;
	if (phases)
		fputs("prepared: the operator was prepared (GetWorkspaceSize) for this launch; "
		      "reused: prepared once, launched before; unprepared: its preparation was not "
		      "recorded\n",
		      report->out);
	return err;
}

/* ---- Sums of calls from msprof */

#define STATISTIC_FIGURES(COLUMN) \
	COLUMN(mean_ns, SHORT_NS, "mean", "their mean", cell_u64(row->total_ns / row->count))

DEFINE_FIGURES(statistic_figures, struct api_statistic_row, STATISTIC_FIGURES, NULL);

static const struct view_column STATISTIC_COLUMNS[] = {
	{ "level" },
	{ "name", .how = VIEW_SHRINK | VIEW_EMPTY },
	{ "process.pid", .how = VIEW_JSON },
	{ "file.path", "file", VIEW_JSON },
	{ "count" },
	{ "total_ns" },
	{ "mean_ns" },
	{ "min_ns" },
	{ "max_ns" },
	{ "variance_us2", .how = VIEW_JSON },
	{ NULL },
};

static const struct view STATISTIC = { "api_statistics", NULL, &table_api_statistic,
				       STATISTIC_COLUMNS, .figures = &statistic_figures };

static bool is_told(const struct table_cursor *at, const struct table_cursor *outer)
{
	return ((const struct api_statistic_row *)at->row)->file != INDEX_NONE;
}

/* Traced calls are in the tables above. */
static const struct view TOLD = { NULL,
				  "functions",
				  &table_api_statistic,
				  STATISTIC_COLUMNS,
				  .figures = &statistic_figures,
				  .where = is_told };

/* ---- Activities of the host, from device files */

static const struct view_column SCOPE_COLUMNS[] = {
	{ "kind" },
	{ "name", .how = VIEW_SHRINK },
	{ "process.pid", .how = VIEW_IF_DIFFERS },
	{ "count" },
	{ "total_ns" },
	{ "self_ns" },
	{ "min_ns", .how = VIEW_JSON },
	{ "max_ns" },
	{ NULL },
};

static const struct view SCOPES_VIEW = { "host_scopes", "scopes", &table_host_scopes,
					 SCOPE_COLUMNS, .optional = true };

/* ---- The whole section */

static bool api_empty(const struct report *report)
{
	return report->results->api->row_count == 0 && !view_count(report, &SCOPES_VIEW, NULL) &&
	       !view_count(report, &TOLD, NULL);
}

static int api_text(const struct report *report)
{
	const struct results *results = report->results;
	int err = 0;

	print_heading(report->out, report->options, "Runtime API calls");
	if (results->api->row_count == 0) {
		fputs("none were recorded\n", report->out);
	} else {
		print_totals(report, (double)(results->to_ns - results->from_ns) / 1e9);
		fputc('\n', report->out);
		err = view_text(report, &API);
		print_legend(report);
		if (!err)
			err = print_launched(report);
	}
	if (!err && view_count(report, &SCOPES_VIEW, NULL)) {
		fputs("\nHost functions, from the timeline of the device file:\n", report->out);
		err = view_text(report, &SCOPES_VIEW);
	}
	if (err || !view_count(report, &TOLD, NULL))
		return err;
	fputs("\nSums from a device file:\n", report->out);
	return view_text(report, &TOLD);
}

static void api_json(const struct report *report)
{
	view_json(report, &API);
	view_json(report, &API_TOTALS);
	view_json(report, &LAUNCHED);
	view_json(report, &SCOPES_VIEW);
	if (report->results->api_statistic)
		view_json(report, &STATISTIC);
}

const struct section section_api = { api_text, api_json,
				     VIEWS(&API, &API_TOTALS, &LAUNCHED, &SCOPES_VIEW, &STATISTIC,
					   &TOLD),
				     .empty = api_empty };
