/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_counts.h"

#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"

/* @unsure: counts uncertain calls, too, which gives the maximum; otherwise the minimum. */
static uint64_t *count(const struct model *model, bool unsure)
{
	uint64_t *counts = calloc((size_t)model->threads.count + 1, sizeof(*counts));

	for (uint32_t i = 0; counts && i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		if (call_is_launch(model, call))
			counts[call->thread]++;
	}
	for (uint32_t i = 0; counts && i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if ((unsure || !row->unsure) && call_is_launch(model, &row->call))
			counts[row->call.thread] += row->count;
	}
	return counts;
}

uint64_t *launch_counts(const struct model *model)
{
	return count(model, false);
}

/* Minimum and maximum of a thread, or of all of its process. */
struct range {
	uint64_t least;
	uint64_t most;
};

static bool same_answers(const struct model *model, const struct range *threads,
			 const struct range *processes, const uint32_t *first)
{
	for (uint32_t t = 0; t < model->threads.count; t++) {
		uint32_t process = model->threads.row[t].process;
		const struct range *of = &threads[t], *all = &processes[process];

		if (launches_submit(of->least, all->most) != launches_submit(of->most, all->least))
			return false;
		if (first[process] != t && of->most > of->least &&
		    of->most >= threads[first[process]].least)
			return false;
	}
	return true;
}

bool launch_counts_settled(const struct model *model)
{
	uint64_t *least = count(model, false), *most = count(model, true);
	struct range *threads = calloc((size_t)model->threads.count + 1, sizeof(*threads));
	struct range *processes = calloc((size_t)model->processes.count + 1, sizeof(*processes));
	uint32_t *first = calloc((size_t)model->processes.count + 1, sizeof(*first));
	bool settled = least && most && threads && processes && first;

	for (uint32_t t = 0; settled && t < model->threads.count; t++) {
		uint32_t process = model->threads.row[t].process;

		threads[t] = (struct range){ least[t], most[t] };
		if (!processes[process].most || least[t] > least[first[process]])
			first[process] = t;
		processes[process].least += least[t];
		processes[process].most += most[t];
	}
	settled = settled && same_answers(model, threads, processes, first);
	free(least);
	free(most);
	free(threads);
	free(processes);
	free(first);
	return settled;
}
