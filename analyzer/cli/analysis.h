/* SPDX-License-Identifier: Apache-2.0 */
/*
 * analysis.h - load, join, analyse: from files to a model and its results.
 */
#ifndef PROFBPF_ANALYZER_CLI_ANALYSIS_H
#define PROFBPF_ANALYZER_CLI_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/cli/found.h"

/*
 * analysis_load - read the traces and complete the model
 *
 * Reports damage on standard error, one line per run of the program. Returns 0 or a negative errno
 * with @error (of @error_size bytes), which names the file; -EBADMSG if @strict and any part of a
 * trace is damaged. analysis_free() is to be called in any case.
 */
int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size);

/* The parts of traces that the caller needs. */
struct analysis_wish {
	uint32_t sections; /* enum report_section */
	uint32_t rows; /* enum load_rows: kept and joined even if no section needs them */
	bool calls; /* keep the calls for any section: the cost of probes in a part of the trace is their sum */
	bool part; /* one trace: only the rows for a part of the time, since the session's start */
	bool instants; /* ... in CLOCK_MONOTONIC; the loaded part may be larger, up to all, where that is cheaper */
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX = to the session's end */
	uint64_t margin_ns; /* loaded around the part as well; 0 = 2 s */
	struct progress *progress; /* display of the progress of reading; NULL = none */
};

/* analysis_load_for - the same, but counts rows that @wish does not need instead of keeping them */
int analysis_load_for(struct analysis *analysis, char **traces, unsigned int count,
		      const struct analysis_wish *wish, bool strict, char *error,
		      size_t error_size);

/*
 * analysis_import - read the device files of other profilers, after analysis_load()
 *
 * @alone: there is no trace; the model gets its host rows and clocks from the files. @strict: fails if a file is
 * damaged; else a message states the damage. Returns 0 or a negative errno with @error, which names the file.
 */
int analysis_import(struct analysis *analysis, char **devices, unsigned int count, bool alone,
		    bool strict, char *error, size_t error_size);

/*
 * analysis_compute - join and analyse
 *
 * Once per model. Returns 0 or a negative errno with @error: -ENOMEM, or -ENOENT if the steps that
 * the options select do not exist.
 */
int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size);

/*
 * analysis_repeat - after analysis_compute(): analyse another part of the same model
 *
 * Replaces the earlier results. @options must not select steps by number. Returns as analysis_compute().
 */
int analysis_repeat(struct analysis *analysis, const struct analysis_options *options, char *error,
		    size_t error_size);

void analysis_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_CLI_ANALYSIS_H */
