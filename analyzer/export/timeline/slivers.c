/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/slivers.h"

#define FIRST_RESOLUTION_NS 1000

static uint64_t length(const struct cpu_slice *slice)
{
	return slice->end_ns - slice->start_ns;
}

bool sliver_next(const struct cpu_slices *cpus, const struct cpu_row *cpu, uint64_t resolution_ns,
		 uint32_t *at, struct sliver *sliver)
{
	const struct cpu_slice *slices = cpus->slices;
	uint32_t end = cpu->first + cpu->count, first = cpu->first + *at;

	while (first < end && slices[first].tid == 0)
		first++;
	*at = first - cpu->first + 1;
	if (first >= end)
		return false;
	*sliver = (struct sliver){ first, first, 1, length(&slices[first]), true };
	if (sliver->run_ns >= resolution_ns)
		return true;
	for (uint32_t i = first + 1; i < end; i++) {
		if (slices[i].tid == 0)
			continue;
		if (length(&slices[i]) >= resolution_ns ||
		    slices[i].start_ns - slices[sliver->last].end_ns >= resolution_ns ||
		    slices[i].end_ns - slices[first].start_ns > SLIVER_LENGTH * resolution_ns)
			break;
		sliver->last = i;
		sliver->runs++;
		sliver->run_ns += length(&slices[i]);
		sliver->one_thread &= slices[i].tid == slices[first].tid &&
				      slices[i].thread == slices[first].thread;
	}
	*at = sliver->last - cpu->first + 1;
	return true;
}

/* Returns how many slices there are with a resolution. */
static uint64_t count(const struct cpu_slices *cpus, struct sliver_counts *counts)
{
	uint64_t all = 0;

	counts->runs = counts->slices = 0;
	for (uint32_t i = 0; i < cpus->cpu_count; i++) {
		struct sliver sliver;
		uint32_t at = 0;

		while (sliver_next(cpus, &cpus->cpus[i], counts->resolution_ns, &at, &sliver)) {
			all++;
			counts->runs += sliver.runs > 1 ? sliver.runs : 0;
			counts->slices += sliver.runs > 1;
		}
	}
	return all;
}

struct sliver_counts sliver_resolution(const struct cpu_slices *cpus, uint64_t kept)
{
	struct sliver_counts counts = { 0 };

	while (count(cpus, &counts) > kept && counts.resolution_ns < UINT64_C(1) << 50)
		counts.resolution_ns = counts.resolution_ns ? 2 * counts.resolution_ns :
							      FIRST_RESOLUTION_NS;
	return counts;
}
