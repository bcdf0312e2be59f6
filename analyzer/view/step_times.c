/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/step_times.h"

#include <math.h>
#include <stdlib.h>

/* Makes the result and frees @values. */
static struct durations times_of(uint64_t *values, uint32_t count)
{
	struct durations times = durations_of(values, values ? count : 0, 0, 0);

	free(values);
	return times;
}

struct durations trainer_step_times(const struct pipeline_steps *steps)
{
	uint64_t *values = calloc((size_t)steps->count + 1, sizeof(*values));

	for (uint32_t i = 0; values && i < steps->count; i++)
		values[i] = steps->rows[i].duration_ns;
	return times_of(values, steps->count);
}

struct durations device_step_times(const struct device_step_trace *trace)
{
	uint64_t *values = calloc((size_t)trace->count + 1, sizeof(*values));

	for (uint32_t i = 0; values && i < trace->count; i++)
		values[i] = trace->rows[i].end_ns - trace->rows[i].start_ns;
	return times_of(values, trace->count);
}

struct durations loop_step_times(const struct host_loops *loops, const struct host_loop *loop)
{
	uint64_t *values = calloc((size_t)loop->count + 1, sizeof(*values));

	for (uint32_t i = 0; values && i < loop->count; i++) {
		const struct host_turn *turn = &loops->turns.row[loop->first + i];

		values[i] = turn->end_ns - turn->start_ns;
	}
	return times_of(values, loop->count);
}

double trainer_data_wait(const struct pipeline_steps *steps)
{
	uint64_t wait_ns = 0, all_ns = 0;

	for (uint32_t i = 0; i < steps->count; i++) {
		wait_ns += steps->rows[i].data_wait_ns;
		all_ns += steps->rows[i].duration_ns;
	}
	return all_ns ? 100.0 * (double)wait_ns / (double)all_ns : NAN;
}
