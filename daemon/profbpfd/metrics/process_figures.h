/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_figures.h - cumulative figures of each process of a session since it was first seen, for metrics.
 *
 * The session's reader thread feeds it with records, the control loop reads it. The first FIGURES_PROCESSES_MAX
 * processes have a row each; later ones are summed up in one row for ever. A row stays FIGURES_KEPT_NS after its
 * process' end, so that infrequent readers see its final figures.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_FIGURES_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/metrics/process_labels.h"

#define FIGURES_PROCESSES_MAX 128
#define FIGURES_ROWS_MAX (FIGURES_PROCESSES_MAX + 1)
#define FIGURES_KEPT_NS 60000000000ull

/* All figures only grow. */
struct process_figures {
	uint32_t pid; /* 0 = the row of all other processes */
	uint64_t others; /* in that row: number of processes that were added to it */
	struct process_labels labels;
	bool has_accounts; /* the kernel's figures are known: run_ns to major_faults */
	uint64_t launches; /* outermost calls of kind launch; 0 = none was seen */
	uint64_t run_ns, runnable_ns; /* on a CPU, waiting for one: sums over its threads */
	uint64_t blocked_ns; /* asleep: sum over its threads, each up to its last run on a CPU */
	uint64_t minor_faults, major_faults;
};

struct figures;

/* figures_new - @right, which must outlive it, limits the processes whose labels may be read; NULL without memory */
struct figures *figures_new(const struct right *right);
void figures_free(struct figures *figures);

/* figures_launch_probe - calls of this probe are launches; may be called by any thread */
void figures_launch_probe(struct figures *figures, uint32_t probe);

/* figures_take - for the reader thread: takes one record of the rings */
void figures_take(struct figures *figures, const struct rec_header *record);

/* figures_copy - from any thread: copies up to @room rows, the row of all others first if there is one; returns their number */
size_t figures_copy(struct figures *figures, struct process_figures *rows, size_t room);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_FIGURES_H */
