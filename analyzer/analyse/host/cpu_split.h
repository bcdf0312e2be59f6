/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_split.h - user and system time of processes by the kernel's own rule.
 *
 * The scheduler measures how long a thread ran; the timer tick samples in which mode. The kernel
 * (cputime_adjust() in kernel/sched/cputime.c) divides the measured sum of all threads that a
 * process ever had in the proportion of the samples; getrusage(2), times(2) and /proc/PID/stat
 * report the result. This module does the same at both ends of a time; the difference is the
 * process's use.
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

/* cpu_split - divide run_ns into user and system time; the parts add up to run_ns */
struct cpu_split cpu_split(const struct cpu_sums *sums);

/* cpu_split_growth - the use between two instants; neither part is negative */
struct cpu_split cpu_split_growth(const struct cpu_sums *before, const struct cpu_sums *after);

/* cpu_split_scale - the system part of @run_ns in the proportion of @split; 0 if @split is empty */
uint64_t cpu_split_scale(const struct cpu_split *split, uint64_t run_ns);

/* One process in a window. */
struct process_cpu {
	struct cpu_sums before, after; /* at the window's ends */
	bool known; /* the sums contain the use before the session */
};

/*
 * process_cpu_compute - the sums of each row of model->processes
 *
 * Returns an array that the caller frees, or NULL without memory.
 */
struct process_cpu *process_cpu_compute(const struct model *model,
					const struct analysis_window *window);

/*
 * process_cpu_before - the use of each process's threads that ended before the session began
 *
 * *@known[i] is false if it is unknown. @sums and @known have room for model->processes.count.
 */
void process_cpu_before(const struct model *model, struct cpu_sums *sums, bool *known);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_CPU_SPLIT_H */
