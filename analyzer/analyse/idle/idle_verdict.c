/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_verdict.h"

#include "analyzer/analyse/host/process_job.h"

/* Are two threads of one job, as far as is known? */
static bool are_together(const struct model *model, uint32_t a, uint32_t b)
{
	uint32_t of_b = model->threads.row[b].process;

	return a >= model->threads.count || model->threads.row[a].process == of_b ||
	       process_job(model, model->threads.row[a].process) == process_job(model, of_b);
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
