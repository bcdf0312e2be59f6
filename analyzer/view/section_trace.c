/* SPDX-License-Identifier: Apache-2.0 */
/* The recording: when, where and by whom it was made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/define_table.h"
#include "analyzer/model/translate.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/sections.h"

#define LINE_SIZE 4096

/* ---- The description, for JSON */

#define FILE_COLUMNS(COLUMN) \
	COLUMN(file, TEXT, "file", "a file that was read", cell_string(model, *row))

static bool next_file(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->files);
}

DEFINE_FIGURES(trace_files, uint32_t, FILE_COLUMNS, next_file);

static const struct view_column FILE_SHOWN[] = { { "file", .how = VIEW_EMPTY }, { NULL } };

static const struct view FILES = { "files", NULL, &trace_files, FILE_SHOWN, VIEW_LIST };

#define WINDOW_COLUMNS(COLUMN)                                                             \
	COLUMN(start_ns, INSTANT, "start", "from when on it is reported",                  \
	       cell_known(row->to_ns != UINT64_MAX, row->from_ns))                         \
	COLUMN(duration_ns, NS, "duration", "for how long; unknown: nothing has a time",   \
	       cell_known(row->to_ns != UINT64_MAX, row->to_ns - row->from_ns))

static bool next_window(struct table_cursor *at)
{
	return cursor_rows(at, at->of->results, 1, sizeof(*at->of->results));
}

DEFINE_FIGURES(windows, struct results, WINDOW_COLUMNS, next_window);

static const struct view WINDOW = { "window", NULL, &windows, NULL, VIEW_ONE };

#define TARGET_COLUMNS(COLUMN) \
	COLUMN(pid, NUMBER, "pid", "a process that was to be recorded", cell_u64(*row))

static bool next_target(struct table_cursor *at)
{
	const struct trace_info *info = &at->of->model->info;

	return cursor_rows(at, info->targets, info->target_count, sizeof(*info->targets));
}

DEFINE_FIGURES(targets, uint32_t, TARGET_COLUMNS, next_target);

static const struct view TARGETS = { "targets", NULL, &targets, NULL, VIEW_LIST };

#define COST_COLUMNS(COLUMN)                                                                     \
	COLUMN(instruction, TEXT, "instruction", "class of the probed instruction; none: any",   \
	       cell_string(model, row->instruction))                                             \
	COLUMN(inside_ns, NS, "inside", "of it in the recorded duration",                        \
	       cell_u64(row->inside_ns))                                                         \
	COLUMN(whole_ns, NS, "whole", "of the caller's time", cell_u64(row->whole_ns))

static bool next_cost(struct table_cursor *at)
{
	const struct trace_info *info = &at->of->model->info;

	return cursor_rows(at, info->probe_costs, info->probe_cost_count,
			   sizeof(*info->probe_costs));
}

DEFINE_FIGURES(probe_costs, struct probe_cost, COST_COLUMNS, next_cost);

static const struct view COSTS = { "costs", NULL, &probe_costs, NULL, .within = view_all };

#define PROBE_COLUMNS(COLUMN)                                                            \
	COLUMN(subtracted, FLAG, "subtracted", "it is subtracted from calls' durations", \
	       cell_flag(row->subtracted))                                               \
	COLUMN(calls, COUNT, "calls", "how many were probed", cell_u64(row->calls))      \
	COLUMN(total_ns, NS, "total", "what their probes took at least, about",          \
	       cell_u64(row->total_ns))

static bool next_probes(struct table_cursor *at)
{
	const struct probe_cost_results *cost = at->of->results->probe_cost;

	return cost && cost->known && cursor_rows(at, cost, 1, sizeof(*cost));
}

DEFINE_FIGURES(probes, struct probe_cost_results, PROBE_COLUMNS, next_probes);

static const struct view PROBES = { "probes", NULL, &probes, NULL, VIEW_ONE, .inside = { &COSTS } };

/* Returns the one figure of most interest: the cost of the class of most functions. */
static struct cell probe_cost(const struct table_data *of)
{
	const struct probe_cost_results *cost = of->results->probe_cost;
	const struct trace_info *info = &of->model->info;

