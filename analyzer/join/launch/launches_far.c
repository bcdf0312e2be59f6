/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launches_far.h"

/* The clock is declared: otherwise no task would have been left out. */
static void describe(const struct model *model, const struct far_device *device, struct device_clock *clock)
{
	uint64_t first_ns = device->first_start_ns, last_ns = device->last_start_ns, ns;
	int64_t offset_ns;

	if (!first_ns || !device_clock_to_monotonic(model, clock->clock, first_ns, &ns))
		return;
	clock->offset_ns = (int64_t)(ns - first_ns);
	if (last_ns == first_ns || !device_clock_to_monotonic(model, clock->clock, last_ns, &ns))
		return;
	offset_ns = (int64_t)(ns - last_ns);
	clock->drift_ppb = (int64_t)((double)(offset_ns - clock->offset_ns) * 1e9 /
				     (double)(last_ns - first_ns));
}

void launches_add_far(const struct model *model, const struct far_counts *far,
		      struct launch_join *join, struct device_clock *clocks)
{
	join->tasks += far->tasks;
	join->matched += far->matched;
	join->by_enqueue += far->matched;
	join->unmatched_launches -= far->launches;
	join->unmatched_tasks = join->tasks - join->matched;
	for (uint32_t i = 0; i < far->devices.count && i < model->devices.count; i++) {
		clocks[i].tasks += far->devices.row[i].tasks;
		describe(model, &far->devices.row[i], &clocks[i]);
	}
}
