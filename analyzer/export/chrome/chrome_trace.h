/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_trace.h - shared by the parts of the Chrome JSON export.
 *
 * Process and thread numbers identify rows. Real threads have their own numbers; all other rows (devices, CPUs,
 * further rows for overlapping slices) have numbers above the largest that Linux assigns.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_TRACE_H
#define PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/chrome/chrome_writer.h"
#include "analyzer/export/timeline/cpu_slices.h"
#include "analyzer/export/timeline/crowds.h"
#include "analyzer/export/export.h"
#include "analyzer/export/export_filter.h"
#include "analyzer/export/timeline/export_flows.h"
#include "analyzer/export/timeline/pass_flows.h"
#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/ranges.h"

struct device_results;
struct results; /* view/report.h */

#define CHROME_CPUS_PID 5000000u
#define CHROME_DEVICES_PID 5000001u /* and following, CHROME_DEVICE_PIDS per device */
#define CHROME_DEVICE_PIDS 8 /* the device, then a group of its streams each, then its overlap */
#define CHROME_OPERATORS_PID 4500000u /* and following: operators on the host of a process each */
#define CHROME_ROWS_TID 1000000000u /* and following */

struct chrome_trace {
	const struct model *model;
	const struct results *results;
	const struct device_results *devices; /* or NULL */
	const struct export_options *options;
	struct export_window window;
	bool *chosen; /* by thread: of a wanted process */
	bool *named; /* by process */
	struct chrome_writer writer;
	struct cpu_slices cpus;
	struct sliver_counts slivers;
	struct sliver_counts calls, tasks; /* merged slices */
	struct export_flows flows;
	struct pass_flows passes;
	struct ranges ranges;
	uint32_t rows; /* thread numbers given out */
	uint64_t not_placed; /* slices beyond LANES_MAX at once */
};

/* chrome_add_row - a thread number of the writer's own, with its name */
uint32_t chrome_add_row(struct chrome_trace *trace, uint32_t pid, const char *name);

/* Names of processes and threads as viewers show them; processes come in order of @sort. */
void chrome_name_process(struct chrome_trace *trace, uint32_t pid, const char *name, uint32_t sort);
void chrome_name_thread(struct chrome_trace *trace, uint32_t pid, uint32_t tid, const char *name);

/*
 * chrome_process - returns the pid of a process, and names the process at its first use; returns @pid if it is unknown
 */
uint32_t chrome_process(struct chrome_trace *trace, uint32_t process, uint32_t pid);

/*
 * chrome_survey_calls, chrome_survey_tasks - the result of merging slices with the resolution of @counts
 *
 * Fills the rest of @counts, and *@slices with the number of slices after merging, without the job's own marks. @mark:
 * removes the arrows of merged slices. Returns 0 or -ENOMEM.
 */
int chrome_survey_calls(struct chrome_trace *trace, struct sliver_counts *counts, bool mark,
			uint64_t *slices);
int chrome_survey_tasks(struct chrome_trace *trace, struct sliver_counts *counts, bool mark,
			uint64_t *slices);

/* The parts; -ENOMEM or 0. Errors of writing stay in trace->writer.error. */
int chrome_write_calls(struct chrome_trace *trace);
int chrome_write_host_operators(struct chrome_trace *trace);
int chrome_write_devices(struct chrome_trace *trace);
int chrome_write_job(struct chrome_trace *trace);
int chrome_write_cpus(struct chrome_trace *trace);

#endif /* PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_TRACE_H */