	for (uint32_t i = 0; cost && cost->known && i < info->probe_cost_count; i++) {
		const char *name = model_text(of->model, info->probe_costs[i].instruction);

		if (!*name || strcmp(name, "emulated") == 0)
			return cell_u64(info->probe_costs[i].inside_ns);
	}
	return cell_none();
}

#define TRACE_COLUMNS(COLUMN)                                                                      \
	COLUMN(hostname, TEXT, "host", "name of the machine", cell_string(model, row->hostname))   \
	COLUMN(kernel, TEXT, "kernel", "its version of Linux", cell_string(model, row->kernel))    \
	COLUMN(arch, TEXT, "architecture", "of its CPUs", cell_string(model, row->arch))           \
	COLUMN(producer, TEXT, "recorder", "what recorded", cell_string(model, row->producer))     \
	COLUMN(topics, TEXT, "topics", "what was to be recorded", cell_string(model, row->topics)) \
	COLUMN(cpus, COUNT, "CPUs", "of the machine", cell_not_0(row->cpus))                       \
	COLUMN(start_ns, INSTANT, "start", "of the recording", cell_u64(row->session_start_ns))    \
	COLUMN(duration_ns, NS, "duration", "of the recording",                                    \
	       cell_u64(row->session_end_ns - row->session_start_ns))                              \
	COLUMN(start_realtime_ns, INSTANT, "start", "of the recording, since 1970 in UTC",         \
	       cell_not_0(row->start_realtime_ns))                                                 \
	COLUMN(system_wide, FLAG, "system wide", "all processes were recorded",                    \
	       cell_flag(row->system_wide))                                                        \
	COLUMN(min_duration_ns, NS, "shortest", "shorter calls were counted only",                 \
	       cell_u64(row->min_duration_ns))                                                     \
	COLUMN(probe_cost_ns, NS, "probe", "what most probes add to a recorded duration",          \
	       probe_cost(of))                                                                     \
	COLUMN(daemon_cpu_ns, NS, "recorder's CPU", "CPU time that the recorder used",             \
	       cell_not_0(row->daemon_cpu_ns))

static bool next_trace(struct table_cursor *at)
{
	return cursor_rows(at, &at->of->model->info, 1, sizeof(at->of->model->info));
}

DEFINE_FIGURES(traces, struct trace_info, TRACE_COLUMNS, next_trace);

static const struct view TRACE = { NULL, NULL, &traces, NULL, VIEW_ONE };

/* ---- Text */

/* Writes "label text", broken between words where the terminal ends. */
static void line(FILE *out, const struct report_options *options, const char *label,
		 const char *text)
{
	wrap_line(out, label, 14, text, options->width);
}

static const char *known(const struct model *model, uint32_t id)
{
	const char *text = model_text(model, id);

	return *text ? text : "unknown";
}

static void print_host(FILE *out, const struct model *model, const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	char text[512];

	if (!info->cpus)
		snprintf(text, sizeof(text), "unknown: the file's header could not be read");
	else
		snprintf(text, sizeof(text), "%s, Linux %s %s, %u CPUs",
			 known(model, info->hostname), known(model, info->kernel),
			 known(model, info->arch), info->cpus);
	line(out, options, "host", text);
}

