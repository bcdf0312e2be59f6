/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/join/clock/clock_steps.h"

#define ROUNDS_MAX 16
#define BOUNDS_PER_PAIR 2

static bool align_all(struct launch_pair *pairs, uint32_t count)
{
	bool same = true;

	for (uint32_t i = 0; i < count; i++) {
		bool before = pairs[i].aligned;

		pairs[i].aligned = launch_align(&pairs[i].alignment);
		same &= pairs[i].aligned || !before;
	}
	return same;
}

static uint32_t shorter_side(const struct alignment *a)
{
	return a->tasks_short ? a->task_count : a->call_count;
}

static uint64_t certain(const struct launch_pair *pairs, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct alignment *a = &pairs[i].alignment;

		for (uint32_t k = 0; pairs[i].aligned && a->ranges && k < shorter_side(a); k++)
			sum += a->earliest[k] == a->latest[k];
	}
	return sum;
}

/* Adds the bounds that hold for any counterpart in the range. */
static void add_bounds(const struct alignment *a, struct clock_bound *bounds, uint32_t *count)
{
	for (uint32_t i = 0; i < shorter_side(a); i++) {
		uint32_t early = a->earliest[i], late = a->latest[i];
		const struct align_call *first = &a->calls[a->tasks_short ? early : i];
		const struct align_call *last = &a->calls[a->tasks_short ? late : i];
		const struct align_task *early_task = &a->tasks[a->tasks_short ? i : early];
		const struct align_task *late_task = &a->tasks[a->tasks_short ? i : late];

		if (!a->tasks_short && first->least == 0)
			continue;
		if (late_task->start_ns)
			bounds[(*count)++] = (struct clock_bound){
				.time_ns = late_task->start_ns,
				.offset_ns = (int64_t)(first->start_ns - late_task->start_ns),
			};
		if (early_task->end_ns && last->done_ns != UINT64_MAX)
			bounds[(*count)++] = (struct clock_bound){
				.time_ns = early_task->end_ns,
				.offset_ns = (int64_t)(last->done_ns - early_task->end_ns),
				.upper = true,
			};
	}
}

/* Returns false if the bounds determine no clock. */
static bool find_clock(const struct launch_pair *pairs, uint32_t count, struct clock_bound *bounds,
		       struct clock_steps *steps, struct align_clock *clock)
{
	uint32_t bound_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (pairs[i].aligned && pairs[i].alignment.ranges)
			add_bounds(&pairs[i].alignment, bounds, &bound_count);
	}
	if (!clock_steps_fit(bounds, bound_count, steps) || steps->count != 1 || steps->ignored)
		return false;
	*clock = (struct align_clock){ steps->piece[0].line, steps->piece[0].line.error_ns };
	return true;
}

static void set_clock(struct launch_pair *pairs, uint32_t count, const struct align_clock *clock)
{
	for (uint32_t i = 0; i < count; i++)
		pairs[i].alignment.clock = *clock;
}

int launch_clock_align(struct launch_pair *pairs, uint32_t count)
{
	const struct align_clock unknown = { .error_ns = UINT64_MAX };
	struct clock_steps *steps = malloc(sizeof(*steps));
	struct clock_bound *bounds = NULL;
	struct align_clock clock = unknown;
	uint64_t room = 1, before;
	int err = -ENOMEM;

	for (uint32_t i = 0; i < count; i++)
		room += pairs[i].alignment.call_count + pairs[i].alignment.task_count;
	align_all(pairs, count);
	if (count && pairs->alignment.clock.error_ns != UINT64_MAX) {
		free(steps);
		return 0;
	}
	bounds = calloc(room, BOUNDS_PER_PAIR * sizeof(*bounds));
	if (!bounds || !steps)
		goto cleanup;
	err = 0;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		before = certain(pairs, count);
		if (!find_clock(pairs, count, bounds, steps, &clock)) {
			if (round == 0)
				break;
			clock = unknown;
		}
		set_clock(pairs, count, &clock);
		if (!align_all(pairs, count)) {
			set_clock(pairs, count, &unknown);
			align_all(pairs, count);
			break;
		}
		if (clock.error_ns == UINT64_MAX)
			break;
		if (round > 0 && certain(pairs, count) == before)
			break;
	}
cleanup:
	free(bounds);
	free(steps);
	return err;
}
