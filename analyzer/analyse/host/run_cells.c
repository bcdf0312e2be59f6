/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/run_cells.h"

#include <stdbool.h>
#include <string.h>

#include "analyzer/analyse/host/accounts.h"
#include "analyzer/analyse/host/interpolate.h"
#include "proto/trace.pb-c.h"

/* Position in spans and intervals: both are in order of time, and so are the requests. */
struct place_in {
	const struct model *model;
	const struct timeline *timeline;
	const uint64_t *cuts;
	uint32_t count;
	double *weights;
	uint32_t span;
	uint32_t cell;
};

static void add_span(struct place_in *at, uint64_t start_ns, uint64_t end_ns, double factor)
{
	while (at->cell < at->count && at->cuts[at->cell + 1] <= start_ns)
		at->cell++;
	for (uint32_t k = at->cell; k < at->count && at->cuts[k] < end_ns; k++) {
		struct analysis_window cell = { at->cuts[k], at->cuts[k + 1] };

		at->weights[k] += factor * (double)analysis_clipped(start_ns, end_ns, &cell);
	}
}

/* Returns the time on a CPU by the switches; if @take, adds it to the intervals and advances @at. */
static uint64_t run_between(struct place_in *at, uint64_t from_ns, uint64_t to_ns, bool take,
			    double factor)
{
	const struct analysis_window between = { from_ns, to_ns };
	uint64_t run_ns = 0;
	uint32_t i;

	for (i = at->span; i < at->timeline->count; i++) {
		const struct span *span = &at->model->spans.row[at->timeline->first + i];
		uint64_t ns = analysis_clipped(span->start_ns, span->end_ns, &between);

		if (span->start_ns >= to_ns)
			break;
		if (span->state == STATE_RUNNING && ns) {
			run_ns += ns;
			if (take)
				add_span(at, span->start_ns > from_ns ? span->start_ns : from_ns,
					 span->end_ns < to_ns ? span->end_ns : to_ns, factor);
		}
		if (span->end_ns > to_ns)
			break;
	}
	if (take)
		at->span = i;
	return run_ns;
}

/* Goes from reading to reading of the scheduler's clock, which is late only for a running thread. */
static void weigh_timeline(struct place_in *at, uint32_t thread)
{
	uint64_t from_ns = at->cuts[0], end_ns = at->cuts[at->count], known_ns = 0;
	uint32_t first, count = accounts_of(at->model, thread, &first);
	bool known = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct account *row = &at->model->accounts.row[first + i];
		uint64_t seen_ns, counted_ns;

		if (row->flags & PROFBPF__ACCOUNTS__FLAG__RUNNING || row->ts_ns < from_ns ||
		    row->ts_ns > end_ns)
			continue;
		seen_ns = run_between(at, from_ns, row->ts_ns, false, 0);
		counted_ns = known ? grown(known_ns, row->run_ns) : seen_ns;
		run_between(at, from_ns, row->ts_ns, true,
			    seen_ns ? (double)counted_ns / (double)seen_ns : 0);
		from_ns = row->ts_ns;
		known_ns = row->run_ns;
		known = true;
	}
	run_between(at, from_ns, end_ns, true, 1);
}

static void weigh_accounts(struct place_in *at, uint32_t thread)
{
	struct account grown_by;

	for (uint32_t k = 0; k < at->count; k++)
		if (accounts_growth(at->model, thread, at->cuts[k], at->cuts[k + 1], &grown_by))
			at->weights[k] = (double)grown_by.run_ns;
}

void run_cells(const struct model *model, const struct thread_usage *usage, const uint64_t *cuts,
	       uint32_t count, double *weights, uint64_t *run_ns)
{
	struct place_in at = { .model = model, .cuts = cuts, .count = count, .weights = weights };
	double all = 0, so_far = 0;
	uint64_t given_ns = 0;

	memset(weights, 0, count * sizeof(*weights));
	if (usage->source == USAGE_TIMELINE && usage->thread < model->timelines.count) {
		at.timeline = &model->timelines.row[usage->thread];
		weigh_timeline(&at, usage->thread);
	} else if (usage->source == USAGE_ACCOUNTS) {
		weigh_accounts(&at, usage->thread);
	}
	for (uint32_t k = 0; k < count; k++)
		all += weights[k];
	for (uint32_t k = 0; k < count; k++) {
		uint64_t until_ns = usage->run_ns;

		so_far += weights[k];
		/* A rest that belongs to no interval goes to the last one. */
		if (k + 1 < count)
			until_ns = all > 0 ? (uint64_t)((double)usage->run_ns * (so_far / all)) : 0;
		if (until_ns > usage->run_ns)
			until_ns = usage->run_ns;
		run_ns[k] = grown(given_ns, until_ns);
		given_ns = until_ns > given_ns ? until_ns : given_ns;
	}
}
