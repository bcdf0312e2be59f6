/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/analysis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/importer.h"
#include "analyzer/join/thread/ioctl_ends.h"
#include "analyzer/join/thread/sleep_causes.h"
#include "analyzer/analyse/idle/device_bounds.h"
#include "analyzer/join/launch/launch_counts.h"
#include "analyzer/join/launch/launches.h"
#include "analyzer/join/launch/launches_far.h"
#include "analyzer/join/launch/task_reach.h"
#include "analyzer/join/thread/timelines.h"
#include "analyzer/load/load_pbt.h"
#include "analyzer/cli/passes.h"
#include "analyzer/cli/step_window.h"
#include "analyzer/view/file_damage.h"
#include "analyzer/view/report_parts.h"
#include "lib/base/progress.h"
#include "lib/base/ticker.h"

/* Accounts of threads are a second apart, and the time between an account and the part belongs to the account. */
#define PART_MARGIN_NS 2000000000

/* Sections that need the whole recording, or calls before and after the part. */
#define OF_ALL                                                                                   \
	(SECTION_VERDICT | SECTION_PIPELINE | SECTION_STEPS | SECTION_SHAPES | SECTION_CLUSTER | \
	 SECTION_ADVICE | SECTION_JOIN | SECTION_WAITS)

/* The rows of the traces that are kept. */
struct plan {
	uint32_t sections;
	uint32_t rows; /* enum load_rows */
	bool rows_wanted; /* the caller needs the joined rows themselves */
	bool part; /* only the rows for this part of the time, since the session's start */
	bool all_calls; /* also all calls: device tasks are to be joined with them */
	bool first_look; /* the file will be read again, and damage reported then */
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t margin_ns;
	uint64_t first_ns; /* the part and the time that explains it */
	uint64_t last_ns;
	struct progress *progress; /* NULL: no display */
};

static int load_files(struct analysis *analysis, char **traces, unsigned int count,
		      const struct plan *plan, bool *moved, char *error, size_t error_size)
{
	struct loader *loader = loader_new(analysis->model);
	char reason[512] = "";
	int err = 0;

	if (!loader) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	loader_choose(loader, plan->rows);
	loader_watch(loader, plan->progress);
	if (plan->part)
		loader_choose_part(loader, plan->first_ns, plan->last_ns, plan->margin_ns);
	if (plan->part && plan->all_calls)
		loader_keep_calls(loader);
	else if (plan->part && plan->sections & OF_ALL)
		loader_digest(loader, plan->sections & OF_ALL & ~SECTION_JOIN);
	for (unsigned int i = 0; i < count && !err; i++) {
		err = load_pbt(loader, traces[i], reason, sizeof(reason));
		/* Some readers include the file's name in their sentence. */
		if (err && strncmp(reason, traces[i], strlen(traces[i])) == 0)
			snprintf(error, error_size, "%s", reason);
		else if (err)
			snprintf(error, error_size, "%s: %s", traces[i], reason);
	}
	if (!err)
		err = load_finish(loader, error, error_size);
	*moved = !err && loader_part_moved(loader);
	if (!err)
		analysis->far = loader_take_far(loader);
	loader_free(loader);
	return err;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Does the time that explains the part's device tasks exceed the loaded time? Then extends the plan by it. */
static bool reaches_further(const struct model *model, struct plan *plan)
{
	uint64_t start_ns = model->info.session_start_ns, first_ns, last_ns;

	if (!task_reach(model, sum(start_ns, plan->from_ns), sum(start_ns, plan->to_ns), &first_ns,
			&last_ns)) {
		plan->part = false;
		return true;
	}
	first_ns = first_ns > start_ns ? first_ns - start_ns : 0;
	if (last_ns != UINT64_MAX)
		last_ns = last_ns > start_ns ? last_ns - start_ns : 0;
	if (sum(first_ns, plan->margin_ns) >= plan->first_ns &&
	    last_ns <= sum(plan->last_ns, plan->margin_ns))
		return false;
	plan->first_ns = first_ns;
	plan->last_ns = last_ns;
	return true;
}

/* Are there calls of a framework whose operators' work is found by all wake-ups and thread states? */
static bool goes_by_threads(const struct model *model)
{
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct function *function = &model->functions.row[model->calls.row[i].function];
		const char *runtime = model_text(model, function->runtime);

		if ((function->kind == PROFBPF__FUNCTION__KIND__QUEUE ||
		     function->kind == PROFBPF__FUNCTION__KIND__STAGE) &&
		    (strcmp(runtime, "tensorflow") == 0 || strcmp(runtime, "megengine") == 0))
			return true;
	}
	return false;
}

/* Do the loaded part and the counts outside of it suffice for the sections? */
static bool suffices(const struct model *model, uint32_t sections)
{
	if (!(sections & OF_ALL))
		return true;
	if (model->survey.too_many || goes_by_threads(model))
		return false;
	if (model->survey.all_calls)
		return true;
	if (sections & SECTION_JOIN && !launches_counted(model))
		return false;
	return launch_counts_settled(model) && device_bounds_settled(model);
}

