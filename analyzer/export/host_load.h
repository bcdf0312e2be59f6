/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_load.h - how busy the host's CPUs were between two readings of /proc/stat.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_HOST_LOAD_H
#define PROFBPF_ANALYZER_EXPORT_HOST_LOAD_H

#include <stdint.h>

#include "analyzer/model/model.h"

/* Between two readings; without both, busy and idle are 0: not known. */
struct host_load {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t busy_ns; /* sum over all CPUs in both readings */
	uint64_t idle_ns; /* includes I/O wait */
};

/*
 * host_load_compute - one row per pair of consecutive readings
 *
 * A CPU whose figures ran backwards is left out of that row. Returns 0 and an
 * array of *count rows that the caller frees, or -ENOMEM.
 */
int host_load_compute(const struct model *model, struct host_load **rows, uint32_t *count);

/* Share of busy time in percent, 0..100; negative if it is not known. */
double host_load_percent(const struct host_load *load);

#endif /* PROFBPF_ANALYZER_EXPORT_HOST_LOAD_H */
