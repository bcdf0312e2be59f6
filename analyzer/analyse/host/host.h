/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - utilization of the host's CPUs.
 *
 * The figures are the kernel's own cumulative ones (/proc/stat), read each interval; at the borders
 * of the window they are interpolated.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_HOST_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* Time of one CPU, or the sum over all CPUs. */
struct cpu_usage {
	uint32_t cpu; /* INDEX_NONE: sum over all CPUs */
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t iowait_ns; /* idle while a thread that last ran here waits for I/O */
	uint64_t idle_ns; /* otherwise idle */
	uint64_t steal_ns; /* taken by the hypervisor */
};

/* One interval between two snapshots, or the part of it that lies in the window. */
struct host_interval {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t reading; /* row of model->host_stats that ends it (or would, if the window did not cut it) */
	struct cpu_usage all;
	uint64_t context_switches;
	uint64_t forks;
	uint32_t runnable; /* threads running or ready, at its end */
	uint32_t blocked; /* threads in uninterruptible waits for I/O, at its end */
	uint32_t active_processes; /* number of processes that used a CPU in it; analyse/process_series.h */
};

struct host_results {
	bool known; /* at least two snapshots in or around the window */
	uint64_t from_ns; /* part of the window for which there are figures */
	uint64_t to_ns;
	struct cpu_usage all;
	struct cpu_usage *cpus; /* by CPU number */
	uint32_t cpu_count;
	uint64_t context_switches;
	uint64_t forks;
	double runnable_mean; /* threads running or ready, mean over the snapshots */
	struct host_interval *intervals; /* from from_ns to to_ns without holes: they add up to the sums */
	uint32_t interval_count;
	struct cpu_usage *cells; /* [cpu * interval_count + interval]: rows of cpus, by interval; NULL = not kept */
	double blocked_mean; /* as runnable_mean */
};

/*
 * host_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases host_free() is to be called.
 */
int host_analyse(const struct model *model, const struct analysis_options *options,
		 struct host_results *results);
void host_free(struct host_results *results);

/* The mean number of CPUs without work; NAN if unknown. */
double host_idle_cpus(const struct host_results *host);

/* The busy share of CPU time in percent; NAN if unknown. */
double cpu_utilization(const struct cpu_usage *usage);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_HOST_H */
