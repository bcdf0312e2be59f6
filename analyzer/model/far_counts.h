/* SPDX-License-Identifier: Apache-2.0 */
/* far_counts.h - numbers of device tasks outside of a kept part of the time, and of the calls that launched them. */
#ifndef PROFBPF_ANALYZER_MODEL_FAR_COUNTS_H
#define PROFBPF_ANALYZER_MODEL_FAR_COUNTS_H

#include <stdint.h>

#include "analyzer/model/model.h"

struct far_device {
	uint32_t tasks; /* tasks with any time that are not in the model */
	uint64_t first_start_ns; /* the earliest and the latest start of all tasks, in the device's clock; 0 = none */
	uint64_t last_start_ns;
};

struct far_counts {
	uint64_t tasks; /* tasks that are not in the model */
	uint64_t matched; /* tasks whose call is not in the model: these, and tasks near the part */
	uint64_t launches; /* calls without an error that launched them, of processes with a device */
	MODEL_ARRAY(struct far_device) devices; /* by device; rows of the last devices may be missing */
};

#endif /* PROFBPF_ANALYZER_MODEL_FAR_COUNTS_H */
