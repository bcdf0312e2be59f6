/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_readings.h - the kernel's counters as lines of a timeline: pressure, frequencies and what else the recording has.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H
#define PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/export_filter.h"
#include "analyzer/model/model.h"

struct kernel_reading {
	bool is_first; /* of its line */
	const char *name; /* "frequency of CPU 3" */
	const char *unit; /* "%", "Hz" or "" */
	uint64_t start_ns;
	double value; /* from then on */
};

typedef void kernel_reading_taker(void *context, const struct kernel_reading *reading);

/*
 * kernel_readings - each reading in the window, line by line and in the order of time
 *
 * What the kernel sums up (pressure) is its share of the time up to the next reading. Left out are lines that stay 0, and CPUs'
 * idle states: a timeline shows when CPUs run.
 */
void kernel_readings(const struct model *model, const struct export_window *window, kernel_reading_taker *take, void *context);

#endif /* PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H */
