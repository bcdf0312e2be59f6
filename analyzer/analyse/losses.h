/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - can the trace be trusted: records that were lost, damaged or never made.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_LOSSES_H
#define PROFBPF_ANALYZER_ANALYSE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/calls/unseen_launches.h"
#include "analyzer/model/model.h"

struct capture_source {
	uint32_t source; /* index into model->sources */
	uint64_t lost; /* sum of the reasons */
	uint64_t missing; /* delivered by the recorder, but not in the files */
	bool adds_up; /* produced = delivered + lost */
};

/*
 * A time in which calls of a file's functions, if any, were not seen. Or a process that ended
 * before its mappings were read: its calls of functions in any file that was probed in other
 * processes were not seen.
 */
struct coverage_gap {
	uint32_t coverage; /* index into model->coverage */
	uint64_t start_ns;
	uint64_t ns;
	bool since_mapped; /* else since the session's start */
	bool of_process; /* a process that ended so early; there is no file */
};

/* A time in which only the entries of a function's calls were recorded, because it was called too often. */
struct ends_span {
	uint32_t function; /* index into model->functions */
	uint32_t calls_per_second; /* at the start of this time */
	uint64_t start_ns;
	uint64_t ns; /* to the end of the session, if ends were not recorded again before */
};

/* A time in which only a part of a kind of records was recorded. */
struct left_out {
	uint32_t what; /* PROFBPF__SHED__WHAT__* */
	uint32_t kept_permille;
	uint32_t cost_ppm; /* the recording's cost just before, on the CPU where it was highest */
	bool for_room; /* the reason is that records were lost, or nearly; else the recording cost too much */
	uint64_t start_ns;
	uint64_t ns; /* to the next change, or to the end of its session */
};

/* left_out_name - the name of a PROFBPF__SHED__WHAT__*: samples, wakeups, sleeps (their stacks) */
const char *left_out_name(uint32_t what);

struct capture_results {
	bool complete; /* every produced record was read, and the session ended */
	bool damaged; /* parts of the file could not be read */
	uint64_t lost; /* records, all sources */
	uint64_t missing;
	uint64_t switches_missing; /* of targets: the records before and after do not match,
				    * although nothing was lost: the kernel did not report them */
	struct capture_source *sources;
	uint32_t source_count;
	struct coverage_gap *gaps; /* longest first */
	uint32_t gap_count;
	uint32_t process_gaps; /* number of gaps of processes; they come last in gaps */
	struct ends_span *unseen_ends; /* longest first */
	uint32_t unseen_end_count;
	struct left_out *left_out; /* by kind, then by time */
	uint32_t left_out_count;
	struct unseen_launches unseen;
};

/*
 * capture_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases capture_free() is to be called.
 */
int capture_analyse(const struct model *model, struct capture_results *results);
void capture_free(struct capture_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_LOSSES_H */
