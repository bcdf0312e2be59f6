/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/lanes.h"

#include <stdlib.h>

static bool fits(const struct lanes *lanes, const struct lane *lane, uint64_t start_ns,
		 uint64_t end_ns)
{
	uint32_t depth = lane->depth;

	while (depth > 0 && lane->ends[depth - 1] <= start_ns)
		depth--;
	if (depth == 0)
		return true;
	return lanes->nest && depth < LANE_DEPTH && end_ns <= lane->ends[depth - 1];
}

static struct lane *add(struct lanes *lanes)
{
	if (lanes->count == LANES_MAX)
		return NULL;
	if (lanes->count == lanes->capacity) {
		uint32_t capacity = lanes->capacity ? lanes->capacity * 2 : 4;
		struct lane *larger = reallocarray(lanes->lane, capacity, sizeof(*larger));

		if (!larger)
			return NULL;
		lanes->lane = larger;
		lanes->capacity = capacity;
	}
	lanes->lane[lanes->count].depth = 0;
	lanes->lane[lanes->count].track = 0;
	return &lanes->lane[lanes->count++];
}

struct lane *lanes_place(struct lanes *lanes, uint64_t start_ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		if (fits(lanes, &lanes->lane[i], start_ns, end_ns))
			return &lanes->lane[i];
	}
	return add(lanes);
}

void lanes_clear(struct lanes *lanes)
{
	lanes->count = 0;
}

void lanes_free(struct lanes *lanes)
{
	free(lanes->lane);
	lanes->lane = NULL;
	lanes->count = 0;
	lanes->capacity = 0;
}