static void print_times(FILE *out, const struct model *model, const struct results *results,
			const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	time_t seconds = (time_t)(info->start_realtime_ns / 1000000000);
	char when[64] = "unknown date", text[256];
	struct tm utc;

	if (info->start_realtime_ns && gmtime_r(&seconds, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &utc);
	snprintf(text, sizeof(text), "%.3f s from %s",
		 (double)(info->session_end_ns - info->session_start_ns) / 1e9, when);
	line(out, options, "recorded", text);
	/* A session without known instants has no analysed part. */
	if (info->session_end_ns <= info->session_start_ns ||
	    (results->from_ns == info->session_start_ns && results->to_ns == info->session_end_ns))
		return;
	snprintf(text, sizeof(text),
		 "only what happened from %.6f s to %.6f s after the start is shown below",
		 ((double)results->from_ns - (double)info->session_start_ns) / 1e9,
		 ((double)results->to_ns - (double)info->session_start_ns) / 1e9);
	line(out, options, "part", text);
}

static const struct process *find_process(const struct model *model, uint32_t pid)
{
	for (uint32_t i = 0; i < model->processes.count; i++) {
		if (model->processes.row[i].pid == pid)
			return &model->processes.row[i];
	}
	return NULL;
}

static void print_targets(FILE *out, const struct model *model,
			  const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	uint32_t shown = rows_shown(options, info->target_count);
	char text[LINE_SIZE];

	if (info->system_wide)
		line(out, options, "targets", "the whole machine");
	for (uint32_t i = 0; i < shown; i++) {
		const struct process *process = find_process(model, info->targets[i]);
		const char *cmdline = process ? model_text(model, process->cmdline) : "";
		const char *name = process ? model_text(model, process->name) : "";

		snprintf(text, sizeof(text), "%u %s%s%s", info->targets[i],
			 *name ? name : "(nothing is known about it)", *cmdline ? ": " : "", cmdline);
		line(out, options, i == 0 && !info->system_wide ? "targets" : "", text);
	}
	text_more(out, "targets", info->target_count, shown);
	if (info->follow && !info->system_wide)
		line(out, options, "", "and the processes they start");
}

static void print_recorder(FILE *out, const struct model *model,
			   const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	char text[512];

	snprintf(text, sizeof(text), "%s, topics: %s", known(model, info->producer),
		 known(model, info->topics));
	line(out, options, "recorder", text);
	if (info->daemon_cpu_ns) {
		snprintf(text, sizeof(text), "the recorder used %.1f ms of CPU time",
			 (double)info->daemon_cpu_ns / 1e6);
		line(out, options, "cost", text);
	}
}

static void print_probe_cost(FILE *out, const struct model *model,
			     const struct probe_cost_results *cost,
			     const struct report_options *options)
{
	const struct trace_info *info = &model->info;
	const char *label = info->daemon_cpu_ns ? "" : "cost";
	char text[LINE_SIZE];

	if (!cost || !cost->known)
		return;
	for (uint32_t i = 0; i < info->probe_cost_count; i++) {
		const struct probe_cost *row = &info->probe_costs[i];

		snprintf(text, sizeof(text),
			 "a probe (instruction: %s): %u ns of the recorded duration, %u ns of the "
			 "caller's time",
			 row->instruction ? model_text(model, row->instruction) : "any",
			 row->inside_ns, row->whole_ns);
		line(out, options, label, text);
		label = "";
	}
	if (!cost->calls)
		return;
	snprintf(text, sizeof(text), "the probes of %" PRIu64 " calls took at least about %.3f ms; %s",
		 cost->calls, (double)cost->total_ns / 1e6,
		 cost->subtracted ? "it is subtracted from the calls' durations"
				  : "the calls' durations include it (see --subtract-probe-cost)");
	line(out, options, label, text);
}

bool text_nothing_recorded(FILE *out, const struct model *model)
{
	if (model->files.count || !model->imports.count)
		return false;
	fputs(tr("no recording: all figures are from device files\n"), out);
	return true;
}

static int trace_text(const struct report *report)
{
	const struct report_options *options = report->options;
	const struct results *results = report->results;
	const struct model *model = report->model;
	FILE *out = report->out;

	print_heading(out, options, "Trace");
	if (text_nothing_recorded(out, model))
		return 0;
	for (uint32_t i = 0; i < model->files.count; i++)
		line(out, options, i ? "" : "file", model_text(model, model->files.row[i]));
	print_host(out, model, options);
	print_times(out, model, results, options);
	print_targets(out, model, options);
	print_recorder(out, model, options);
	print_probe_cost(out, model, results->probe_cost, options);
	return 0;
}

const struct section section_trace = { trace_text, NULL,
				       VIEWS(&TRACE, &FILES, &WINDOW, &TARGETS, &PROBES), "trace" };
