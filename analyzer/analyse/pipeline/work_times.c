/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/work_times.h"

#include <stdlib.h>
#include <sys/param.h>

#include "analyzer/analyse/device/device_workers.h"
#include "lib/base/bisect.h"

uint64_t work_times_known_ns(const struct work_times *times)
{
	return times->run_ns + times->runnable_ns + times->io_ns + times->sleep_ns;
}

/* A thread that sleeps until its helper is done works through the helper, which may have a helper itself. */
#define HELPERS_MAX 4

struct sum {
	const struct model *model;
	const struct pipeline *pipeline;
	uint32_t *owner; /* operator of each thread, helpers included, or INDEX_NONE */
	struct work_times *times;
};

static bool ended_by_helper(const struct sum *sum, uint32_t op, const struct span *span)
{
	return span->state == STATE_SLEEP && span_woken_by_thread(span) &&
	       span->other < sum->model->threads.count && sum->owner[span->other] == op;
}

static void add_span(struct work_times *times, const struct span *span, uint64_t ns)
{
	switch (span->state) {
	case STATE_RUNNING: times->run_ns += ns; break;
	case STATE_RUNNABLE: times->runnable_ns += ns; break;
	case STATE_UNKNOWN: break;
	case STATE_DISK: times->io_ns += ns; break;
	default:
		if (span->flags & SPAN_IOWAIT)
			times->io_ns += ns;
		else
			times->sleep_ns += ns;
		break;
	}
}

/* A helper's time that was not recorded counts as a sleep of the thread that waits for it. */
static void add_between(const struct sum *sum, uint32_t op, uint32_t thread,
			const struct analysis_window *part, int depth)
{
	const struct model *model = sum->model;
	const struct timeline *line;
	uint64_t told_ns = 0;
	uint32_t i, end;

	if (thread >= model->timelines.count || part->from_ns >= part->to_ns)
		return;
	line = &model->timelines.row[thread];
	end = line->first + line->count;
	i = BISECT(k, line->first, end, model->spans.row[k].end_ns <= part->from_ns);
	for (; i < end && model->spans.row[i].start_ns < part->to_ns; i++) {
		const struct span *span = &model->spans.row[i];
		const struct analysis_window in = {
			.from_ns = MAX(span->start_ns, part->from_ns),
			.to_ns = MIN(span->end_ns, part->to_ns),
		};

		if (depth < HELPERS_MAX && ended_by_helper(sum, op, span))
			add_between(sum, op, span->other, &in, depth + 1);
		else
			add_span(&sum->times[op], span, in.to_ns - in.from_ns);
		told_ns += span->state == STATE_UNKNOWN ? 0 : in.to_ns - in.from_ns;
	}
	if (depth > 0)
		sum->times[op].sleep_ns += part->to_ns - part->from_ns - told_ns;
}

bool work_times_sum(const struct model *model, const struct pipeline *pipeline,
		    const struct analysis_window *window, struct work_times *times)
{
	struct sum sum = { model, pipeline, pipeline_owners(model, pipeline), times };
	bool memory;

	for (uint32_t i = 0; sum.owner && i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];
		const struct analysis_window part = {
			.from_ns = MAX(work->start_ns, window->from_ns),
			.to_ns = MIN(work->end_ns, window->to_ns),
		};

		add_between(&sum, work->op, work->thread, &part, 0);
	}
	memory = sum.owner != NULL;
	free(sum.owner);
	return memory;
}
