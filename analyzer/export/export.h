/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - writes the trace in other tools' formats: one exporter for each.
 *
 * An exporter is a file with a struct exporter and a line in EXPORTERS, which makes its name known to --to, to the help
 * and to the shells' completions. CONTRIBUTING.md has an example.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_EXPORT_H
#define PROFBPF_ANALYZER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct device_step_results;
struct results; /* view/report.h */

/* The stacks that are merged, and their weight. */
enum stacks_kind {
	STACKS_ON_CPU, /* samples of threads on a CPU */
	STACKS_OFF_CPU, /* nanoseconds asleep, where the sleep was recorded with its stack */
	STACKS_DEVICE, /* nanoseconds of device tasks, below the Python functions and calls in which each was launched */
	STACKS_GIL, /* samples of threads on a CPU that had their Python interpreter's lock */
};

/* How many short runs on CPUs became how many slices (timeline/slivers.h). */
struct sliver_counts {
	uint64_t resolution_ns; /* shorter slices were merged; 0: none */
	uint64_t runs; /* runs that were merged */
	uint64_t slices; /* slices that they became */
};

/* Numbers of rows that an exporter merged, for a message to the user. */
struct export_told {
	struct sliver_counts slivers; /* runs on CPUs that were merged */
	struct sliver_counts calls, tasks; /* the same for calls and for device tasks (timeline/crowds.h) */
};

struct export_options {
	uint64_t start_ns; /* window; rows outside are left out, rows across its ends are cut */
	uint64_t end_ns;
	bool part; /* the window is only a part of the trace: tables contain no rows of other times */
	const uint32_t *pids; /* only these processes; all if pid_count is 0 */
	uint32_t pid_count;
	const struct device_step_results *steps; /* steps of devices; NULL = none are shown */
	uint32_t scope_depth; /* levels of scopes that timelines show */
	enum stacks_kind stacks; /* for exporters with has_kinds */
	bool each_slice; /* Chrome's timeline merges none (timeline/slivers.h, crowds.h) */
	struct export_told *told; /* filled by the exporter; may be NULL */
};

struct exporter {
	bool folder; /* it writes files into an empty folder; otherwise one new file */
	bool has_kinds; /* it exports several kinds of stacks: --kind selects one */
	bool cut; /* tasks of devices outside options' window are left out */
	bool of_window; /* it reads only rows in options' window: other rows need not be loaded */
	/*
	 * Writes the complete model (joined and indexed) and the results of all analyses to @path. The caller
	 * passes a temporary name, renames it after success and removes it after a failure.
	 *
	 * Returns 0 or a negative errno; then @error (of @error_size bytes) says what failed and the remedy;
	 * export_explain() writes it (export_error.h). export_filter.h applies the options.
	 */
	int (*write)(const struct model *model, const struct results *results, const char *path,
		     const struct export_options *options, char *error, size_t error_size);
};

/* FIRST(name) and NEXT(name) for each exporter, in the order of the help: export_NAME serves --to NAME. */
#define EXPORTERS(FIRST, NEXT) \
	FIRST(perfetto)        \
	NEXT(chrome)           \
	NEXT(folded)           \
	NEXT(speedscope)       \
	NEXT(pprof)            \
	NEXT(csv)              \
	NEXT(sqlite)           \
	NEXT(parquet)          \
	NEXT(mindinsight)      \
	NEXT(msprof)

#define EXPORTER_EXTERN(name) extern const struct exporter export_##name;
EXPORTERS(EXPORTER_EXTERN, EXPORTER_EXTERN)
#undef EXPORTER_EXTERN

#endif /* PROFBPF_ANALYZER_EXPORT_EXPORT_H */
