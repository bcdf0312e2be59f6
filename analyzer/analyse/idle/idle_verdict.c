/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_verdict.h"

#define GENERATIONS_MAX 64 /* of processes: parents in a damaged file may form a circle */

/* Returns the traced process that started a process of the same job; INDEX_NONE: none did. */
static uint32_t starter_of(const struct model *model, uint32_t process)
{
	const struct process *row = &model->processes.row[process];
	uint32_t thread = row->parent_pid ? model_thread_at(model, row->parent_pid, row->start_ns) : INDEX_NONE;
	uint32_t starter;

	if (thread >= model->threads.count || !model->threads.row[thread].target)
		return INDEX_NONE;
	starter = model->threads.row[thread].process;
	if (starter >= model->processes.count || starter == process)
		return INDEX_NONE;
	/* On the whole machine shells and init are traced, too: a job's processes run the same program. */
	if (model->info.system_wide && (!row->exe || row->exe != model->processes.row[starter].exe))
		return INDEX_NONE;
	return starter;
}

/* Returns the first process of those that started each other down to this one. */
static uint32_t first_of(const struct model *model, uint32_t process)
{
	for (int i = 0; process < model->processes.count && i < GENERATIONS_MAX; i++) {
		uint32_t starter = starter_of(model, process);

		if (starter == INDEX_NONE)
			break;
		process = starter;
	}
	return process;
}

/* Are two threads of one job, as far as is known? */
static bool are_together(const struct model *model, uint32_t a, uint32_t b)
{
	uint32_t of_b = model->threads.row[b].process;

	return a >= model->threads.count || model->threads.row[a].process == of_b ||
	       first_of(model, model->threads.row[a].process) == first_of(model, of_b);
}

uint8_t idle_kind_of(const struct model *model, const struct root *root)
{
	if (root->cause != IDLE_RUNNABLE)
		return IDLE_KIND_CAUSE;
	if (root->who_kind == WHO_IDLE_CPU)
		return IDLE_KIND_WAKE_UP;
	if (root->who_kind == WHO_RUNNER && root->who < model->threads.count &&
	    model->threads.row[root->who].target)
		return are_together(model, root->thread, root->who) ? IDLE_KIND_OWN_CPU
								    : IDLE_KIND_RECORDED_CPU;
	return IDLE_KIND_OTHER_CPU;
}

struct idle_verdict idle_verdict(const struct model *model, const struct idle_roots *roots)
{
	struct idle_verdict verdict = { .cause = IDLE_UNKNOWN };
	uint64_t kinds[IDLE_KINDS] = { 0 };

	for (uint8_t cause = 0; cause < IDLE_CAUSES; cause++)
		if (roots->cause_ns[cause] > roots->cause_ns[verdict.cause])
			verdict.cause = cause;
	verdict.cause_ns = roots->cause_ns[verdict.cause];
	for (uint32_t i = 0; i < roots->count; i++)
		if (roots->row[i].root.cause == verdict.cause)
			kinds[idle_kind_of(model, &roots->row[i].root)] += roots->row[i].ns;
	for (uint8_t kind = 0; kind < IDLE_KINDS; kind++)
		if (kinds[kind] > kinds[verdict.kind])
			verdict.kind = kind;
	verdict.ns = kinds[verdict.kind];
	for (uint32_t i = 0; i < roots->count && !verdict.most; i++)
		if (roots->row[i].root.cause == verdict.cause &&
		    idle_kind_of(model, &roots->row[i].root) == verdict.kind)
			verdict.most = &roots->row[i];
	return verdict;
}
