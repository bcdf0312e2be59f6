/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_parts.h"
#include "lib/function_kinds.h"

static void write_durations(struct json *json, const struct durations *durations)
{
	json_u64(json, "total_ns", durations->total_ns);
	if (durations->count)
		json_u64(json, "mean_ns", durations->mean_ns);
	if (durations->has_min)
		json_u64(json, "min_ns", durations->min_ns);
	if (durations->has_p50)
		json_u64(json, "p50_ns", durations->p50_ns);
	if (durations->has_p99)
		json_u64(json, "p99_ns", durations->p99_ns);
	if (durations->has_max)
		json_u64(json, "max_ns", durations->max_ns);
}

static void write_usage(struct json *json, const struct model *model, const struct api_usage *usage)
{
	const struct function *function = &model->functions.row[usage->function];

	json_map(json, NULL);
	json_text(json, "runtime", model_text(model, function->runtime));
	json_text(json, "function", model_text(model, function->name));
	json_text(json, "symbol", model_text(model, function->symbol));
	json_text(json, "kind", function_kind_name(function->kind));
	json_text(json, "file", model_text(model, function->file));
	json_u64(json, "pid", model->processes.row[usage->process].pid);
	json_u64(json, "count", usage->count);
	json_u64(json, "open", usage->open);
	if (usage->open)
		json_u64(json, "open_ns", usage->open_ns);
	if (usage->left)
		json_u64(json, "left", usage->left);
	if (usage->end_unknown)
		json_u64(json, "end_unknown", usage->end_unknown);
	json_u64(json, "errors", usage->errors);
	json_u64(json, "inner", usage->inner);
	if (usage->unrecorded)
		json_u64(json, "unrecorded", usage->unrecorded);
	write_durations(json, &usage->durations);
	json_map_close(json);
}

static void write_launched(struct json *json, const struct model *model,
			   const struct launched_usage *usage)
{
	json_map(json, NULL);
	json_text(json, "runtime", model_text(model, usage->runtime));
	if (usage->name)
		json_text(json, "name", model_text(model, usage->name));
	json_text(json, "named_by", call_named_text(usage->named));
	json_u64(json, "pid", model->processes.row[usage->process].pid);
	json_u64(json, "count", usage->count);
	json_u64(json, "errors", usage->errors);
	json_u64(json, "total_ns", usage->total_ns);
	if (usage->returned)
		json_u64(json, "mean_ns", usage->total_ns / usage->returned);
	if (usage->phases) {
		json_u64(json, "prepared", usage->prepared);
		json_u64(json, "reused", usage->reused);
		json_u64(json, "unprepared", usage->unprepared);
		json_u64(json, "prepare_count", usage->prepare_count);
		json_u64(json, "prepare_ns", usage->prepare_ns);
	}
	json_map_close(json);
}

void json_api_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct api_results *api = results->api;

	json_array(json, "api");
	for (uint32_t i = 0; i < api->row_count; i++)
		write_usage(json, model, &api->rows[i]);
	json_array_close(json);
	json_array(json, "api_totals");
	for (uint32_t i = 0; i < api->total_count; i++) {
		const struct api_total *total = &api->totals[i];

		json_map(json, NULL);
		json_text(json, "family", model_text(model, total->family));
		json_u64(json, "pid", model->processes.row[total->process].pid);
		json_u64(json, "count", total->count);
		if (total->unknown)
			json_u64(json, "end_unknown", total->unknown);
		json_u64(json, "total_ns", total->total_ns);
		json_map_close(json);
	}
	json_array_close(json);
	json_array(json, "launched");
	for (uint32_t i = 0; results->launched && i < results->launched->row_count; i++)
		write_launched(json, model, &results->launched->rows[i]);
	json_array_close(json);
	if (results->api_statistic)
		json_api_statistic(json, model, results->api_statistic);
}

void json_ioctl_section(struct json *json, const struct model *model, const struct results *results)
{
	const struct ioctl_results *ioctl = results->ioctl;

	json_array(json, "ioctl");
	for (uint32_t i = 0; i < ioctl->row_count; i++) {
		const struct ioctl_usage *usage = &ioctl->rows[i];
		const struct driver *driver = &model->drivers.row[usage->driver];
		char command[64];

		json_map(json, NULL);
		json_text(json, "driver", model_text(model, driver->driver));
		if (driver->module)
			json_text(json, "module", model_text(model, driver->module));
		json_text(json, "device", model_text(model, driver->device));
		json_text(json, "command",
			  ioctl_command_name(model, usage->driver, usage->cmd, command,
					     sizeof(command)));
		json_u64(json, "number", usage->cmd);
		json_u64(json, "pid", model->processes.row[usage->process].pid);
		json_u64(json, "count", usage->count);
		json_u64(json, "open", usage->open);
		if (usage->open)
			json_u64(json, "open_ns", usage->open_ns);
		if (usage->before)
			json_u64(json, "began_before", usage->before);
		if (usage->before_ns)
			json_u64(json, "began_before_ns", usage->before_ns);
		json_u64(json, "errors", usage->errors);
		json_u64(json, "total_ns", usage->total_ns);
		if (usage->returned) {
			json_u64(json, "mean_ns", ioctl_mean_ns(usage));
			json_u64(json, "max_ns", usage->max_ns);
		}
		json_map_close(json);
	}
	json_array_close(json);
}
