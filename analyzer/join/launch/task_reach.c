/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/task_reach.h"

#include <stdlib.h>

#include "analyzer/join/clock/device_clock.h"

/* A task in the host's clock. */
struct placed {
	uint64_t enqueue_ns;
	uint64_t start_ns;
	uint64_t end_ns; /* 0 = there is none */
};

struct neighbours {
	struct placed before;
	struct placed after;
};

static bool place(const struct model *model, const struct device_task *task, struct placed *placed)
{
	uint8_t clock = model->devices.row[task->device].clock;

	placed->enqueue_ns = task->enqueue_ns;
	return task->enqueue_ns &&
	       device_clock_to_monotonic(model, clock, task->start_ns, &placed->start_ns) &&
	       device_clock_to_monotonic(model, clock, task->end_ns, &placed->end_ns);
}

static void reach(const struct placed *placed, uint64_t *first_ns, uint64_t *last_ns)
{
	if (!placed->end_ns)
		return;
	if (placed->enqueue_ns < *first_ns)
		*first_ns = placed->enqueue_ns;
	if (placed->start_ns < *first_ns)
		*first_ns = placed->start_ns;
	if (placed->enqueue_ns > *last_ns)
		*last_ns = placed->enqueue_ns;
	if (placed->end_ns > *last_ns)
		*last_ns = placed->end_ns;
}

bool task_reach(const struct model *model, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns,
		uint64_t *last_ns)
{
	struct neighbours *of = calloc((size_t)model->devices.count + 1, sizeof(*of));
	bool known = of != NULL;

	*first_ns = from_ns;
	*last_ns = to_ns;
	for (uint32_t i = 0; known && i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		struct neighbours *near = &of[task->device];
		struct placed placed;

		if (task->flags & MODEL_TASK_UNTIMED)
			continue;
		known = place(model, task, &placed);
		if (!known)
			break;
		if (placed.end_ns <= from_ns && placed.end_ns > near->before.end_ns)
			near->before = placed;
		else if (placed.start_ns >= to_ns &&
			 (!near->after.end_ns || placed.start_ns < near->after.start_ns))
			near->after = placed;
		else if (placed.end_ns > from_ns && placed.start_ns < to_ns)
			reach(&placed, first_ns, last_ns);
	}
	for (uint32_t i = 0; known && i < model->devices.count; i++) {
		reach(&of[i].before, first_ns, last_ns);
		reach(&of[i].after, first_ns, last_ns);
	}
	free(of);
	return known;
}
