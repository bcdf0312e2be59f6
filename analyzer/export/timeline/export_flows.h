/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_flows.h - arrows from launching calls to their device tasks; if a device file has no such call, from the operator that
 * launched the task.
 *
 * Each task has its own arrow, numbered by its row plus one: a common number for
 * all tasks of a call would be drawn as a chain through them.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_FLOWS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export.h"
#include "analyzer/export/export_filter.h"

struct export_flows {
	const struct model *model;
	uint32_t *first_task; /* by call; INDEX_NONE = none */
	uint32_t *next_task; /* by task: the next task of the same call */
	bool *shown; /* by task: the arrow is part of the export */
	uint64_t backward; /* tasks that begin before their launch: no arrow */
};

/*
 * export_flows_init - find the arrows of an export
 *
 * An arrow is shown if the beginnings of both the call and the task are and the
 * task does not begin before the call. @chosen: wanted threads. Returns 0 or
 * -ENOMEM; export_flows_free() is to be called in any case.
 */
int export_flows_init(struct export_flows *flows, const struct model *model,
		      const struct export_options *options, const struct export_window *window,
		      const bool *chosen);
void export_flows_free(struct export_flows *flows);

/* Number of a task's arrow. */
static inline uint64_t export_flow_id(uint32_t task)
{
	return (uint64_t)task + 1;
}

/*
 * export_flow_first, export_flow_next - walk the shown arrows of a call
 *
 * Return the task or INDEX_NONE at the end.
 */
uint32_t export_flow_first(const struct export_flows *flows, const struct call *call);
uint32_t export_flow_next(const struct export_flows *flows, uint32_t task);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_EXPORT_FLOWS_H */