/* Extends a plan that did not suffice: by all calls, if the calls' tasks were counted, else to the whole recording. */
static void extend(const struct model *model, struct plan *plan)
{
	bool counted = model->tasks.count || model->survey.tasks;

	if (plan->all_calls || !counted || goes_by_threads(model))
		plan->part = false;
	plan->all_calls = true;
}

/* Is all loaded that the sections need? If not, the plan is extended. */
static bool suffices_or_extend(const struct model *model, struct plan *plan)
{
	if (suffices(model, plan->sections))
		return !reaches_further(model, plan);
	extend(model, plan);
	return false;
}

static void forget(struct analysis *analysis)
{
	model_free(analysis->model);
	free(analysis->far.devices.row);
}

static int load(struct analysis *analysis, char **traces, unsigned int count, struct plan plan,
		bool strict, char *error, size_t error_size)
{
	char damage[512];
	bool again;
	int err;

	do {
		*analysis = (struct analysis){ .model = model_new(),
					       .sections = plan.sections,
					       .rows_wanted = plan.rows_wanted };
		if (!analysis->model) {
			snprintf(error, error_size, "out of memory");
			return -ENOMEM;
		}
		err = load_files(analysis, traces, count, &plan, &again, error, error_size);
		if (err == -EAGAIN && plan.part && !plan.all_calls) {
			plan.all_calls = again = true;
			forget(analysis);
			continue;
		}
		if (err)
			return err;
		if (again)
			plan.part = false;
		else if (plan.part)
			again = !suffices_or_extend(analysis->model, &plan);
		if (again)
			forget(analysis);
	} while (again);
	if (plan.first_look)
		return 0;
	text_damage(analysis->model, damage, sizeof(damage));
	if (damage[0] && strict) {
		snprintf(error, error_size, "%s: %s", count == 1 ? traces[0] : "traces", damage);
		return -EBADMSG;
	}
	if (damage[0] && plan.progress)
		progress_wipe(plan.progress);
	if (damage[0])
		fprintf(stderr, "analyzer: %s: %s (see --strict)\n",
			count == 1 ? traces[0] : "traces", damage);
	return 0;
}

int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size)
{
	const struct plan plan = { .sections = SECTION_ALL, .rows = LOAD_ALL };

	return load(analysis, traces, count, plan, strict, error, error_size);
}

