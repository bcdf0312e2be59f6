/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/overview.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/analyse/calls/scopes.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/host_waits.h"
#include "analyzer/model/translate.h"
#include "analyzer/store/define_table.h"
#include "analyzer/view/alike.h"
#include "analyzer/view/file_damage.h"
#include "analyzer/view/render/wrap.h"
#include "analyzer/view/render/written.h"
#include "analyzer/view/report_parts.h"
#include "analyzer/view/roots_view.h"
#include "analyzer/view/sections.h"
#include "analyzer/view/step_times.h"
#include "analyzer/view/told_sums.h"

#define INDENT 9 /* the same as the verdict's lines */
#define TEXT_SIZE 1024
#define PART_SIZE 512

static void line(const struct report *report, const char *label, const char *text)
{
	wrap_line(report->out, label, INDENT, text, report->options->width);
}

/* ---- Single lines */

static void tell_recording(const struct report *report)
{
	const struct trace_info *info = &report->model->info;
	const struct capture_results *capture = report->results->capture;
	char text[TEXT_SIZE], losses[PART_SIZE];
	uint32_t targets = 0;

	if (text_nothing_recorded(report->out, report->model)) {
		tell_file_damage(report);
		return;
	}
	tell_file_damage(report);
	if (!capture || !report->model->files.count || info->session_end_ns <= info->session_start_ns)
		return;
	for (uint32_t i = 0; i < report->model->processes.count; i++)
		targets += report->model->processes.row[i].target;
	text_losses(report->model, capture, losses, sizeof(losses));
	snprintf(text, sizeof(text), tr("%.3f s of %u process%s; %s"),
		 (double)(info->session_end_ns - info->session_start_ns) / 1e9, targets,
		 targets == 1 ? "" : "es", losses);
	line(report, tr("recorded"), text);
	if (report->results->from_ns == info->session_start_ns &&
	    report->results->to_ns == info->session_end_ns)
		return;
	snprintf(text, sizeof(text), tr("from %.6f s to %.6f s of it"),
		 ((double)report->results->from_ns - (double)info->session_start_ns) / 1e9,
		 ((double)report->results->to_ns - (double)info->session_start_ns) / 1e9);
	line(report, tr("part"), text);
}

static void tell_machine(const struct report *report)
{
	const struct host_results *host = report->results->host;
	const struct trace_info *info = &report->model->info;
	char text[TEXT_SIZE];

	if (!host || !host->cpu_count || !isfinite(cpu_utilization(&host->all)))
		return;
	snprintf(text, sizeof(text), tr("%.1f %% of %u CPUs busy%s"), cpu_utilization(&host->all),
		 info->cpus, host->all.steal_ns ? tr(", the hypervisor takes a part of the rest") : "");
	line(report, tr("machine"), text);
}

static void tell_device(const struct report *report, const struct device_usage *usage)
{
	const struct device *device = &report->model->devices.row[usage->device];
	const char *name = model_text(report->model, device->name);
	char text[TEXT_SIZE], label[32], file[160], window[WINDOW_SIZE];

	snprintf(label, sizeof(label), "%s %u", device->has_rank ? tr("rank") : tr("device"),
		 device->has_rank ? device->rank : device->id);
	if (usage->window_ns && device->whole)
		snprintf(text, sizeof(text),
			 tr("busy is unknown: the kernels in its tasks are not listed; %" PRIu64 " "
			    "task%s in %s%s%s"),
			 usage->tasks, plural_s(usage->tasks), text_window(usage->window_ns, window, sizeof(window)), *name ? tr("; ") : "", name);
	else if (usage->window_ns)
		snprintf(text, sizeof(text), tr("busy %.1f %% of %s; %" PRIu64 " task%s%s%s"),
			 device_utilization(usage), text_window(usage->window_ns, window, sizeof(window)),
			 usage->tasks, plural_s(usage->tasks),
			 *name ? tr("; ") : "", name);
	else
		snprintf(text, sizeof(text), tr("busy is unknown: %s%s%s"),
			 usage->tasks ? tr("its tasks have no times") : tr("no tasks of it are known"),
			 *name ? tr("; ") : "", name);
	if (device_is_ambiguous(report->model, usage->device))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), tr("; of %s"),
			 device_file_text(report->model, device, file, sizeof(file)));
	line(report, label, text);
}

