/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/stage_waits.h"

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
