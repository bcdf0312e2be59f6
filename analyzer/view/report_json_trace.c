/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/view/report_parts.h"

static void optional_text(struct json *json, const struct model *model, const char *key,
			  uint32_t id)
{
	if (*model_text(model, id))
		json_text(json, key, model_text(model, id));
}

/* probe_cost_ns: what a reader of one figure wants, of the class that most functions are of. */
static void write_probe_cost(struct json *json, const struct model *model,
			     const struct probe_cost_results *cost)
{
	const struct trace_info *info = &model->info;

	if (!cost || !cost->known)
		return;
	for (uint32_t i = 0; i < info->probe_cost_count; i++) {
		const char *name = model_text(model, info->probe_costs[i].instruction);

		if (*name && strcmp(name, "emulated") != 0)
			continue;
		json_u64(json, "probe_cost_ns", info->probe_costs[i].inside_ns);
		break;
	}
	json_map(json, "probes");
	json_bool(json, "subtracted", cost->subtracted);
	json_u64(json, "calls", cost->calls);
	json_u64(json, "total_ns", cost->total_ns);
	json_array(json, "costs");
	for (uint32_t i = 0; i < info->probe_cost_count; i++) {
		const struct probe_cost *row = &info->probe_costs[i];

		json_map(json, NULL);
		optional_text(json, model, "instruction", row->instruction);
		json_u64(json, "inside_ns", row->inside_ns);
		json_u64(json, "whole_ns", row->whole_ns);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

void json_trace_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct trace_info *info = &model->info;

	json_map(json, "trace");
	json_array(json, "files");
	for (uint32_t i = 0; i < model->files.count; i++)
		json_text(json, NULL, model_text(model, model->files.row[i]));
	json_array_close(json);
	optional_text(json, model, "hostname", info->hostname);
	optional_text(json, model, "kernel", info->kernel);
	optional_text(json, model, "arch", info->arch);
	optional_text(json, model, "producer", info->producer);
	optional_text(json, model, "topics", info->topics);
	if (info->cpus)
		json_u64(json, "cpus", info->cpus);
	json_u64(json, "start_ns", info->session_start_ns);
	json_u64(json, "duration_ns", info->session_end_ns - info->session_start_ns);
	if (info->start_realtime_ns)
		json_u64(json, "start_realtime_ns", info->start_realtime_ns);
	json_map(json, "window");
	json_u64(json, "start_ns", results->from_ns);
	json_u64(json, "duration_ns", results->to_ns - results->from_ns);
	json_map_close(json);
	json_array(json, "targets");
	for (uint32_t i = 0; i < info->target_count; i++)
		json_u64(json, NULL, info->targets[i]);
	json_array_close(json);
	json_bool(json, "system_wide", info->system_wide);
	json_u64(json, "min_duration_ns", info->min_duration_ns);
	write_probe_cost(json, model, results->probe_cost);
	if (info->daemon_cpu_ns)
		json_u64(json, "daemon_cpu_ns", info->daemon_cpu_ns);
	json_map_close(json);
}
