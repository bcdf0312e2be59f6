/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_figures.h - what each process of a session did since it was first seen there, for metrics.
 *
 * Fed with the records of the session by its reader thread, read by the control loop. The first
 * FIGURES_PROCESSES_MAX processes have a row each; what later ones do is added up in one row for ever. A
 * row stays FIGURES_KEPT_NS after its process's end, so that who reads now and then sees its last figures.
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

/* All of it only grows. */
struct process_figures {
	uint32_t pid; /* 0 = the row of all others */
	uint64_t others; /* of that row: processes that came to it */
	struct process_labels labels;
	bool has_accounts; /* those of the kernel are known: run_ns to major_faults */
	uint64_t launches; /* outermost calls of kind launch; 0 = none was seen */
	uint64_t run_ns, runnable_ns; /* on a CPU, waiting for one: of all its threads */
	uint64_t blocked_ns; /* asleep, likewise, each until it last ran */
	uint64_t minor_faults, major_faults;
};

struct figures;

/* figures_new - @right, which has to outlive it, says whose labels may be read; NULL without memory */
struct figures *figures_new(const struct right *right);
void figures_free(struct figures *figures);

/* figures_launch_probe - calls of this probe are launches; from any thread */
void figures_launch_probe(struct figures *figures, uint32_t probe);

/* figures_take - the reader thread: one record of the rings */
void figures_take(struct figures *figures, const struct rec_header *record);

/* figures_copy - from any thread: up to @room rows, that of all others first if there is one; returns how many */
size_t figures_copy(struct figures *figures, struct process_figures *rows, size_t room);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_PROCESS_FIGURES_H */
