/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/ioctl_ends.h"

/* Returns the sleep that covers an instant; NULL if the thread was not asleep then, or its state is unknown. */
static const struct span *sleep_at(const struct model *model, uint32_t thread, uint64_t ts_ns)
{
	const struct timeline *timeline;

	if (thread >= model->timelines.count)
		return NULL;
	timeline = &model->timelines.row[thread];
	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];

		if (span->end_ns <= ts_ns)
			continue;
		if (span->start_ns > ts_ns || (span->state != STATE_SLEEP && span->state != STATE_DISK))
			return NULL;
		return span;
	}
	return NULL;
}

void ioctl_ends_find(struct model *model)
{
	for (uint32_t i = 0; i < model->ioctls.count; i++) {
		struct ioctl_call *call = &model->ioctls.row[i];
		const struct span *span;

		if (!(call->flags & MODEL_IOCTL_UNSEEN))
			continue;
		span = sleep_at(model, call->thread, call->start_ns);
		if (span && span->end_ns > call->end_ns)
			call->end_ns = span->end_ns;
	}
}
