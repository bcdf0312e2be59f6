/* SPDX-License-Identifier: Apache-2.0 */
/* process_facts.h - facts about a process other than the times of its threads. */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_FACTS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_FACTS_H

#include "analyzer/analyse/host/cpu_split.h"
#include "analyzer/analyse/host/process_usage.h"
#include "analyzer/analyse/selection.h"

/*
 * process_facts - fill user and system time, faults, bytes, memory, cgroup and inner pid of @usage
 *
 * The sums over threads of @usage, and its threads, must have been filled before.
 */
void process_facts(const struct model *model, const struct analysis_window *window,
		   const struct process_cpu *cpu, struct process_usage *usage);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PROCESS_FACTS_H */
