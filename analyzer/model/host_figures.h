/* SPDX-License-Identifier: Apache-2.0 */
/* host_figures.h - rows of the model (model.h): figures of the host as a whole. */
#ifndef PROFBPF_ANALYZER_MODEL_HOST_FIGURES_H
#define PROFBPF_ANALYZER_MODEL_HOST_FIGURES_H

#include <stdint.h>

/* /proc/stat of one CPU at an instant, cumulative. */
struct cpu_stat {
	uint64_t ts_ns;
	uint32_t cpu;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t iowait_ns;
	uint64_t idle_ns;
	uint64_t steal_ns;
};

/* /proc/stat of the whole machine at an instant; the first two are cumulative. */
struct host_stat {
	uint64_t ts_ns;
	uint64_t context_switches;
	uint64_t forks;
	uint32_t runnable;
	uint32_t blocked;
};

/* A reading of the host: pressure, frequency, time in idle states. */
struct counter {
	uint64_t ts_ns;
	uint64_t value;
	uint32_t name;
	uint32_t cpu; /* INDEX_NONE = the whole machine */
	uint8_t unit; /* Profbpf__Counters__Unit */
};

#endif /* PROFBPF_ANALYZER_MODEL_HOST_FIGURES_H */
