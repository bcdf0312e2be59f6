/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_clock.h - converts device task times to CLOCK_MONOTONIC of the host.
 *
 * A device whose source declared its clock is converted by the trace's clock snapshots. If the device has its own
 * counter, which the source converted to that clock (device->anchored), the error of the conversion follows from
 * causality, as below, or is unknown: the source does not report it. An undeclared clock is found by causality: a task
 * is queued inside its enqueue call, cannot start before that call was entered, and cannot end after the return of a
 * synchronizing call that waited for it. Each of these is a bound on "host time minus device time"; the join uses the
 * straight line that stays farthest inside all of them.
 */
#ifndef PROFBPF_ANALYZER_JOIN_CLOCK_DEVICE_CLOCK_H
#define PROFBPF_ANALYZER_JOIN_CLOCK_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

enum device_clock_method {
	DEVICE_CLOCK_NONE =
		0, /* no tasks with times, or no basis for a conversion: times are unchanged */
	DEVICE_CLOCK_MONOTONIC, /* the device's timestamps are in CLOCK_MONOTONIC already */
	DEVICE_CLOCK_SNAPSHOTS, /* declared clock, converted by clock snapshots */
	DEVICE_CLOCK_CAUSALITY, /* fitted between lower and upper bounds */
	DEVICE_CLOCK_CAUSALITY_LOWER, /* only lower bounds: the earliest possible times */
	DEVICE_CLOCK_DISAGREES, /* the bounds contradict each other; the line with the least violation is used */
	DEVICE_CLOCK_CORRECTED, /* declared, but tasks joined by their numbers show that it is off */
	DEVICE_CLOCK_OWN, /* a device file without a trace: all times are in its clock */
};

/* The result for one device's clock. */
struct device_clock {
	uint8_t method; /* enum device_clock_method */
	uint8_t clock; /* Profbpf__DeviceClock as declared */
	int64_t offset_ns; /* CLOCK_MONOTONIC minus the device clock at the device's first task */
	uint64_t error_ns; /* true times lie within plus or minus this; UINT64_MAX = unknown */
	int64_t drift_ppb; /* growth of the offset, ns per second of device time */
	uint32_t tasks; /* number of converted tasks */
	uint32_t
		before_enqueue; /* tasks that start before their enqueue call nevertheless: impossible ones */
	uint32_t negative; /* tasks that did so by the declared clock, before it was corrected */
	uint32_t steps; /* jumps that were found */
	uint32_t at_steps; /* tasks so near to a jump that their times are less certain */
	uint32_t ignored; /* bounds that contradict all the others */
	uint64_t step_error_ns; /* error of the times of those tasks; UINT64_MAX = unknown */
	int64_t correction_ns; /* DEVICE_CLOCK_CORRECTED: the parts of offset_ns and drift_ppb that the */
	int64_t correction_ppb; /* declared clock lacked */
};

/*
 * device_clocks_join - converts the times of all device tasks
 *
 * Rewrites queued, submit, start and end of model->tasks (0 stays 0: "not
 * reported"), marks rows whose converted end lies before their start as
 * MODEL_TASK_UNTIMED, and sorts model->tasks by (device, start_ns). Calls'
 * task indices become invalid, so this runs before launches_join(). Run once
 * per model.
 *
 * @clocks: array of model->devices.count entries, filled. The caller owns it.
 * Returns 0 or -ENOMEM.
 */
int device_clocks_join(struct model *model, struct device_clock *clocks);

/*
 * device_clock_to_monotonic - an instant of a declared clock (Profbpf__DeviceClock)
 *
 * False if the clock is undeclared or there are no snapshots of it.
 */
bool device_clock_to_monotonic(const struct model *model, uint8_t clock, uint64_t device_ns,
			       uint64_t *monotonic_ns);

/* device_clock_from_monotonic - the opposite conversion; returns false as above */
bool device_clock_from_monotonic(const struct model *model, uint8_t clock, uint64_t monotonic_ns,
				 uint64_t *device_ns);

/* The method as text for reports: "declared clock, by snapshots", ... Static text. */
const char *device_clock_method_text(uint8_t method);

/* The clock's name: "CLOCK_MONOTONIC_RAW", "undeclared", ... Static text. */
const char *device_clock_name(uint8_t clock);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_DEVICE_CLOCK_H */
