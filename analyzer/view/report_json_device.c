/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/report_device.h"
#include "analyzer/view/report_roots.h"

static void write_who(struct json *json, const struct model *model, uint32_t who, uint32_t thread,
		      uint32_t detail)
{
	if (who)
		json_text(json, "who", model_text(model, who));
	if (thread < model->threads.count) {
		const struct thread *row = &model->threads.row[thread];

		if (row->process < model->processes.count)
			json_u64(json, "pid", model->processes.row[row->process].pid);
		json_u64(json, "tid", row->tid);
	}
	if (detail)
		json_text(json, "detail", model_text(model, detail));
}

static void write_totals(struct json *json, const struct model *model,
			 const struct idle_result *idle)
{
	json_array(json, "causes");
	for (uint32_t i = 0; i < idle->total_count; i++) {
		const struct idle_total *total = &idle->totals[i];

		json_map(json, NULL);
		json_text(json, "cause", idle_cause_name(total->cause));
		json_u64(json, "ns", total->ns);
		json_decimal(json, "percent", total->percent);
		json_u64(json, "gaps", total->gaps);
		write_who(json, model, total->who, total->thread, total->detail);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_task(struct json *json, const char *key, const struct model *model, uint32_t task)
{
	const char *name;

	if (task >= model->tasks.count)
		return;
	name = model_text(model, model->tasks.row[task].name);
	json_text(json, key, *name ? name : task_kind_name(model->tasks.row[task].kind));
}

static void write_gap(struct json *json, const struct model *model, const struct idle_gap *gap)
{
	const struct device *device = &model->devices.row[gap->gap.device];

	json_map(json, NULL);
	json_u64(json, "device", device->id);
	if (device->has_rank)
		json_u64(json, "rank", device->rank);
	json_u64(json, "start_ns", gap->gap.start_ns);
	json_u64(json, "duration_ns", gap->gap.end_ns - gap->gap.start_ns);
	write_task(json, "before", model, gap->gap.before);
	write_task(json, "after", model, gap->gap.after);
	json_array(json, "parts");
	for (uint32_t i = 0; i < gap->part_count; i++) {
		const struct idle_part *part = &gap->parts[i];

		json_map(json, NULL);
		json_text(json, "cause", idle_cause_name(part->cause));
		json_u64(json, "start_ns", part->start_ns);
		json_u64(json, "ns", part->end_ns - part->start_ns);
		write_who(json, model, part->who, part->thread, part->detail);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
}

void report_json_idle(struct json *json, const struct model *model,
		      const struct device_results *devices)
{
	const struct idle_result *idle = &devices->idle;

	json_map(json, "idle");
	json_u64(json, "total_ns", idle->total_ns);
	json_u64(json, "gaps_total", idle->gaps_total);
	json_u64(json, "threshold_ns", idle->threshold_ns);
	write_totals(json, model, idle);
	report_json_roots(json, "roots", model, idle->roots);
	json_array(json, "gaps");
	for (uint32_t i = 0; i < idle->gap_count; i++)
		write_gap(json, model, &idle->gaps[i]);
	json_array_close(json);
	json_map_close(json);
}
