/* SPDX-License-Identifier: Apache-2.0 */
/* probed_process.h - the table of a session's processes, by id, with the probes of each. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PROCESS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/probe/probe_link.h"
#include "lib/base/map.h"

struct process_link {
	size_t file;
	struct probe_link *link; /* NULL: covered by the file's everywhere link */
	bool mapped; /* the mapping was recorded */
};

struct probed_process {
	pid_t pid;
	uint64_t started; /* process_facts.started; 0 = not read */
	uint64_t began_ns; /* CLOCK_MONOTONIC when it, or its program, began during the session; 0 = unknown */
	struct process_link *links;
	size_t link_count;
	struct probe_link **tails; /* probes on targets of tail jumps */
	size_t tail_count;
	bool moves_stacks;
	bool looked_at;
	bool missed; /* it has ended before its scan, which was recorded */
	bool nameless; /* its program has no symbols, which was recorded */
};

/* Zeroed: empty. */
struct probed_processes {
	struct probed_process *row;
	size_t count;
	size_t capacity;
	struct map rows; /* by process id; may have stale entries */
};

/* NULL if the process is not in the table. Valid until a process is added or removed. */
struct probed_process *probed_processes_find(const struct probed_processes *processes, pid_t pid);

/* probed_processes_add - does nothing if the process is in the table; 0 or -ENOMEM */
int probed_processes_add(struct probed_processes *processes, pid_t pid);

/* probed_processes_remove - the caller keeps its links; the last row moves to its place */
void probed_processes_remove(struct probed_processes *processes, struct probed_process *process);
void probed_processes_free(struct probed_processes *processes);

/* The link of the file with this number; NULL if there is none. */
struct process_link *probed_process_link(const struct probed_process *process, size_t file);

/* Takes ownership of @link. Returns 0 or -ENOMEM. */
int probed_process_add_link(struct probed_process *process, size_t file, struct probe_link *link);
int probed_process_add_tail(struct probed_process *process, struct probe_link *link);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBED_PROCESS_H */
