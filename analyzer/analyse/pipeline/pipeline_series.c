/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/pipeline_series.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/host/accounts.h"
#include "analyzer/analyse/host/run_cells.h"
#include "lib/base/bisect.h"

/* The cells to fill. Interval k is from cuts[k] to cuts[k + 1]. */
struct filling {
	const struct model *model;
	uint64_t *cuts;
	uint32_t count;
	struct operator_interval *cells; /* of one operator */
};

static uint64_t shared(const struct filling *filling, uint32_t k, uint64_t start_ns, uint64_t end_ns)
{
	const struct analysis_window interval = { filling->cuts[k], filling->cuts[k + 1] };

	return analysis_clipped(start_ns, end_ns, &interval);
}

/* Returns the interval that contains an instant, or the first one after it; filling->count if there is none. */
static uint32_t interval_at(const struct filling *filling, uint64_t ts_ns)
{
	return BISECT(i, 0, filling->count, filling->cuts[i + 1] <= ts_ns);
}

/* Like interval_at(), but filling->count also for instants before the window. */
static uint32_t interval_of(const struct filling *filling, uint64_t ts_ns)
{
	return ts_ns < filling->cuts[0] ? filling->count : interval_at(filling, ts_ns);
}

/* Returns the system time in @run_ns, by the thread's accounts (timer tick) in the interval, else overall. */
static uint64_t system_part(const struct filling *filling, uint32_t thread, uint32_t k,
			    uint64_t run_ns)
{
	struct account grown, whole;
	uint64_t all;

	if (!accounts_growth(filling->model, thread, filling->cuts[k], filling->cuts[k + 1],
			     &grown))
		return 0;
	if (grown.user_ns + grown.system_ns == 0 &&
	    accounts_at(filling->model, thread, filling->cuts[filling->count], &whole))
		grown = whole;
	all = grown.user_ns + grown.system_ns;
	return all ? (uint64_t)((unsigned __int128)run_ns * grown.system_ns / all) : 0;
}

static void add_run(const struct filling *filling, const uint64_t *run_ns, uint32_t thread)
{
	for (uint32_t i = 0; i < filling->count; i++) {
		struct operator_interval *cell = &filling->cells[i];
		uint64_t system_ns;

		if (!run_ns[i])
			continue;
		system_ns = system_part(filling, thread, i, run_ns[i]);
		cell->run_ns += run_ns[i];
		cell->system_ns += system_ns;
		cell->user_ns += run_ns[i] - system_ns;
	}
}

static int add_threads(struct filling *filling, const struct pipeline_usage *usage,
		       struct pipeline_series *series)
{
	const struct pipeline *pipeline = usage->pipeline;
	uint64_t *run_ns = calloc((size_t)filling->count + 1, sizeof(*run_ns));
	double *weights = calloc((size_t)filling->count + 1, sizeof(*weights));
	int err = run_ns && weights ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < pipeline->threads.count && !err; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];

		if (!usage->threads[i])
			continue;
		filling->cells = series->cells + (size_t)row->op * filling->count;
		run_cells(filling->model, usage->threads[i], filling->cuts, filling->count, weights,
			  run_ns);
		add_run(filling, run_ns, row->thread);
	}
	free(run_ns);
	free(weights);
	return err;
}

static void add_samples(struct filling *filling, const struct pipeline *pipeline,
			struct pipeline_series *series)
{
	for (uint32_t i = 0; i < pipeline->cpu.count; i++) {
		const struct pipeline_cpu *cpu = &pipeline->cpu.row[i];

		filling->cells = series->cells + (size_t)cpu->op * filling->count;
		for (uint32_t k = interval_at(filling, cpu->start_ns);
		     k < filling->count && filling->cuts[k] < cpu->end_ns; k++) {
			struct operator_interval *cell = &filling->cells[k];
			uint64_t from_ns = filling->cuts[k], to_ns = filling->cuts[k + 1];

			cell->user_ns += pipeline_cpu_between(cpu->user_ns, cpu, from_ns, to_ns);
			cell->system_ns +=
				pipeline_cpu_between(cpu->system_ns, cpu, from_ns, to_ns);
			cell->run_ns = cell->user_ns + cell->system_ns;
		}
	}
}