/* Writes one line for ranks with about the same figures. */
static void tell_ranks(const struct report *report, const struct alike *alike, uint32_t row)
{
	const struct device_results *devices = report->results->devices;
	const struct device *device = &report->model->devices.row[devices->devices[row].device];
	struct alike_range range = alike_range_of(devices, alike, row);
	char text[TEXT_SIZE], ranks[96], busy[64], window[64], tasks[64];

	alike_ranks(report->model, devices, alike, row, ranks, sizeof(ranks));
	snprintf(text, sizeof(text), tr("%u alike, ranks %s: busy %s %% of %s; %s tasks; %s"),
		 alike->count[row], ranks,
		 alike_range_text(range.least_percent, range.most_percent, 1, busy, sizeof(busy)),
		 alike_window_text(&range, window, sizeof(window)),
		 alike_range_text((double)range.least_tasks, (double)range.most_tasks, 0, tasks,
			    sizeof(tasks)),
		 model_text(report->model, device->name));
	line(report, tr("devices"), text);
}

static int tell_devices(const struct report *report)
{
	const struct device_results *devices = report->results->devices;
	struct alike alike = { 0 };
	uint32_t left, more = 0;
	char text[TEXT_SIZE];
	int err;

	if (!devices)
		return 0;
	err = alike_devices(report->model, devices, &alike);
	left = err ? 0 : rows_shown(report->options, alike.groups);
	for (uint32_t i = 0; i < devices->device_count && !err; i++) {
		if (alike.of[i] != i)
			continue;
		if (!left) {
			more += alike.count[i];
			continue;
		}
		left--;
		if (alike.count[i] > 1)
			tell_ranks(report, &alike, i);
		else
			tell_device(report, &devices->devices[i]);
	}
	if (more) {
		snprintf(text, sizeof(text), tr("%u more devices: --section devices"), more);
		line(report, "", text);
	}
	alike_free(&alike);
	return err;
}

static void tell_launches(const struct report *report)
{
	const struct device_results *devices = report->results->devices;
	const struct launch_join *join = devices ? &devices->launches : NULL;
	char text[TEXT_SIZE];

	if (!join || !join->launches || !join->tasks)
		return;
	snprintf(text, sizeof(text),
		 tr("%" PRIu64 " call%s that launch%s, %" PRIu64 " task%s of devices; %" PRIu64
		 " task%s matched with %s call"),
		 join->launches, plural_s(join->launches), join->launches == 1 ? "es" : "", join->tasks,
		 plural_s(join->tasks), join->matched, plural_s(join->matched),
		 join->matched == 1 ? "its" : "their");
	line(report, tr("launches"), text);
}

/* Loops of the host, for device files without a device. */
static void tell_turns(const struct report *report, const struct host_loops *loops)
{
	const struct host_loop *loop;
	char text[TEXT_SIZE];
	uint64_t ns = 0;

	if (report->model->files.count || loops->main == INDEX_NONE)
		return;
	loop = &loops->loops.row[loops->main];
	for (uint32_t i = loop->first; i < loop->first + loop->count; i++)
		ns += loops->turns.row[i].end_ns - loops->turns.row[i].start_ns;
	snprintf(text, sizeof(text), tr("%u of %.3f ms on average; known from %s"), loop->count,
		 (double)ns / loop->count / 1e6, loop_evidence_text(loop->evidence));
	line(report, tr("steps"), text);
}

/* Steps of the trainer, which section steps lists. Returns false if there are none. */
static bool tell_trainer(const struct report *report)
{
	const struct step_results *all = report->results->steps;
	const struct pipeline_steps *steps = all && all->main != INDEX_NONE ? &all->pipelines[all->main] : NULL;
	struct durations times = steps ? trainer_step_times(steps) : (struct durations){ 0 };
	char text[TEXT_SIZE];

	/* Without any time there is no share of it. */
	if (!times.count || !times.has_p50 || !times.has_p99 || !times.total_ns)
		return false;
	snprintf(text, sizeof(text), tr("%u, median %.3f ms, 99th percentile %.3f ms; %.1f %% of their time waiting for data; known from fetches of batches"),
		 steps->count, (double)times.p50_ns / 1e6, (double)times.p99_ns / 1e6, trainer_data_wait(steps));
	line(report, tr("steps"), text);
	return true;
}

