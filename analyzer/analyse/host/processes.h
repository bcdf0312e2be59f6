/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - how each thread and process spent its time.
 *
 * Targets: exact, from their timelines. Threads without a timeline, targets whose timeline is
 * partly unknown, and all other threads of the machine: from the kernel's own cumulative figures,
 * read about once a second; they are interpolated at the borders of a window that is a part of the
 * session.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PROCESSES_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/process_usage.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct process_results {
	struct analysis_window window;
	uint64_t window_ns; /* its length; 0 if it has none */
	struct process_usage *processes; /* targets first, then by run_ns */
	uint32_t process_count;
	struct thread_usage *threads;
	uint32_t thread_count;
	struct syscall_table *syscalls; /* names of the system calls */
	bool from_timelines; /* at least one target has times from its timeline */
	bool records_lost; /* figures of targets are from accounts, because scheduling records were lost */
};

/*
 * processes_analyse - fill @results
 *
 * Needs timelines. Leaves out processes that are not targets and used no CPU. Returns 0 or -ENOMEM;
 * in both cases processes_free() is to be called.
 */
int processes_analyse(const struct model *model, const struct analysis_options *options,
		      struct process_results *results);
void processes_free(struct process_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PROCESSES_H */
