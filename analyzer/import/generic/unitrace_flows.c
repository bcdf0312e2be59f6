/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/generic/unitrace_flows.h"

#include <stdlib.h>
#include <string.h>

bool unitrace_is_flow(const char *category)
{
	return strncmp(category, "Flow_H2D_", 9) == 0 || strncmp(category, "CL_Flow_H2D_", 12) == 0;
}

bool unitrace_flow_add(struct unitrace_flows *flows, const struct slices *slices, uint32_t track,
		       int64_t ns, uint32_t category, bool starts)
{
	uint32_t last = slices->tracks.row[track].last;
	struct unitrace_flow end = { .category = category, .slice = last - 1 };

	if (!last || slices->slices.row[last - 1].start_ns != ns)
		return true;
	return starts ? map_put(&flows->starts, category, last - 1) :
			MODEL_PUSH(&flows->ends, end);
}

void unitrace_flows_join(const struct unitrace_flows *flows, struct slices *slices)
{
	for (uint32_t i = 0; i < flows->ends.count; i++) {
		uint32_t call = map_get(&flows->starts, flows->ends.row[i].category);

		if (call == MAP_NONE)
			continue;
		slices->slices.row[call].correlation = (uint64_t)call + 1;
		slices->slices.row[flows->ends.row[i].slice].correlation = (uint64_t)call + 1;
	}
}

void unitrace_flows_free(struct unitrace_flows *flows)
{
	map_free(&flows->starts);
	free(flows->ends.row);
}