static void tell_steps(const struct report *report)
{
	const struct device_step_results *steps = report->results->device_steps;
	const struct device_step_trace *trace;
	char text[TEXT_SIZE], source[256];

	if (!steps || steps->main == INDEX_NONE || !steps->traces[steps->main].means.steps) {
		/* One line of steps: turns are inferred, fetches are not. */
		if (!tell_trainer(report) && steps && steps->main == INDEX_NONE)
			tell_turns(report, &steps->loops);
		return;
	}
	trace = &steps->traces[steps->main];
	step_source_text(trace->source, trace->evidence, source, sizeof(source));
	if (report->model->devices.row[trace->device].whole)
		snprintf(text, sizeof(text), tr("%u of %.3f ms on average; known from %s"),
			 trace->count, trace->means.duration_ns / 1e6, source);
	else
		snprintf(text, sizeof(text), tr("%u of %.3f ms on average, the device busy for %.3f ms of each; known from %s"),
			 trace->count, trace->means.duration_ns / 1e6, trace->means.busy_ns / 1e6, source);
	line(report, tr("steps"), text);
}

static void tell_pipelines(const struct report *report)
{
	const struct advice_results *advice = report->results->advice;
	const struct pipeline_results *pipelines = report->results->pipelines;
	char text[TEXT_SIZE];

	if (!advice || !pipelines)
		return;
	for (uint32_t i = 0; i < rows_shown(report->options, advice->count); i++) {
		const struct bottleneck *b = &advice->bottlenecks[i];
		const struct pipeline *pipeline = pipelines->rows[i].pipeline;

		if (b->kind == BOTTLENECK_NONE)
			continue;
		snprintf(text, sizeof(text), tr("%s is held up by %s; %s"), pipeline->framework,
			 model_text(report->model, pipeline->operators.row[b->op].name),
			 b->reason);
		line(report, tr("data"), text);
	}
}

/* ---- Tables */

static int show_roots(const struct report *report)
{
	const struct results *results = report->results;
	const struct device_results *devices = results->devices;

	if (devices && devices->idle.roots && devices->idle.roots->count)
		return roots_text(report, &idle_roots_view,
				  tr("Where the device's idle time comes from (--section idle)"));
	if (results->waits && results->waits->waits.count)
		return roots_text(report, &wait_roots_view,
				  tr("Where the job's waiting comes from (--section waits)"));
	return 0;
}

static const struct view_column OPERATOR_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK },
	{ "device.id", "device", VIEW_IF_DIFFERS },
	{ "count" },
	{ "total_ns" },
	{ "percent", .heading = "% of device" },
	{ NULL },
};

static const struct view OPERATORS = { NULL, "operators", &table_operators, OPERATOR_COLUMNS };

static const struct view_column SUM_COLUMNS[] = {
	{ "name", .how = VIEW_SHRINK }, { "type", "op_type", VIEW_IF_KNOWN },
	{ "device.id", "device", VIEW_IF_DIFFERS }, { "count" }, { "total_ns" }, { NULL },
};

static const struct view SUMS = { NULL, "operators", &table_operator_sums, SUM_COLUMNS };

static const struct view_column CALL_COLUMNS[] = {
	{ "function.runtime" },
	{ "function.name", .how = VIEW_SHRINK },
	{ "function.kind" },
	{ "process.pid", .how = VIEW_IF_DIFFERS },
	{ "count" },
	{ "total_ns" },
	{ "mean_ns" },
	{ "p99_ns" },
	{ NULL },
};

static const struct view CALLS = { NULL, "functions", &table_api, CALL_COLUMNS };

static const struct view_column TOLD_COLUMNS[] = {
	{ "level" }, { "name", .how = VIEW_SHRINK }, { "count" }, { "total_ns" },
	{ "max_ns", .how = VIEW_IF_KNOWN }, { NULL },
};

/* Only statistics of device files: traced calls are in the table of calls. */
static bool is_told(const struct table_cursor *at, const struct table_cursor *outer)
{
	(void)outer;
	return ((const struct api_statistic_row *)at->row)->file != INDEX_NONE;
}

static const struct view TOLD = { NULL, "functions", &table_api_statistic, TOLD_COLUMNS,
				  .where = is_told };

static const struct view_column SCOPE_COLUMNS[] = {
	{ "kind" },	{ "name", .how = VIEW_SHRINK },
	{ "count" },	{ "total_ns" },
	{ "self_ns" },	{ "max_ns" },
	{ NULL },
};

/* Functions of libraries are left out; the full section shows them. */
static bool is_telling(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct scope_usage *row = at->row;

	(void)outer;
	return at->of->model->functions.row[row->function].scope > SCOPE_LIBRARY;
}

static const struct view SCOPES_VIEW = { NULL, "scopes", &table_host_scopes, SCOPE_COLUMNS,
					 .where = is_telling };

