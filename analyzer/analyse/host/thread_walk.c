/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/thread_walk.h"

#include <stdlib.h>

#include "analyzer/join/launch/call_kind.h"
#include "lib/base/bisect.h"

#define ANCESTORS_MAX 32 /* a file may contain a cycle of threads that created each other */

/* Last positions found for a thread: the next walk usually begins near them. */
struct found {
	uint32_t span;
	uint32_t call;
	uint32_t ioctl;
};

struct walker {
	const struct model *model;
	uint32_t *outer; /* indices of outermost calls, thread by thread */
	uint32_t *outer_first; /* threads.count + 1 positions in outer */
	struct found *found; /* by thread */
};

static bool index_calls(struct walker *walker)
{
	const struct model *model = walker->model;
	uint32_t used = 0;

	walker->outer = calloc((size_t)model->calls.count + 1, sizeof(*walker->outer));
	walker->outer_first =
		calloc((size_t)model->threads.count + 1, sizeof(*walker->outer_first));
	walker->found = calloc((size_t)model->threads.count + 1, sizeof(*walker->found));
	if (!walker->outer || !walker->outer_first || !walker->found)
		return false;
	for (uint32_t thread = 0; thread < model->threads.count; thread++) {
		uint32_t first, count = model_thread_calls(model, thread, &first);
		uint64_t reach_ns = 0;

		walker->outer_first[thread] = used;
		for (uint32_t i = first; i < first + count; i++) {
			const struct call *call = &model->calls.row[i];

			if (call->start_ns < reach_ns || call->end_ns <= call->start_ns ||
			    call->flags & MODEL_CALL_NOT_RETURNED || !call_is_runtime(model, call))
				continue;
			walker->outer[used++] = i;
			reach_ns = call->end_ns;
		}
	}
	walker->outer_first[model->threads.count] = used;
	return true;
}

struct walker *walker_new(const struct model *model)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->model = model;
	if (!index_calls(walker)) {
		walker_free(walker);
		return NULL;
	}
	return walker;
}

void walker_free(struct walker *walker)
{
	if (!walker)
		return;
	free(walker->outer);
	free(walker->outer_first);
	free(walker->found);
	free(walker);
}

/* First position in outer[] of a thread whose call ends after an instant. */
static uint32_t find_call(const struct walker *walker, uint32_t thread, uint64_t ts_ns)
{
	const struct call *calls = walker->model->calls.row;
	uint32_t *found = &walker->found[thread].call;

	return *found = BISECT_NEAR(i, walker->outer_first[thread],
				    walker->outer_first[thread + 1], *found,
				    calls[walker->outer[i]].end_ns <= ts_ns);
}

uint32_t walker_call_at(const struct walker *walker, uint32_t thread, uint64_t ts_ns)
{
	uint32_t position;

	if (thread >= walker->model->threads.count)
		return INDEX_NONE;
	position = find_call(walker, thread, ts_ns);
	if (position == walker->outer_first[thread + 1] ||
	    walker->model->calls.row[walker->outer[position]].start_ns > ts_ns)
		return INDEX_NONE;
	return walker->outer[position];
}

static uint64_t born_ns(const struct thread *thread)
{
	return thread->start_ns ? thread->start_ns : thread->first_ns;
}

static const struct timeline *timeline_of(const struct model *model, uint32_t thread)
{
	const struct timeline *timeline;

	if (thread >= model->timelines.count)
		return NULL;
	timeline = &model->timelines.row[thread];
	if (timeline->first > model->spans.count ||
	    timeline->count > model->spans.count - timeline->first)
		return NULL;
	return timeline;
}

/* The first span of a thread that ends after an instant; the end of its spans if there is none. */
static uint32_t find_span(const struct walker *walker, uint32_t thread, uint64_t ts_ns)
{
	const struct timeline *timeline = timeline_of(walker->model, thread);
	const struct span *spans = walker->model->spans.row;
	uint32_t *found = &walker->found[thread].span;

	if (!timeline)
		return 0;
	return *found = BISECT_NEAR(i, timeline->first, timeline->first + timeline->count, *found,
				    spans[i].end_ns <= ts_ns);
}

