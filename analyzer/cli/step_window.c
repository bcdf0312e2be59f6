/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/step_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/pipeline/steps.h"

/* The range of steps seen so far, and the time of the selected steps. */
struct search {
	struct analysis_options *options;
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = no selected step yet */
	uint64_t lowest;
	uint64_t highest;
	uint32_t count;
};

static void see(struct search *search, uint64_t number, uint64_t start_ns, uint64_t end_ns)
{
	if (!search->count || number < search->lowest)
		search->lowest = number;
	if (number > search->highest)
		search->highest = number;
	search->count++;
	if (number < search->options->first_step || number > search->options->last_step)
		return;
	if (!search->to_ns || start_ns < search->from_ns)
		search->from_ns = start_ns;
	if (end_ns > search->to_ns)
		search->to_ns = end_ns;
}

static void see_trainer(struct search *search, const struct step_results *steps)
{
	const struct pipeline_steps *of;

	if (steps->main == INDEX_NONE)
		return;
	of = &steps->pipelines[steps->main];
	for (uint32_t i = 0; i < of->count; i++)
		see(search, of->rows[i].index, of->rows[i].start_ns,
		    of->rows[i].start_ns + of->rows[i].duration_ns);
}

static void see_device(struct search *search, const struct device_step_results *steps)
{
	const struct device_step_trace *of;

	if (steps->main == INDEX_NONE)
		return;
	of = &steps->traces[steps->main];
	for (uint32_t i = 0; i < of->count; i++)
		see(search, of->rows[i].number, of->rows[i].start_ns, of->rows[i].end_ns);
}

/* Uses the host's loop if no device has steps. */
static void see_loop(struct search *search, const struct host_loops *loops)
{
	const struct host_loop *of;

	if (search->count || loops->main == INDEX_NONE)
		return;
	of = &loops->loops.row[loops->main];
	for (uint32_t i = 0; i < of->count; i++)
		see(search, loops->turns.row[of->first + i].number,
		    loops->turns.row[of->first + i].start_ns,
		    loops->turns.row[of->first + i].end_ns);
}

/* Runs the analyses that find steps, once over everything. */
static int look(struct model *model, struct search *search)
{
	struct process_results processes = { 0 };
	struct pipeline_results pipelines = { 0 };
	struct step_results steps = { 0 };
	struct device_step_results device_steps = { 0 };
	int err = processes_analyse(model, search->options, &processes);

	if (!err)
		err = pipelines_analyse(model, search->options, &processes, &pipelines);
	if (!err)
		err = steps_analyse(model, search->options, &pipelines, &steps);
	if (!err)
		see_trainer(search, &steps);
	if (!err && !search->count)
		err = device_steps_analyse(model, search->options, &steps, &device_steps);
	if (!err && !search->count) {
		see_device(search, &device_steps);
		see_loop(search, &device_steps.loops);
	}
	device_steps_free(&device_steps);
	steps_free(&steps);
	pipelines_results_free(&pipelines);
	processes_free(&processes);
	return err;
}

int step_window_find(struct model *model, struct analysis_options *options, char *error,
		     size_t error_size)
{
	struct search search = { .options = options };
	int err = look(model, &search);

	if (err)
		return err;
	if (!search.count) {
		snprintf(error, error_size,
			 "no steps are known, so --step cannot select any (mere repetitions are "
			 "not steps); --fp-point sets the operator that begins a step, --from and "
			 "--to select by time");
		return -ENOENT;
	}
	if (!search.to_ns) {
		snprintf(error, error_size, "no such step: the steps are %" PRIu64 " to %" PRIu64,
			 search.lowest, search.highest);
		return -ENOENT;
	}
	options->from_ns = search.from_ns;
	options->to_ns = search.to_ns;
	return 0;
}