static bool is_target(const struct table_cursor *at, const struct table_cursor *outer)
{
	const struct process_usage *usage = at->row;

	(void)outer;
	return at->of->model->processes.row[usage->process].target;
}

static const struct view_column PROCESS_COLUMNS[] = {
	{ "process.pid", .how = VIEW_LEFT },
	{ "process.name", .how = VIEW_SHRINK },
	{ "utilization_percent" },
	{ "run_ns", .heading = "on CPU ms" },
	{ "runnable_ns", .heading = "ready ms" },
	{ "blocked_ns" },
	{ "rss_bytes", .heading = "RSS MiB", .scale = 1048576, .decimals = 1 },
	{ NULL },
};

static const struct view PROCESSES = { NULL, "processes", &table_process_usage, PROCESS_COLUMNS,
				       .where = is_target };

const struct view *const overview_views[] = { &OPERATORS,   &SUMS,	&CALLS, &TOLD,
					      &SCOPES_VIEW, &PROCESSES, NULL };

static int show(const struct report *report, const struct view *view, const char *heading)
{
	if (!view_count(report, view, NULL))
		return 0;
	fprintf(report->out, tr("\n%s:\n"), heading);
	return view_text(report, view);
}

/* Sums of files without tasks, such as the tables that profilers print. */
static int show_sums(const struct report *report)
{
	struct view sorted = SUMS;
	uint32_t *rows = told_sums(report->model, false, &sorted.order_count);
	int err = 0;

	if (!rows)
		return -ENOMEM;
	sorted.order = rows;
	if (sorted.order_count)
		err = show(report, &sorted,
			   tr("What the device did, from sums in a device file (--section operators)"));
	free(rows);
	return err;
}

static int show_tables(const struct report *report)
{
	const struct results *results = report->results;
	int err = show_roots(report);

	if (!err && results->devices)
		err = show(report, &OPERATORS, tr("What the device did (--section operators)"));
	if (!err && !report->model->tasks.count && report->model->operator_sums.count)
		err = show_sums(report);
	if (!err && results->api)
		err = show(report, &CALLS, tr("What the job called (--section api)"));
	if (!err && results->api_statistic && !report->model->calls.count)
		err = show(report, &TOLD,
			   tr("What the job called, from sums in a device file (--section api)"));
	if (!err && results->scopes)
		err = show(report, &SCOPES_VIEW,
			   tr("Host functions, from the timeline of the device file (--section api)"));
	/* Device files name processes, but nothing more is known of them. */
	if (!err && results->processes && report->model->files.count)
		err = show(report, &PROCESSES, tr("The job's processes; CPU %: 100 is one CPU (--section processes)"));
	return err;
}

/* ---- Advice, and sections with more details */

static int show_advice(const struct report *report)
{
	const struct advice_results *advice = report->results->advice;
	struct alike alike = { 0 };
	char text[TEXT_SIZE], others[64];
	uint32_t shown, seen = 0;
	int err;

	if (!advice || !advice->advice_count)
		return 0;
	err = alike_advice(advice, &alike);
	shown = err ? 0 : rows_shown(report->options, alike.groups);
	if (!err)
		fputs(tr("\nAdvice (--section advice):\n"), report->out);
	for (uint32_t i = 0; i < advice->advice_count && seen < shown; i++) {
		const struct advice *row = &advice->list[i];

		if (alike.of[i] != i)
			continue;
		alike_words(&alike, i, others, sizeof(others));
		snprintf(text, sizeof(text), tr("%s: %s%s"), row->title, row->evidence, others);
		wrap_line(report->out, tr(row->severity), INDENT, text, report->options->width);
		seen++;
	}
	if (!err)
		text_more(report->out, N_("pieces"), alike.groups, shown);
	alike_free(&alike);
	return err;
}

int overview_text(FILE *out, const struct model *model, const struct results *results,
		  const struct report_options *options)
{
	struct report report;
	int err = report_init(&report, model, results, options);

	report.out = out;
	if (!err)
		err = section_verdict.text(&report);
	if (!err) {
		fputc('\n', out);
		tell_recording(&report);
		tell_machine(&report);
		err = tell_devices(&report);
	}
	if (!err) {
		tell_launches(&report);
		tell_steps(&report);
		tell_pipelines(&report);
		err = show_tables(&report);
	}
	if (!err)
		err = show_advice(&report);
	if (!err) {
		fputs(tr("\nAll of the report: --full; a part of it: --section LIST; see analyzer(1).\n"),
		      out);
	}
	report_free(&report);
	return err ? err : stream_flush(out);
}
