/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass_flows.h - a device file's arrows from operators of the forward pass to those of the backward pass.
 *
 * An arrow's end is the innermost of the file's scopes that the thread was in at that time.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_PASS_FLOWS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_PASS_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export_filter.h"

#define PASS_FIRST_FLOW ((uint64_t)1 << 41) /* smaller numbers belong to other arrows (job_tracks.h) */

/* One end of an arrow that is shown. */
struct pass_flow {
	uint32_t call; /* row of the model */
	uint32_t arrow;
};

struct pass_flows {
	MODEL_ARRAY(struct pass_flow) from; /* by call, as the next */
	MODEL_ARRAY(struct pass_flow) to;
	bool *hidden; /* by arrow: one of its ends is not in the export */
};

/* pass_flows_init - takes the arrows with both ends in @window, on @chosen threads. Returns 0 or -ENOMEM; to be freed in any case */
int pass_flows_init(struct pass_flows *flows, const struct model *model,
		    const struct export_window *window, const bool *chosen);
void pass_flows_free(struct pass_flows *flows);

/*
 * pass_flows_each - the arrows that begin at (@out) or lead to a call (its row), by number
 *
 * *@at: 0 at first. Returns 0 after the last.
 */
uint64_t pass_flows_each(const struct pass_flows *flows, bool out, uint32_t call, uint32_t *at);

/* pass_flows_hide - a call is not in the export: neither are its arrows */
void pass_flows_hide(struct pass_flows *flows, uint32_t call);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_PASS_FLOWS_H */