/* A pipe is empty the second time, under any name: /dev/stdin, <(zstd -dc FILE). */
static bool reads_twice(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Converts a plan's instants to times since the session's start, which a first pass over the file finds. If there are
 * devices the plan becomes the whole trace: the join of calls and tasks depends on calls and tasks of other times.
 */
static int settle_instants(struct plan *plan, char **traces, char *error, size_t error_size)
{
	const struct plan look = { .sections = SECTION_TRACE, .first_look = true };
	const struct trace_info *info;
	struct analysis first;
	int err = load(&first, traces, 1, look, false, error, error_size);

	if (!err) {
		info = &first.model->info;
		plan->part = !first.model->devices.count && plan->to_ns > info->session_start_ns;
		plan->from_ns = plan->from_ns > info->session_start_ns
					? plan->from_ns - info->session_start_ns
					: 0;
		if (plan->to_ns != UINT64_MAX)
			plan->to_ns -= info->session_start_ns;
		plan->first_ns = plan->from_ns;
		plan->last_ns = plan->to_ns;
	}
	analysis_free(&first);
	return err;
}

int analysis_load_for(struct analysis *analysis, char **traces, unsigned int count,
		      const struct analysis_wish *wish, bool strict, char *error, size_t error_size)
{
	struct plan plan = { .sections = wish->sections,
			     .rows = passes_rows(wish->sections) | wish->rows,
			     .rows_wanted = wish->rows != 0,
			     .from_ns = wish->from_ns,
			     .to_ns = wish->to_ns,
			     .margin_ns = wish->margin_ns ? wish->margin_ns : PART_MARGIN_NS,
			     .first_ns = wish->from_ns,
			     .last_ns = wish->to_ns,
			     .progress = wish->progress };

	if (wish->calls)
		plan.rows |= LOAD_CALLS;
	/* Files may be given in any order; missing switches are counted in order of time, which needs the rows. */
	if (count > 1)
		plan.rows |= LOAD_SCHEDULE;
	/* A file that cannot be read twice is read whole. */
	plan.part = wish->part && count == 1 && reads_twice(traces[0]);
	if (plan.part && wish->instants) {
		int err = settle_instants(&plan, traces, error, error_size);

		if (err)
			return err;
	}
	return load(analysis, traces, count, plan, strict, error, error_size);
}

/* Makes notes of damage of device files. *@first: the text of the first one, "" if there is none. */
static int note_damage(struct model *model, char *first, size_t size)
{
	char text[1024];

	first[0] = '\0';
	for (uint32_t i = 0; i < model->findings.count; i++) {
		uint32_t note;

		if (!text_file_damage(model, &model->findings.row[i], text, sizeof(text)))
			continue;
		if (!first[0])
			snprintf(first, size, "%s", text);
		note = model_string(model, text);
		if (note == INDEX_NONE || !MODEL_PUSH(&model->notes, note))
			return -ENOMEM;
	}
	return 0;
}

static void say_damage(struct ticker *ticker, const char *damage)
{
	if (ticker)
		ticker_end(ticker);
	fprintf(stderr, "analyzer: %s (see --strict)\n", damage);
	if (ticker)
		ticker_begin(ticker, stderr);
}

int analysis_import(struct analysis *analysis, char **devices, unsigned int count, bool alone,
		    bool strict, char *error, size_t error_size)
{
	char damage[1024];
	int err = 0;

	for (unsigned int i = 0; i < count && !err; i++) {
		ticker_say(analysis->ticker, "reading %s", devices[i]);
		err = import_device_file(analysis->model, devices[i], alone, error, error_size);
	}
	if (err || !count)
		return err;
	err = note_damage(analysis->model, damage, sizeof(damage));
	if (damage[0] && strict) {
		snprintf(error, error_size, "%s", damage);
		return -EBADMSG;
	}
	if (damage[0])
		say_damage(analysis->ticker, damage);
	if (!err)
		err = import_finish(analysis->model, alone);
	if (err)
		snprintf(error, error_size, "out of memory");
	return err;
}

/* Builds the input of the analyses: threads' timelines, causes of sleeps, and device tasks on the host's clock. */
static int join(struct analysis *analysis)
{
	int err;

	/* Sections about the recording itself need no join. */
	if (!(analysis->sections & ~(SECTION_TRACE | SECTION_CAPTURE)) && !analysis->rows_wanted)
		return 0;
	ticker_say(analysis->ticker, "joining");
	err = timelines_build(analysis->model);
	if (!err)
		err = sleep_causes_find(analysis->model);
	if (err)
		return err;
	ioctl_ends_find(analysis->model);
	analysis->results.devices = &analysis->devices;
	err = device_results_join(analysis->model, &analysis->devices);
	if (!err)
		launches_add_far(analysis->model, &analysis->far, &analysis->devices.launches,
				 analysis->devices.clocks);
	return err;
}

/* Computes losses and the cost of probes; and the window of all results. */
static int compute_capture(struct analysis *analysis, const struct analysis_options *options)
{
	struct model *model = analysis->model;
	struct results *results = &analysis->results;
	struct analysis_window window = analysis_window(model, options);
	int err;

	results->from_ns = window.from_ns;
	results->to_ns = window.to_ns > window.from_ns ? window.to_ns : window.from_ns;
	err = capture_analyse(model, results->capture = &analysis->capture);
	if (!err)
		err = probe_cost_analyse(model, options,
					 results->probe_cost = &analysis->probe_cost);
	return err;
}

/* Rows are in memory if no folder has room for them (spill.h). */
static void tell_failure(int err, char *error, size_t error_size)
{
	snprintf(error, error_size, "cannot analyse: %s%s", strerror(-err),
		 err == -ENOMEM ? "; set TMPDIR to a folder on a disk with free space" : "");
}

int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size)
{
	struct analysis_options wanted = *options;
	int err;

	if (!analysis->sections)
		analysis->sections = SECTION_ALL;
	err = join(analysis);

	if (!err && options->has_steps)
		err = step_window_find(analysis->model, &wanted, error, error_size);
	if (err == -ENOENT)
		return err;
	if (!err)
		err = compute_capture(analysis, &wanted);
	if (!err)
		err = passes_run(analysis, &wanted);
	if (err)
		tell_failure(err, error, error_size);
	return err;
}

/* Frees the results of the analyses; the results of the join remain. */
static void free_results(struct analysis *analysis)
{
	struct device_results *devices = analysis->results.devices;

	passes_free(analysis);
	if (analysis->results.capture)
		capture_free(analysis->results.capture);
	analysis->results = (struct results){ .devices = devices };
}

int analysis_repeat(struct analysis *analysis, const struct analysis_options *options, char *error,
		    size_t error_size)
{
	int err;

	free_results(analysis);
	if (analysis->results.devices)
		device_results_keep_join(analysis->results.devices);
	err = compute_capture(analysis, options);
	if (!err)
		err = passes_run(analysis, options);
	if (err)
		tell_failure(err, error, error_size);
	return err;
}

void analysis_free(struct analysis *analysis)
{
	free_results(analysis);
	if (analysis->results.devices)
		device_results_free(analysis->results.devices);
	forget(analysis);
	*analysis = (struct analysis){ 0 };
}
