/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/thread_account.h"

static enum activity activity_of(const struct model *model, const struct walk_step *step)
{
	switch (step->span == INDEX_NONE ? STATE_UNKNOWN : model->spans.row[step->span].state) {
	case STATE_RUNNING:
		if (step->ioctl != INDEX_NONE)
			return ACTIVITY_DRIVER;
		return step->call != INDEX_NONE ? ACTIVITY_RUNTIME : ACTIVITY_OWN_CODE;
	case STATE_RUNNABLE: return ACTIVITY_RUNNABLE;
	case STATE_SLEEP:
	case STATE_DISK:
	case STATE_STOPPED: return step->ioctl != INDEX_NONE ? ACTIVITY_DRIVER : ACTIVITY_ASLEEP;
	default: return ACTIVITY_UNKNOWN;
	}
}

struct thread_account thread_account(const struct model *model, const struct walker *walker,
				     uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct thread_account account = { .call = INDEX_NONE,
					  .span = INDEX_NONE,
					  .runner = INDEX_NONE };
	uint64_t longest_call = 0, longest_sleep = 0, longest_wait = 0;
	struct walk walk;
	struct walk_step step;

	walk_start(&walk, walker, thread, from_ns, to_ns);
	while (walk_next(&walk, &step)) {
		enum activity activity = activity_of(model, &step);
		uint64_t ns = step.end_ns - step.start_ns;

		account.total_ns += ns;
		account.ns[activity] += ns;
		if (activity == ACTIVITY_RUNTIME && ns > longest_call) {
			longest_call = ns;
			account.call = step.call;
		}
		if (activity == ACTIVITY_ASLEEP && ns > longest_sleep) {
			longest_sleep = ns;
			account.span = step.span;
		}
		if (activity == ACTIVITY_RUNNABLE && ns > longest_wait) {
			longest_wait = ns;
			account.runner = model->spans.row[step.span].other;
		}
	}
	for (int activity = 0; activity < ACTIVITIES; activity++) {
		if (account.ns[activity] > account.top_ns) {
			account.top = activity;
			account.top_ns = account.ns[activity];
		}
	}
	return account;
}
