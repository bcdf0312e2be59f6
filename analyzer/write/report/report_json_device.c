/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_device.h"
#include "analyzer/write/report/report_roots.h"
#include "analyzer/write/report/report_told.h"

static void write_streams(struct json *json, const struct device_usage *usage)
{
	json_array(json, "streams");
	for (uint32_t i = 0; i < usage->stream_count; i++) {
		const struct stream_usage *stream = &usage->streams[i];

		json_map(json, NULL);
		json_u64(json, "id", stream->id);
		json_u64(json, "tasks", stream->tasks);
		json_u64(json, "busy_ns", stream->busy_ns);
		if (stream->last_end_ns) {
			json_u64(json, "first_start_ns", stream->first_start_ns);
			json_u64(json, "last_end_ns", stream->last_end_ns);
		}
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_usage(struct json *json, const struct device_usage *usage)
{
	json_u64(json, "tasks", usage->tasks);
	json_u64(json, "tasks_untimed", usage->untimed);
	json_u64(json, "tasks_sync", usage->sync_tasks);
	if (usage->window_ns) {
		json_u64(json, "start_ns", usage->window_start_ns);
		json_u64(json, "window_ns", usage->window_ns);
		json_u64(json, "busy_ns", usage->busy_ns);
		json_u64(json, "idle_ns", usage->idle_ns);
		json_decimal(json, "utilization_percent", device_utilization(usage));
		json_u64(json, "gaps", usage->gap_count);
		json_u64(json, "compute_ns", usage->compute_ns);
		json_u64(json, "communication_ns", usage->communication_ns);
		json_u64(json, "communication_not_overlapped_ns",
			 usage->communication_not_overlapped_ns);
		json_u64(json, "copy_ns", usage->copy_ns);
	}
	if (usage->has_free)
		json_u64(json, "free_ns", usage->free_ns);
	write_streams(json, usage);
}

void report_json_devices(struct json *json, const struct model *model,
			 const struct device_results *devices)
{
	json_array(json, "devices");
	for (uint32_t i = 0; i < devices->device_count; i++) {
		const struct device *device = &model->devices.row[i];

		json_map(json, NULL);
		json_u64(json, "id", device->id);
		json_text(json, "name", model_text(model, device->name));
		json_text(json, "kind", model_text(model, device->kind));
		json_text(json, "source", model_text(model, device->source));
		if (device->process < model->processes.count)
			json_u64(json, "pid", model->processes.row[device->process].pid);
		if (device->has_rank)
			json_u64(json, "rank", device->rank);
		write_usage(json, &devices->devices[i]);
		json_map_close(json);
	}
	json_array_close(json);
	json_device_facts(json, model);
}

static void write_clock(struct json *json, const struct device_clock *clock)
{
	json_text(json, "method", device_clock_method_text(clock->method));
	json_text(json, "clock", device_clock_name(clock->clock));
	if (clock->method == DEVICE_CLOCK_NONE)
		return;
	json_i64(json, "offset_ns", clock->offset_ns);
	if (clock->error_ns != UINT64_MAX)
		json_u64(json, "error_ns", clock->error_ns);
	json_i64(json, "drift_ppb", clock->drift_ppb);
	json_u64(json, "tasks", clock->tasks);
	json_u64(json, "before_enqueue", clock->before_enqueue);
	json_u64(json, "negative_launch_delays",
		 clock->negative ? clock->negative : clock->before_enqueue);
	if (clock->method == DEVICE_CLOCK_CORRECTED) {
		json_i64(json, "correction_ns", clock->correction_ns);
		json_i64(json, "correction_ppb", clock->correction_ppb);
	}
	if (clock->steps || clock->at_steps) {
		json_u64(json, "steps", clock->steps);
		json_u64(json, "tasks_at_steps", clock->at_steps);
		if (clock->step_error_ns != UINT64_MAX)
			json_u64(json, "step_error_ns", clock->step_error_ns);
	}
}

/* "clock" is that of the device with most tasks, "clocks" has them all. */
static void write_clocks(struct json *json, const struct model *model,
			 const struct device_results *devices)
{
	uint32_t main = INDEX_NONE;

	for (uint32_t i = 0; i < devices->device_count; i++) {
		if (main == INDEX_NONE || devices->clocks[i].tasks > devices->clocks[main].tasks)
			main = i;
	}
	if (main == INDEX_NONE)
		return;
	json_map(json, "clock");
	write_clock(json, &devices->clocks[main]);
	json_map_close(json);
	json_array(json, "clocks");
	for (uint32_t i = 0; i < devices->device_count; i++) {
		json_map(json, NULL);
		json_u64(json, "device", model->devices.row[i].id);
		write_clock(json, &devices->clocks[i]);
		json_map_close(json);
	}
	json_array_close(json);
}

void report_json_join(struct json *json, const struct model *model,
		      const struct device_results *devices)
{
	const struct launch_join *join = &devices->launches;

	json_map(json, "join");
	json_u64(json, "launches", join->launches);
	json_u64(json, "failed_launches", join->failed_launches);
	json_u64(json, "unprofiled_launches", join->unprofiled_launches);
	json_u64(json, "tasks", join->tasks);
	json_u64(json, "tasks_outside_session", join->tasks_outside);
	json_u64(json, "matched", join->matched);
	json_u64(json, "unmatched_launches", join->unmatched_launches);
	json_u64(json, "unmatched_tasks", join->unmatched_tasks);
	json_u64(json, "ambiguous", join->ambiguous);
	json_text(json, "method", launch_join_method(join));
	write_clocks(json, model, devices);
	json_map_close(json);
}

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
	json_map(json, NULL);
	json_u64(json, "device", model->devices.row[gap->gap.device].id);
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
	report_json_roots(json, model, idle->roots);
	json_array(json, "gaps");
	for (uint32_t i = 0; i < idle->gap_count; i++)
		write_gap(json, model, &idle->gaps[i]);
	json_array_close(json);
	json_map_close(json);
}
