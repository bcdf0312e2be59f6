/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a root of idle time, and the heaviest cause of a state. */
#include "analyzer/analyse/idle/verdict_private.h"

#include <stdlib.h>

/* Leaves out pipelines of unknown frameworks, found by wake-ups: a wait there does not prove that data is missing. */
bool judge_find_owners(struct judge *judge)
{
	const struct step_results *steps = judge->facts->steps;
	uint32_t count = judge->model->threads.count;

	judge->owner = malloc(((size_t)count + 1) * sizeof(*judge->owner));
	if (!judge->owner)
		return false;
	for (uint32_t i = 0; i < count; i++)
		judge->owner[i] = (struct owner){ INDEX_NONE, INDEX_NONE, false };
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct pipeline *pipeline = steps->pipelines[i].usage->pipeline;

		for (uint32_t k = 0; k < pipeline->threads.count && !pipeline->by_wakes; k++) {
			const struct pipeline_thread *row = &pipeline->threads.row[k];

			if (row->thread < count)
				judge->owner[row->thread] =
					(struct owner){ i, row->op, row->descendant };
		}
	}
	return true;
}

struct owner judge_owner_of(const struct judge *judge, const struct idle_root *row)
{
	for (uint32_t i = row->hop_count; i-- > 0;) {
		uint32_t thread = row->hops[i].thread;

		if (thread < judge->model->threads.count &&
		    judge->owner[thread].pipeline != INDEX_NONE)
			return judge->owner[thread];
	}
	return (struct owner){ INDEX_NONE, INDEX_NONE, false };
}

bool judge_is_help(const struct judge *judge, const struct idle_root *row)
{
	const struct model *model = judge->model;
	uint32_t first = row->hops[0].thread, last = row->root.thread;

	return row->root.cause == IDLE_USER_CODE && row->hop_count > 1 && !idle_root_collects(row) && !row->turns &&
	       first < model->threads.count && last < model->threads.count &&
	       model->threads.row[first].process == model->threads.row[last].process &&
	       judge_owner_of(judge, row).pipeline == INDEX_NONE;
}

/* Is the root in a data loader, by a device file's own timeline of the host? */
static bool is_loader(const struct judge *judge, const struct idle_root *row)
{
	const struct model *model = judge->model;

	return row->root.place_kind == PLACE_FUNCTION && row->root.place < model->functions.count &&
	       model->functions.row[row->root.place].scope == SCOPE_DATA;
}

uint8_t judge_state_of(const struct judge *judge, const struct idle_root *row)
{
	if (judge->helped && judge_is_help(judge, row))
		return VERDICT_HEALTHY;
	switch (row->root.cause) {
	case IDLE_RUNNABLE:
	case IDLE_THROTTLED:
	case IDLE_IRQ: return VERDICT_CPU;
	case IDLE_DEVICE_WAIT: return VERDICT_DEVICE;
	case IDLE_UNKNOWN:
	case IDLE_NO_WORK: return VERDICT_UNKNOWN;
	default:
		if (is_loader(judge, row))
			return VERDICT_DATA;
		if (judge_owner_of(judge, row).pipeline != INDEX_NONE)
			return VERDICT_DATA;
		/* The activity of the peer is not known: it may be a client of this process. */
		return row->root.cause == IDLE_NETWORK && row->root.end == ROOT_END_UNTRACED
			       ? VERDICT_UNKNOWN
			       : VERDICT_HOST_CODE;
	}
}

bool judge_is_fetcher(const struct judge *judge, const struct idle_root *row)
{
	return judge->fetcher != INDEX_NONE && row->root.thread == judge->fetcher;
}

/* @fetcher: includes the rows that weigh() moved to data. */
struct idle_verdict judge_heaviest_kind(const struct judge *judge, uint8_t state, bool fetcher)
{
	const struct idle_roots *roots = judge->roots;
	uint64_t ns[IDLE_CAUSES][IDLE_KINDS] = { { 0 } };
	struct idle_verdict best = { .cause = IDLE_UNKNOWN };

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; roots && i < roots->count; i++) {
			const struct idle_root *row = &roots->row[i];
			uint8_t cause = row->root.cause;
			uint8_t kind = idle_kind_of(judge->model, &row->root);
			uint8_t own = judge_state_of(judge, row);

			if (state != VERDICT_STATES && own != state &&
			    !(fetcher && own == VERDICT_HOST_CODE && judge_is_fetcher(judge, row)))
				continue;
			if (pass == 0) {
				ns[cause][kind] += row->ns;
				if (ns[cause][kind] > best.ns) {
					best.ns = ns[cause][kind];
					best.cause = cause;
					best.kind = kind;
				}
			} else if (!best.most && cause == best.cause && kind == best.kind) {
				best.most = row;
			}
		}
	}
	if (best.most)
		best.cause_ns = roots->cause_ns[best.cause];
	return best;
}

/*
 * Is the thread at the end of the chain a thread of the trainer's process without an operator of its own? It may belong
 * to a pool, and work for any operator. Threads of other processes, and unknown threads, do not count.
 */
static bool ends_in_pool(const struct judge *judge, const struct idle_root *row, uint32_t pipeline)
{
	const struct model *model = judge->model;
	uint32_t thread = row->hops[row->hop_count - 1].thread;

	return thread < model->threads.count &&
	       model->threads.row[thread].process ==
		       judge->facts->steps->pipelines[pipeline].usage->pipeline->process &&
	       (judge->owner[thread].pipeline == INDEX_NONE || judge->owner[thread].descendant);
}

/* Returns the operator at a row's root; for a thread of a pool the pipeline's bottleneck, if that is known. */
static uint32_t operator_of(const struct judge *judge, const struct idle_root *row,
			    struct owner owner)
{
	const struct advice_results *advice = judge->facts->advice;

	return owner.pipeline < advice->count &&
			       advice->bottlenecks[owner.pipeline].kind != BOTTLENECK_NONE &&
			       ends_in_pool(judge, row, owner.pipeline)
		       ? advice->bottlenecks[owner.pipeline].op
		       : owner.op;
}

void judge_find_cost(struct judge *judge, struct verdict *verdict, uint8_t state)
{
	verdict->state = state;
	verdict->percent = verdict->gain_percent = judge_share(judge->ns[state], judge->window_ns);
	verdict->idle = judge_heaviest_kind(judge, state,
					    state == VERDICT_DATA && verdict->op != INDEX_NONE);
	if (state == VERDICT_DATA && verdict->idle.most) {
		struct owner owner = judge_owner_of(judge, verdict->idle.most);

		if (owner.pipeline != INDEX_NONE) {
			verdict->pipeline = owner.pipeline;
			verdict->op = operator_of(judge, verdict->idle.most, owner);
		}
	}
}
