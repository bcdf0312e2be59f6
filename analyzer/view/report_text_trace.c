/* SPDX-License-Identifier: Apache-2.0 */
/* What was recorded: when, where, by whom. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/view/report_parts.h"
#include "analyzer/view/render/table.h"

#define LINE_SIZE 4096

/* A line "label   text", cut to the width of the terminal. */
static void line(FILE *out, const struct report_options *options, const char *label,
		 const char *text)
{
	char clean[LINE_SIZE];
	size_t size = sizeof(clean), room = options->width > 14 ? options->width - 14 : 0;

	if (options->width && room + 1 < size)
		size = room + 1;
	fprintf(out, "%-12s  %s\n", label, printable(text, clean, size));
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
	/* Of a session without a known instant there is no part. */
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
			 *name ? name : "(nothing is known of it)", *cmdline ? ": " : "", cmdline);
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
		 cost->subtracted ? "the calls' durations are without it"
				  : "it is in the calls' durations (see --subtract-probe-cost)");
	line(out, options, label, text);
}

bool text_nothing_recorded(FILE *out, const struct model *model)
{
	if (model->files.count || !model->imports.count)
		return false;
	fputs("nothing was recorded: all that is shown is from device files\n", out);
	return true;
}

int text_trace(FILE *out, const struct model *model, const struct results *results,
	       const struct report_options *options)
{
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
