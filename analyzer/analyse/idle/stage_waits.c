/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/stage_waits.h"

#include "analyzer/analyse/device/device_workers.h"
#include "proto/trace.pb-c.h"

#define SLEEPS_MIN 8 /* fewer sleeps until a time tell nothing about a habit */

static bool belongs(const struct pipeline *pipeline, uint32_t op, uint32_t thread)
{
	for (uint32_t i = 0; i < pipeline->threads.count; i++)
		if (pipeline->threads.row[i].thread == thread)
			return pipeline->threads.row[i].op == op;
	return false;
}

static uint8_t heaviest(const uint64_t *cause_ns)
{
	uint8_t most = IDLE_UNKNOWN;

	for (uint8_t cause = 0; cause < IDLE_CAUSES; cause++)
		if (cause_ns[cause] > cause_ns[most])
			most = cause;
	return most;
}

struct stage_wait stage_wait_find(const struct verdict *verdict, const struct pipeline *pipeline,
				  uint32_t op)
{
	const struct idle_roots *roots = verdict ? verdict->roots : NULL;
	uint64_t cause_ns[IDLE_CAUSES] = { 0 };
	struct stage_wait wait = { 0 };

	for (uint32_t i = 0; roots && i < roots->count; i++) {
		if (!belongs(pipeline, op, roots->row[i].root.thread))
			continue;
		wait.ns += roots->row[i].ns;
		cause_ns[roots->row[i].root.cause] += roots->row[i].ns;
	}
	wait.cause = heaviest(cause_ns);
	for (uint32_t i = 0; roots && i < roots->count; i++) {
		const struct idle_root *row = &roots->row[i];

		if (row->root.place_kind != PLACE_NONE && belongs(pipeline, op, row->root.thread) &&
		    (!wait.placed || (wait.placed->root.cause != wait.cause &&
				      row->root.cause == wait.cause)))
			wait.placed = row;
	}
	if (wait.ns && verdict->roots_of_ns)
		wait.percent = 100 * (double)wait.ns / (double)verdict->roots_of_ns;
	return wait;
}

struct stage stage_worst_find(const struct verdict *verdict, const struct step_results *steps)
{
	struct stage worst = { .wait.percent = STAGE_PERCENT };

	for (uint32_t i = 0; verdict->by_threads && i < steps->count; i++) {
		const struct pipeline *pipeline = steps->pipelines[i].usage->pipeline;

		for (uint32_t op = 0; pipeline->of_main && op < pipeline->operators.count; op++) {
			struct stage_wait wait = stage_wait_find(verdict, pipeline, op);

			if (wait.percent >= worst.wait.percent)
				worst = (struct stage){ pipeline, op, wait };
		}
	}
	return worst;
}

/* ---- How the threads of an operator sleep */

/* Do two threads of the operator belong to different workers? */
static bool are_different(const struct model *model, const struct pipeline *pipeline, uint32_t a, uint32_t b)
{
	return a != b && (model->threads.row[a].process != model->threads.row[b].process ||
			  model->threads.row[a].process == pipeline->process);
}

static bool take_turns(const struct model *model, const struct stage *stage)
{
	const struct pipeline *pipeline = stage->pipeline;
	uint64_t turns_ns = 0, slept_ns = 0;

	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		uint32_t thread = pipeline->threads.row[i].thread;
		const struct timeline *line = &model->timelines.row[thread];

		for (uint32_t k = 0; pipeline->threads.row[i].op == stage->op && k < line->count; k++) {
			const struct span *span = &model->spans.row[line->first + k];

			if (span->state != STATE_SLEEP)
				continue;
			slept_ns += span->end_ns - span->start_ns;
			if (span_woken_by_thread(span) && span->other < model->threads.count &&
			    are_different(model, pipeline, thread, span->other) &&
			    belongs(pipeline, stage->op, span->other))
				turns_ns += span->end_ns - span->start_ns;
		}
	}
	return slept_ns && turns_ns >= slept_ns / 100 * STAGE_TURNS_PERCENT;
}

/* Do most sleeps of a thread until a time follow another one, with nobody woken in between? */
static bool sleeps_again(const struct model *model, uint32_t thread)
{
	const struct timeline *line = &model->timelines.row[thread];
	const struct wake *wakes = model->wakes.row;
	uint64_t timed = 0, again = 0;
	uint32_t wake = 0;
	bool in_row = false;

	for (uint32_t i = 0; i < line->count; i++) {
		const struct span *span = &model->spans.row[line->first + i];

		if (span->state != STATE_SLEEP)
			continue;
		for (; wake < model->wakes.count && wakes[wake].ts_ns < span->start_ns; wake++)
			if (wakes[wake].waker_thread == thread && !(wakes[wake].flags & WOKEN_BY_INTERRUPT))
				in_row = false;
		if (span->flags & SPAN_WOKEN_TIMER) {
			timed++;
			again += in_row;
		}
		in_row = span->flags & SPAN_WOKEN_TIMER;
	}
	return timed >= SLEEPS_MIN && 2 * again > timed;
}

static bool sleeps_for_timer(const struct model *model, const struct idle_root *row)
{
	return row && row->root.cause == IDLE_SLEEP && row->root.object_kind == OBJECT_SLEEP &&
	       row->root.object < model->sleep_objects.count &&
	       model->sleep_objects.row[row->root.object].kind == PROFBPF__SLEEP_OBJECTS__KIND__EPOLL;
}

enum stage_habit stage_habit_find(const struct model *model, const struct stage *stage)
{
	const struct idle_root *row = stage->wait.placed;

	if (sleeps_for_timer(model, row))
		return STAGE_SLEEPS_FOR_TIMER;
	if (take_turns(model, stage))
		return STAGE_TAKES_TURNS;
	if (row && row->root.thread < model->timelines.count && sleeps_again(model, row->root.thread))
		return STAGE_SLEEPS_AGAIN;
	return STAGE_SLEEPS;
}
