/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - what the trace says of calls that could not be seen.
 *
 * A row tells from when on a file's functions were probed in a process: its calls before that, since it
 * mapped the file, are missing. A row without a file tells of a process that ended before it was
 * looked at what it maps.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/session/item.h"

/*
 * coverage_add - a row for @functions of @path in @pid, to @coverage, an item of kind ITEM_COVERAGE
 *
 * @mapped_ns: 0 = before the session. Without memory the row is left out.
 */
void coverage_add(struct item *coverage, pid_t pid, const char *path, uint32_t functions,
		  uint64_t mapped_ns, uint64_t probed_ns);

/* coverage_missed - tell @queue that @pid, which began at @since_ns, had ended by @ended_ns, and nobody had looked at it */
void coverage_missed(struct item_queue *queue, pid_t pid, uint64_t since_ns, uint64_t ended_ns);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_COVERAGE_H */
