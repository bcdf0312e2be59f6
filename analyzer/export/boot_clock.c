/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/boot_clock.h"

#include <errno.h>
#include <stdlib.h>

/* The readings of one snapshot differ by less than this; a suspend lasts longer. */
#define JITTER_NS 1000000
#define OFFSET_MAX ((uint64_t)1 << 61) /* a snapshot with a larger difference is invalid */
/* The most suspends in a trace; further ones are ignored. */
#define STEPS_MAX 256

static bool add_step(struct boot_clock *clock, uint64_t from_ns, uint64_t offset_ns)
{
	struct boot_step *larger =
		reallocarray(clock->steps, clock->count + 1, sizeof(*clock->steps));

	if (!larger)
		return false;
	larger[clock->count++] = (struct boot_step){ .from_ns = from_ns, .offset_ns = offset_ns };
	clock->steps = larger;
	return true;
}

int boot_clock_init(struct boot_clock *clock, struct clock_table *table, uint64_t start_ns)
{
	const struct clock_snapshot *snapshot;
	uint64_t boot_ns = start_ns;

	*clock = (struct boot_clock){ 0 };
	clock->known = clock_table_from_monotonic(table, CLOCK_KIND_BOOTTIME, start_ns, &boot_ns) ==
		       0;
	if (boot_ns < start_ns || boot_ns - start_ns > OFFSET_MAX)
		clock->known = false;
	if (!add_step(clock, 0, clock->known ? boot_ns - start_ns : 0))
		return -ENOMEM;
	for (size_t i = 0; clock->known && (snapshot = clock_table_get(table, i)); i++) {
		uint64_t offset_ns = snapshot->boottime_ns - snapshot->monotonic_ns;
		uint64_t change_ns = offset_ns - clock->steps[clock->count - 1].offset_ns;

		if (snapshot->boottime_ns == 0 || snapshot->monotonic_ns <= start_ns)
			continue;
		/* The offset never shrinks: a smaller one is a bad reading. */
		if (change_ns <= JITTER_NS || offset_ns > OFFSET_MAX || change_ns > OFFSET_MAX ||
		    clock->count == STEPS_MAX)
			continue;
		if (!add_step(clock, snapshot->monotonic_ns, offset_ns))
			return -ENOMEM;
	}
	return 0;
}

void boot_clock_free(struct boot_clock *clock)
{
	free(clock->steps);
	clock->steps = NULL;
	clock->count = 0;
}
