/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_series.h - figures of each target process in each interval, and the number of active
 * processes of the machine.
 *
 * The intervals are those of analyse/host.h. Right after the host's figures the daemon reads the
 * figures of all threads that ran since the last reading: their growth belongs to the interval that
 * ends with this reading. The figures of a thread that exits belong to the interval of its exit.
 * Nothing is interpolated, so the intervals add up to the whole; only an interval that the window
 * cuts counts in proportion to the part of its time in the window.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_SERIES_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_SERIES_H

#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/model/model.h"

/* An interval in which the process was active; other intervals have no row. */
struct process_interval {
	uint32_t process; /* index into model->processes */
	uint32_t interval; /* index into host_results.intervals */
	uint64_t run_ns;
	uint64_t user_ns; /* by the rule of analyse/cpu_split.h; with series.has_split */
	uint64_t system_ns;
	uint64_t runnable_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t minor_faults;
	uint64_t major_faults;
	struct io_bytes bytes;
	uint64_t rss_bytes; /* at its end, 0 = unknown */
};

/* results->rows[first .. first + count) of one process, in order of time. */
struct process_series {
	uint32_t first;
	uint32_t count;
	bool has_split;
};

struct series_results {
	struct process_interval *rows; /* targets only */
	uint32_t row_count;
	struct process_series *of; /* one per row of model->processes */
};

/*
 * series_analyse - fill @results, and active_processes of @host's intervals
 *
 * Returns 0 or -ENOMEM; in both cases series_free() is to be called.
 */
int series_analyse(const struct model *model, struct host_results *host,
		   struct series_results *results);
void series_free(struct series_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_SERIES_H */
