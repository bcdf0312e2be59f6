/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/uneven.h"

#include <stdlib.h>
#include <sys/param.h>

/* The workers of one set. */
struct team {
	uint64_t from_ns, to_ns; /* in which any of them existed and was recorded */
	uint64_t most_ns; /* the longest work of one of them */
	uint32_t workers;
	uint32_t thread; /* which did that */
};

static bool is_worker(const struct pipeline_thread *row, uint32_t op)
{
	return row->op == op && row->role == PIPELINE_WORKER_PROCESS && !row->descendant && row->set;
}

/* Returns, by thread, the time for which it was at work for the operator. */
static uint64_t *work_by_thread(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	uint64_t *ns = calloc((size_t)model->threads.count + 1, sizeof(*ns));

	for (uint32_t i = 0; ns && i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];

		if (work->op == op && work->thread < model->threads.count)
			ns[work->thread] += work->end_ns - work->start_ns;
	}
	return ns;
}

static struct team team_of(const struct model *model, const struct pipeline *pipeline, uint32_t op, uint32_t set,
			   const uint64_t *work_ns)
{
	struct team team = { .from_ns = UINT64_MAX, .thread = INDEX_NONE };

	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];
		const struct thread *thread = &model->threads.row[row->thread];

		if (!is_worker(row, op) || row->set != set)
			continue;
		team.workers++;
		team.from_ns = MIN(team.from_ns, MAX(thread->start_ns, model->info.session_start_ns));
		team.to_ns = MAX(team.to_ns, thread->exit_ns ? thread->exit_ns : model->info.session_end_ns);
		if (work_ns[row->thread] > team.most_ns) {
			team.most_ns = work_ns[row->thread];
			team.thread = row->thread;
		}
	}
	return team;
}

/* Returns the team that was at work longest: of the epochs of a loader, each of which has one. */
static uint32_t longest_set(const struct pipeline *pipeline, uint32_t op, const uint64_t *work_ns)
{
	uint64_t most_ns = 0;
	uint32_t set = 0;

	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];

		if (is_worker(row, op) && work_ns[row->thread] > most_ns) {
			most_ns = work_ns[row->thread];
			set = row->set;
		}
	}
	return set;
}

static double percent_of(const struct team *team, uint64_t ns)
{
	return 100 * (double)ns / (double)(team->to_ns - team->from_ns);
}

static struct uneven compare(const struct pipeline *pipeline, uint32_t op, uint32_t set, const struct team *team,
			     const uint64_t *work_ns)
{
	struct uneven found = { .workers = team->workers,
				.thread = team->thread,
				.percent = percent_of(team, team->most_ns) };
	uint64_t others_ns = 0;

	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];

		if (!is_worker(row, op) || row->set != set)
			continue;
		if (UNEVEN_LESS * work_ns[row->thread] > team->most_ns)
			found.busy++;
		else
			others_ns += work_ns[row->thread];
	}
	if (found.percent < UNEVEN_BUSY_PERCENT || 2 * found.busy > found.workers)
		return (struct uneven){ 0 };
	found.others_percent = percent_of(team, others_ns) / (found.workers - found.busy);
	return found;
}

struct uneven uneven_find(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	uint64_t *work_ns = work_by_thread(model, pipeline, op);
	struct uneven found = { 0 };
	uint32_t set = work_ns ? longest_set(pipeline, op, work_ns) : 0;

	if (set) {
		struct team team = team_of(model, pipeline, op, set, work_ns);

		if (team.to_ns > team.from_ns)
			found = compare(pipeline, op, set, &team, work_ns);
	}
	free(work_ns);
	return found;
}
