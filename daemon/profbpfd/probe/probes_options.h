/* SPDX-License-Identifier: Apache-2.0 */
/* probes_options.h - options of the table of probes (probes.h): targets, budget, consumers of its facts. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_OPTIONS_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/probe/code_names.h"
#include "daemon/profbpfd/probe/end_prices.h"
#include "daemon/profbpfd/probe/file_cache.h"

struct figures;

struct probes_options {
	bool system_wide;
	bool follow;
	size_t targets; /* number of targets at the start */
	bool own_only; /* never a breakpoint in a process that is not a target, see probes.h */
	bool optimized_nop;
	bool early_exits; /* probe ends of calls before the return instruction if the kernel would single-step that */
	struct end_prices prices; /* the cost of seeing the ends of calls */
	double budget; /* the part of one CPU for that, 0 = unlimited */
	bool keep_queues; /* record calls of the kinds queue and marker, however short */
	uint64_t functions_max; /* limit of probed functions; 0 = CAPTURE_PROBES_MAX */
	struct file_cache *file_cache; /* may be NULL */
	struct figures *figures; /* learns which functions launch; NULL: not needed */
	struct code_names *code_names; /* learns which functions take addresses to be named */
	const struct right *right; /* limits the processes that may be read; NULL: none */
};

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_OPTIONS_H */
