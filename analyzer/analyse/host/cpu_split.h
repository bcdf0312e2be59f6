/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_split.h - user and system time of processes as the kernel tells them.
 *
 * The scheduler measures how long a thread ran, the timer tick samples in which
 * mode. The kernel (cputime_adjust() in kernel/sched/cputime.c) divides the
 * measured sum of all threads a process ever had in the proportion of the samples;
 * that is what getrusage(2), times(2) and /proc/PID/stat show, and what is done here,
 * once at each end of a time: what a process used is the difference.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_CPU_SPLIT_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_CPU_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* Sums over all threads that a process has had since it began. */
struct cpu_sums {
	uint64_t run_ns;
	uint64_t user_ticks_ns;
	uint64_t system_ticks_ns;
};

struct cpu_split {
	uint64_t user_ns;
	uint64_t system_ns;
};

/* cpu_split - run_ns divided; the parts add up to it */
struct cpu_split cpu_split(const struct cpu_sums *sums);

/* cpu_split_growth - what was used between two instants; neither part is negative */
struct cpu_split cpu_split_growth(const struct cpu_sums *before, const struct cpu_sums *after);

/* cpu_split_scale - the system part of @run_ns in the same proportion; 0 if nothing was used */
uint64_t cpu_split_scale(const struct cpu_split *split, uint64_t run_ns);

/* One process in a window. */
struct process_cpu {
	struct cpu_sums before, after; /* at the window's ends */
	bool known; /* what its threads used before the session is in the sums */
};

/*
 * process_cpu_compute - for each row of model->processes
 *
 * Returns an array that the caller frees, or NULL without memory.
 */
struct process_cpu *process_cpu_compute(const struct model *model,
					const struct analysis_window *window);

/*
 * process_cpu_before - what threads of each process that were gone when the session
 * began had used; *@known[i] is false where that is not known
 *
 * @sums and @known have room for model->processes.count.
 */
void process_cpu_before(const struct model *model, struct cpu_sums *sums, bool *known);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_CPU_SPLIT_H */
