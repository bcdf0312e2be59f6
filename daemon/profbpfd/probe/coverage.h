/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - records about calls that could not be seen.
 *
 * A row has the time from which a file's functions were probed in a process: earlier calls, since the process
 * mapped the file, are missing. A row without a file stands for a process that ended before its mappings
 * were read; a row without functions for a program in which none can be found.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/session/item.h"

/* coverage_row - makes a row: @functions in @pid, probed from @probed_ns on; @mapped_ns: 0 = before the session */
struct coverage_row coverage_row(pid_t pid, uint32_t functions, uint64_t mapped_ns, uint64_t probed_ns);

/* coverage_add - adds @row with the file's path to @coverage, an item of kind ITEM_COVERAGE; drops it without memory */
void coverage_add(struct item *coverage, struct coverage_row row, const char *path);

/* coverage_mapped - queues a row: @pid has mapped @path at @now_ns, whose @functions were already probed for it */
void coverage_mapped(struct item_queue *queue, pid_t pid, const char *path, uint32_t functions, uint64_t now_ns);

/* coverage_missed - queues a row: @pid, which began at @since_ns, had ended by @ended_ns before its mappings were read */
void coverage_missed(struct item_queue *queue, pid_t pid, uint64_t since_ns, uint64_t ended_ns);

/*
 * coverage_nameless - queues a row if @path is the program of @pid: no function in it has a name
 *
 * Returns whether @path is the program. For other files, such as libraries of data, no row is needed.
 */
bool coverage_nameless(struct item_queue *queue, pid_t pid, const char *path, uint64_t mapped_ns,
		       uint64_t looked_ns);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H */
