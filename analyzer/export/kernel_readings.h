/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_readings.h - the kernel's counters as lines of a timeline: pressure, frequencies and others in the recording.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H
#define PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/export/export_filter.h"
#include "analyzer/model/model.h"

struct kernel_reading {
	bool is_first; /* the first reading of its line */
	const char *name; /* "frequency of CPU 3" */
	const char *unit; /* "%", "Hz" or "" */
	uint64_t start_ns;
	double value; /* value from start_ns on */
};

typedef void kernel_reading_taker(void *context, const struct kernel_reading *reading);

/*
 * kernel_readings - passes each reading in the window to @take, line by line, sorted by time
 *
 * A sum of the kernel (pressure) becomes its share of the time up to the next reading. Lines that are always 0 are
 * left out, and the CPUs' idle states, because a timeline shows when CPUs run.
 */
void kernel_readings(const struct model *model, const struct export_window *window, kernel_reading_taker *take, void *context);

#endif /* PROFBPF_ANALYZER_EXPORT_KERNEL_READINGS_H */
