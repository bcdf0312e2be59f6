/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/cpu_taken.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/host/interpolate.h"

/* Idle time of a CPU up to an instant; its rows are [first, end) of cpu_stats, in time order. */
static uint64_t idle_at(const struct model *model, uint32_t first, uint32_t end, uint64_t ts_ns)
{
	const struct cpu_stat *row = model->cpu_stats.row;
	uint32_t i = first;

	while (i + 1 < end && row[i + 1].ts_ns <= ts_ns)
		i++;
	if (i + 1 == end)
		return row[i].idle_ns + row[i].iowait_ns;
	return interpolate(row[i].idle_ns + row[i].iowait_ns,
			   row[i + 1].idle_ns + row[i + 1].iowait_ns,
			   place_between(row[i].ts_ns, row[i + 1].ts_ns, ts_ns));
}

/* Returns the number of CPUs if they were hardly idle, else 0. */
static uint32_t busy_cpus(const struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_stat *row = model->cpu_stats.row;
	uint32_t count = 0, next;
	uint64_t idle_ns = 0;

	for (uint32_t first = 0; first < model->cpu_stats.count; first = next) {
		for (next = first; next < model->cpu_stats.count && row[next].cpu == row[first].cpu;)
			next++;
		if (next - first < 2)
			continue;
		count++;
		idle_ns += grown(idle_at(model, first, next, from_ns),
				 idle_at(model, first, next, to_ns));
	}
	if ((double)idle_ns * 100 > (double)(to_ns - from_ns) * count * CPU_TAKEN_IDLE_PERCENT)
		return 0;
	return count;
}

static uint64_t time_in(const struct model *model, uint32_t thread, enum thread_state state,
			uint64_t from_ns, uint64_t to_ns)
{
	const struct timeline *timeline = &model->timelines.row[thread];
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		uint64_t start_ns = span->start_ns > from_ns ? span->start_ns : from_ns;
		uint64_t end_ns = span->end_ns < to_ns ? span->end_ns : to_ns;

		if (span->state == state && end_ns > start_ns)
			sum_ns += end_ns - start_ns;
	}
	return sum_ns;
}

bool cpu_taken_find(const struct model *model, const struct pipeline *pipeline, uint64_t from_ns,
		    uint64_t to_ns, uint64_t *taken_ns)
{
	uint32_t cpus = to_ns > from_ns ? busy_cpus(model, from_ns, to_ns) : 0;
	uint64_t ready_ns = 0;
	uint32_t *owner;

	memset(taken_ns, 0, pipeline->operators.count * sizeof(*taken_ns));
	if (!cpus)
		return true;
	owner = pipeline_owners(model, pipeline);
	if (!owner)
		return false;
	for (uint32_t i = 0; i < model->threads.count && i < model->timelines.count; i++) {
		if (owner[i] != INDEX_NONE)
			taken_ns[owner[i]] += time_in(model, i, STATE_RUNNING, from_ns, to_ns);
		else if (model->threads.row[i].process == pipeline->process)
			ready_ns += time_in(model, i, STATE_RUNNABLE, from_ns, to_ns);
	}
	free(owner);
	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		taken_ns[i] /= cpus;
		if (taken_ns[i] > ready_ns)
			taken_ns[i] = ready_ns;
	}
	return true;
}