/* The last ioctl of a thread that began at or before an instant, else its first one. */
static uint32_t find_ioctl(const struct walker *walker, uint32_t thread, uint64_t ts_ns)
{
	const struct ioctl_call *ioctls = walker->model->ioctls.row;
	uint32_t first, count = model_thread_ioctls(walker->model, thread, &first);
	uint32_t *found = &walker->found[thread].ioctl;
	uint32_t next = BISECT_NEAR(i, first, first + count, *found, ioctls[i].start_ns <= ts_ns);

	*found = next;
	return next > first ? next - 1 : first;
}

/* Chooses the thread that stands for the wanted thread now, and the end of that time. */
static void choose_thread(struct walk *walk)
{
	const struct model *model = walk->walker->model;
	uint32_t thread = walk->wanted;

	walk->limit_ns = walk->to_ns;
	for (int i = 0; i < ANCESTORS_MAX && thread < model->threads.count; i++) {
		const struct thread *row = &model->threads.row[thread];

		if (walk->now_ns >= born_ns(row) || row->parent == INDEX_NONE)
			break;
		if (born_ns(row) < walk->limit_ns)
			walk->limit_ns = born_ns(row);
		thread = row->parent;
	}
	walk->thread = thread < model->threads.count ? thread : INDEX_NONE;
	if (walk->thread == INDEX_NONE)
		return;
	walk->span = find_span(walk->walker, thread, walk->now_ns);
	walk->call = find_call(walk->walker, thread, walk->now_ns);
	walk->ioctl = find_ioctl(walk->walker, thread, walk->now_ns);
}

void walk_start(struct walk *walk, const struct walker *walker, uint32_t thread, uint64_t from_ns,
		uint64_t to_ns)
{
	*walk = (struct walk){
		.walker = walker, .wanted = thread, .now_ns = from_ns, .to_ns = to_ns
	};
	if (from_ns < to_ns)
		choose_thread(walk);
}

/* Cuts the step at @start_ns if the row begins later, else at @end_ns. Returns whether the row covers the step. */
static bool cut(struct walk_step *step, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns > step->start_ns) {
		if (start_ns < step->end_ns)
			step->end_ns = start_ns;
		return false;
	}
	if (end_ns < step->end_ns)
		step->end_ns = end_ns;
	return true;
}

static void look_at_span(struct walk *walk, struct walk_step *step)
{
	const struct model *model = walk->walker->model;
	const struct timeline *timeline = timeline_of(model, walk->thread);

	if (!timeline)
		return;
	while (walk->span < timeline->first + timeline->count &&
	       model->spans.row[walk->span].end_ns <= step->start_ns)
		walk->span++;
	if (walk->span < timeline->first + timeline->count &&
	    cut(step, model->spans.row[walk->span].start_ns, model->spans.row[walk->span].end_ns))
		step->span = walk->span;
}

static void look_at_call(struct walk *walk, struct walk_step *step)
{
	const struct walker *walker = walk->walker;
	const struct call *calls = walker->model->calls.row;
	uint32_t end = walker->outer_first[walk->thread + 1];

	while (walk->call < end && calls[walker->outer[walk->call]].end_ns <= step->start_ns)
		walk->call++;
	if (walk->call < end && cut(step, calls[walker->outer[walk->call]].start_ns,
				    calls[walker->outer[walk->call]].end_ns))
		step->call = walker->outer[walk->call];
}

static void look_at_ioctl(struct walk *walk, struct walk_step *step)
{
	const struct model *model = walk->walker->model;
	uint32_t first, count = model_thread_ioctls(model, walk->thread, &first);

	while (walk->ioctl < first + count &&
	       model->ioctls.row[walk->ioctl].end_ns <= step->start_ns)
		walk->ioctl++;
	if (walk->ioctl < first + count && cut(step, model->ioctls.row[walk->ioctl].start_ns,
					       model->ioctls.row[walk->ioctl].end_ns))
		step->ioctl = walk->ioctl;
}

bool walk_next(struct walk *walk, struct walk_step *step)
{
	if (walk->now_ns >= walk->to_ns)
		return false;
	if (walk->now_ns >= walk->limit_ns)
		choose_thread(walk);
	*step = (struct walk_step){ .start_ns = walk->now_ns,
				    .end_ns = walk->limit_ns,
				    .thread = walk->thread,
				    .span = INDEX_NONE,
				    .call = INDEX_NONE,
				    .ioctl = INDEX_NONE };
	if (walk->thread != INDEX_NONE) {
		look_at_span(walk, step);
		look_at_call(walk, step);
		look_at_ioctl(walk, step);
	}
	walk->now_ns = step->end_ns;
	return true;
}
