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

static void write_sources(struct json *json, const struct model *model,
			  const struct capture_results *capture)
{
	json_array(json, "sources");
	for (uint32_t i = 0; i < capture->source_count; i++) {
		const struct capture_source *source = &capture->sources[i];
		const struct source_loss *row = &model->sources.row[source->source];

		json_map(json, NULL);
		json_text(json, "name", model_text(model, row->name));
		json_u64(json, "produced", row->produced);
		json_u64(json, "delivered", row->delivered);
		json_u64(json, "lost", source->lost);
		json_map(json, "lost_by");
		for (uint32_t r = 0; r < row->reason_count; r++)
			json_u64(json, model_text(model, row->reasons[r].reason),
				 row->reasons[r].count);
		json_map_close(json);
		if (row->read != UINT64_MAX)
			json_u64(json, "read", row->read);
		json_bool(json, "adds_up", source->adds_up);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_damage(struct json *json, const struct model *model)
{
	const struct pbt_damage *damage = &model->damage;

	json_map(json, "damage");
	json_u64(json, "batches_read", damage->packets_read);
	json_u64(json, "batches_skipped", damage->packets_skipped);
	json_u64(json, "bytes_skipped", damage->bytes_skipped);
	json_bool(json, "torn_tail", damage->torn_tail);
	json_u64(json, "bad_rows", model->bad_rows);
	json_u64(json, "unknown_values", model->unknown_values);
	json_u64(json, "unknown_batches", model->unknown_batches);
	if (damage->first_reason[0]) {
		json_u64(json, "first_offset", damage->first_offset);
		json_text(json, "first_reason", damage->first_reason);
	}
	json_map_close(json);
}

static void write_coverage(struct json *json, const struct model *model,
			   const struct capture_results *capture)
{
	json_array(json, "not_covered");
	for (uint32_t i = 0; i < capture->gap_count; i++) {
		const struct coverage_gap *gap = &capture->gaps[i];
		const struct coverage *coverage = &model->coverage.row[gap->coverage];

		json_map(json, NULL);
		json_u64(json, "pid", model->processes.row[coverage->process].pid);
		if (!gap->of_process) {
			json_text(json, "file", model_text(model, coverage->file));
			json_u64(json, "functions", coverage->functions);
		}
		json_u64(json, "start_ns", gap->start_ns);
		json_u64(json, "duration_ns", gap->ns);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_unseen_ends(struct json *json, const struct model *model,
			      const struct capture_results *capture)
{
	json_array(json, "ends_not_seen");
	for (uint32_t i = 0; i < capture->unseen_end_count; i++) {
		const struct ends_span *span = &capture->unseen_ends[i];
		const struct function *function = &model->functions.row[span->function];

		json_map(json, NULL);
		json_text(json, "function", model_text(model, function->name));
		json_text(json, "file", model_text(model, function->file));
		json_u64(json, "start_ns", span->start_ns);
		json_u64(json, "duration_ns", span->ns);
		json_u64(json, "calls_per_second", span->calls_per_second);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_left_out(struct json *json, const struct capture_results *capture)
{
	json_array(json, "left_out");
	for (uint32_t i = 0; i < capture->left_out_count; i++) {
		const struct left_out *row = &capture->left_out[i];

		json_map(json, NULL);
		json_text(json, "what", left_out_name(row->what));
		json_u64(json, "start_ns", row->start_ns);
		json_u64(json, "duration_ns", row->ns);
		json_decimal(json, "kept_percent", row->kept_permille / 10.0);
		json_text(json, "reason", row->for_room ? "room" : "cost");
		json_decimal(json, "cost_percent", row->cost_ppm / 1e4);
		json_map_close(json);
	}
	json_array_close(json);
}

void json_capture_section(struct json *json, const struct model *model,
			  const struct results *results)
{
	const struct capture_results *capture = results->capture;

	json_map(json, "capture");
	json_bool(json, "complete", capture->complete);
	json_bool(json, "ended", model->info.ended);
	optional_text(json, model, "end_reason", model->info.end_reason);
	json_u64(json, "switches_missing", capture->switches_missing);
	write_sources(json, model, capture);
	write_damage(json, model);
	write_coverage(json, model, capture);
	write_unseen_ends(json, model, capture);
	write_left_out(json, capture);
	json_array(json, "notes");
	for (uint32_t i = 0; i < model->notes.count; i++)
		json_text(json, NULL, model_text(model, model->notes.row[i]));
	json_array_close(json);
	json_map_close(json);
}
