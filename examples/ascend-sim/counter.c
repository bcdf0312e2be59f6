/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.c - the counter of the simulated device, in libascend_hal.so, with configurable errors: of its
 * first reading and of its rate, and jumps.
 */
#include <stdlib.h>
#include <time.h>

#include "sim.h"

#define PAIR_NS 500 /* readings of two clocks within this time count as simultaneous */

SIM_EXPORT uint64_t sim_clock_ns(int clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

SIM_EXPORT uint64_t sim_now(void)
{
	return sim_clock_ns(CLOCK_MONOTONIC);
}

/* Parses "EVERY:US,US,...": the number of tasks between jumps, and the size of each jump. */
static void plan_jumps(struct sim_counter *counter, const char *text)
{
	char *end;

	if (!text)
		return;
	counter->jump_every = strtoull(text, &end, 10);
	while (counter->jump_every && (*end == ':' || *end == ',') &&
	       counter->jumps_planned < SIM_JUMPS_MAX)
		counter->jumps[counter->jumps_planned++].by_ns = strtoll(end + 1, &end, 10) * 1000;
}

void sim_counter_begin(struct sim_counter *counter)
{
	counter->offset_ns = (int64_t)sim_setting("ASCEND_SIM_CLOCK_OFFSET_NS", 0);
	counter->ppm = sim_setting("ASCEND_SIM_CLOCK_PPM", 0);
	plan_jumps(counter, getenv("ASCEND_SIM_CLOCK_STEPS"));
	counter->begin_ns = sim_clock_ns(CLOCK_MONOTONIC);
	counter->begin_raw_ns = sim_clock_ns(CLOCK_MONOTONIC_RAW);
	counter->begin_real_ns = sim_clock_ns(CLOCK_REALTIME);
	counter->begin_ticks = 4321000000000 + counter->begin_raw_ns / SIM_TICK_NS;
}

void sim_counter_sent(struct sim_counter *counter, uint64_t sent_ns)
{
	if (counter->jumps_done == counter->jumps_planned || ++counter->sent % counter->jump_every)
		return;
	counter->jumps[counter->jumps_done++].at_ns = sent_ns;
}

/* Returns the counter at an instant of CLOCK_MONOTONIC_RAW, the reference for its rate. */
static uint64_t ticks_at(const struct sim_counter *counter, uint64_t raw_ns, int64_t jumped_ns)
{
	double since = (double)(int64_t)(raw_ns - counter->begin_raw_ns);

	return counter->begin_ticks + (uint64_t)(int64_t)((since * (1 + counter->ppm * 1e-6) +
							   (double)(counter->offset_ns + jumped_ns)) /
							  SIM_TICK_NS);
}

void sim_counter_stamp(const struct sim_counter *counter, struct sim_task *task)
{
	uint64_t now_ns, raw_ns, after_ns;
	int64_t jumped_ns = 0;

	for (uint32_t i = 0; i < counter->jumps_done && counter->jumps[i].at_ns <= task->start_ns; i++)
		jumped_ns += counter->jumps[i].by_ns;
	/* Reads the two clocks close enough together for the slew between them to be negligible. */
	do {
		now_ns = sim_clock_ns(CLOCK_MONOTONIC);
		raw_ns = sim_clock_ns(CLOCK_MONOTONIC_RAW);
		after_ns = sim_clock_ns(CLOCK_MONOTONIC);
	} while (after_ns - now_ns > PAIR_NS);
	now_ns += (after_ns - now_ns) / 2;
	task->start_ticks = ticks_at(counter, raw_ns - (now_ns - task->start_ns), jumped_ns);
	task->end_ticks = ticks_at(counter, raw_ns - (now_ns - task->end_ns), jumped_ns);
}
