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
 * Damage is told on standard error, one line per run. Returns 0 or a negative errno
 * with @error (of @error_size bytes), which names the file; -EBADMSG if @strict and
 * any part of a trace is damaged. analysis_free() is to be called in any case.
 */
int analysis_load(struct analysis *analysis, char **traces, unsigned int count, bool strict,
		  char *error, size_t error_size);

/* What is wanted of traces. */
struct analysis_wish {
	uint32_t sections; /* enum report_section */
	uint32_t rows; /* enum load_rows: kept whatever the sections need, and joined */
	bool calls; /* keep calls for any of them: what probes cost in a part of the trace is summed up from these */
	bool part; /* of one trace: only what tells of a part of the time, since the session's start */
	bool instants; /* ... of CLOCK_MONOTONIC, and may be more than the part: all, where that takes less */
	uint64_t from_ns;
	uint64_t to_ns; /* UINT64_MAX = to the session's end */
	uint64_t margin_ns; /* so much around it, too; 0 = 2 s */
	struct progress *progress; /* where to show how much has been read; NULL = nowhere */
};

/* analysis_load_for - the same, but rows that nothing wanted needs are counted, not kept */
int analysis_load_for(struct analysis *analysis, char **traces, unsigned int count,
		      const struct analysis_wish *wish, bool strict, char *error,
		      size_t error_size);

/*
 * analysis_import - take in the device files of other profilers, after analysis_load()
 *
 * @alone: there is no trace; the files' own host halves and clocks are the model's. Returns 0 or a
 * negative errno with @error, which names the file.
 */
int analysis_import(struct analysis *analysis, char **devices, unsigned int count, bool alone,
		    char *error, size_t error_size);

/*
 * analysis_compute - join and analyse
 *
 * Once per model. Returns 0 or a negative errno with @error: -ENOMEM, -ENOENT if there are no such
 * steps as the options want.
 */
int analysis_compute(struct analysis *analysis, const struct analysis_options *options, char *error,
		     size_t error_size);

/*
 * analysis_repeat - after analysis_compute(): analyse another part of the same model
 *
 * What was found before is gone. @options must not ask for steps by number. Returns as that does.
 */
int analysis_repeat(struct analysis *analysis, const struct analysis_options *options, char *error,
		    size_t error_size);

void analysis_free(struct analysis *analysis);

#endif /* PROFBPF_ANALYZER_CLI_ANALYSIS_H */
