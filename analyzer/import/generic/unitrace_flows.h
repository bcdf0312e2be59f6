/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unitrace_flows.h - arrows of Intel's unitrace from a call to the work that it made a device do.
 *
 * "s" of category "Flow_H2D_KERNEL_RANK" (OpenCL: "CL_Flow_H2D_...") follows the call in its thread and begins with
 * it; "t" of the same category follows the device's work. A call may start several arrows.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_GENERIC_UNITRACE_FLOWS_H
#define PROFBPF_ANALYZER_IMPORT_GENERIC_UNITRACE_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/generic/slices.h"

/* The end of an arrow. */
struct unitrace_flow {
	uint32_t category; /* string */
	uint32_t slice; /* of the device */
};

/* Zeroed is empty. */
struct unitrace_flows {
	struct map starts; /* category -> slice of the call */
	MODEL_ARRAY(struct unitrace_flow) ends;
};

/* Is it the category of such arrows? Others lead back to the host. */
bool unitrace_is_flow(const char *category);

/* unitrace_flow_add - adds an end of an arrow of the slice that its track got last, if that begins at @ns */
bool unitrace_flow_add(struct unitrace_flows *flows, const struct slices *slices, uint32_t track,
		       int64_t ns, uint32_t category, bool starts);

/* unitrace_flows_join - gives calls and work with a common arrow the same correlation; before slices_finish() */
void unitrace_flows_join(const struct unitrace_flows *flows, struct slices *slices);

void unitrace_flows_free(struct unitrace_flows *flows);

#endif /* PROFBPF_ANALYZER_IMPORT_GENERIC_UNITRACE_FLOWS_H */