static void add_elements(struct filling *filling, const struct pipeline *pipeline,
			 struct pipeline_series *series)
{
	for (uint32_t i = 0; i < pipeline->outputs.count; i++) {
		const struct pipeline_output *output = &pipeline->outputs.row[i];
		uint32_t k = interval_of(filling, output->ts_ns);

		if (k < filling->count)
			series->cells[(size_t)output->op * filling->count + k].elements +=
				output->count;
	}
	for (uint32_t i = 0; i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];
		uint32_t k = interval_of(filling, work->start_ns);

		if (k < filling->count && !pipeline->operators.row[work->op].counts_outputs)
			series->cells[(size_t)work->op * filling->count + k].elements++;
	}
}

static void add_queue_sizes(struct filling *filling, const struct pipeline *pipeline,
			    struct pipeline_series *series)
{
	const struct pipeline_queue_event *row = pipeline->queue_events.row;

	for (uint32_t i = 0; i + 1 < pipeline->queue_events.count; i++) {
		uint32_t op = pipeline->queues.row[row[i].queue].from;

		if (row[i].size < 0 || row[i + 1].queue != row[i].queue)
			continue;
		filling->cells = series->cells + (size_t)op * filling->count;
		for (uint32_t k = interval_at(filling, row[i].end_ns);
		     k < filling->count && filling->cuts[k] < row[i + 1].end_ns; k++) {
			uint64_t ns = shared(filling, k, row[i].end_ns, row[i + 1].end_ns);

			filling->cells[k].queue_known_ns += ns;
			filling->cells[k].queue_size += (double)row[i].size * (double)ns;
		}
	}
}

static uint64_t *make_cuts(const struct host_results *host, const struct analysis_window *window)
{
	uint64_t *cuts = calloc((size_t)host->interval_count + 1, sizeof(*cuts));

	if (!cuts)
		return NULL;
	for (uint32_t k = 1; k < host->interval_count; k++)
		cuts[k] = host->intervals[k].start_ns;
	cuts[0] = window->from_ns;
	cuts[host->interval_count] = window->to_ns;
	return cuts;
}

int pipeline_series_compute(const struct model *model, const struct host_results *host,
			    const struct process_results *processes,
			    const struct pipeline_usage *usage, struct pipeline_series *series)
{
	const struct pipeline *pipeline = usage->pipeline;
	struct filling filling = { .model = model, .count = host->interval_count };
	size_t cells = (size_t)pipeline->operators.count * host->interval_count;
	int err;

	*series = (struct pipeline_series){ .interval_count = host->interval_count };
	series->cells = calloc(cells + 1, sizeof(*series->cells));
	if (!series->cells)
		return -ENOMEM;
	if (!cells)
		return 0;
	filling.cuts = make_cuts(host, &processes->window);
	if (!filling.cuts)
		return -ENOMEM;
	err = add_threads(&filling, usage, series);
	add_samples(&filling, pipeline, series);
	add_elements(&filling, pipeline, series);
	add_queue_sizes(&filling, pipeline, series);
	for (size_t i = 0; i < cells; i++)
		if (series->cells[i].queue_known_ns)
			series->cells[i].queue_size /= (double)series->cells[i].queue_known_ns;
	free(filling.cuts);
	return err;
}

void pipeline_series_free(struct pipeline_series *series)
{
	free(series->cells);
	*series = (struct pipeline_series){ 0 };
}

bool pipeline_queue_sizes(const struct pipeline *pipeline, uint32_t queue, uint64_t from_ns,
			  uint64_t step_ns, uint32_t count, uint32_t *sizes)
{
	const struct pipeline_queue_event *row = pipeline->queue_events.row;
	uint32_t first = 0, end = pipeline->queue_events.count, at;
	int32_t size = -1;

	while (first < end && row[first].queue != queue)
		first++;
	for (at = first; at < end && row[at].queue == queue && size < 0; at++)
		size = row[at].size;
	if (size < 0)
		return false;
	/* The size before its first event, for queues whose changes were counted. */
	if (!pipeline->queues.row[queue].to_device)
		size = (int32_t)pipeline->queues.row[queue].first_size;
	at = first;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ts_ns = from_ns + i * step_ns;

		for (; at < end && row[at].queue == queue && row[at].end_ns <= ts_ns; at++)
			if (row[at].size >= 0)
				size = row[at].size;
		sizes[i] = (uint32_t)size;
	}
	return true;
}
