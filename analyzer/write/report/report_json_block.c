/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_parts.h"

static void write_request(struct json *json, const struct model *model,
			  const struct block_usage *usage)
{
	const struct driver *driver = &model->drivers.row[usage->driver];
	const struct durations *latency = &usage->latency;

	json_map(json, NULL);
	json_text(json, "device", model_text(model, driver->device));
	json_u64(json, "major", (driver->rdev & 0x7fffffff) >> 20);
	json_u64(json, "minor", driver->rdev & 0xfffff);
	json_text(json, "operation", block_operation_name(usage->operation));
	json_u64(json, "pid", model->processes.row[usage->process].pid);
	json_u64(json, "count", latency->count);
	json_u64(json, "failed", usage->failed);
	json_u64(json, "bytes", usage->bytes);
	json_u64(json, "queued_ns", usage->wait_ns);
	json_u64(json, "total_ns", latency->total_ns);
	if (latency->count)
		json_u64(json, "mean_ns", latency->mean_ns);
	if (latency->has_min)
		json_u64(json, "min_ns", latency->min_ns);
	if (latency->has_p50)
		json_u64(json, "p50_ns", latency->p50_ns);
	if (latency->has_p99)
		json_u64(json, "p99_ns", latency->p99_ns);
	if (latency->has_max)
		json_u64(json, "max_ns", latency->max_ns);
	json_u64(json, "sleeps", usage->sleeps);
	json_u64(json, "slept_ns", usage->slept_ns);
	json_map_close(json);
}

static void write_fault(struct json *json, const struct model *model,
			const struct fault_usage *usage)
{
	json_map(json, NULL);
	if (usage->file)
		json_text(json, "file", model_text(model, usage->file));
	json_u64(json, "pid", model->processes.row[usage->process].pid);
	json_u64(json, "count", usage->count);
	json_u64(json, "slept", usage->slept);
	json_u64(json, "total_ns", usage->total_ns);
	json_u64(json, "max_ns", usage->max_ns);
	json_map_close(json);
}

void json_io_section(struct json *json, const struct model *model, const struct results *results)
{
	json_array(json, "block_io");
	for (uint32_t i = 0; results->block && i < results->block->row_count; i++)
		write_request(json, model, &results->block->rows[i]);
	json_array_close(json);
	json_array(json, "major_faults");
	for (uint32_t i = 0; results->faults && i < results->faults->row_count; i++)
		write_fault(json, model, &results->faults->rows[i]);
	json_array_close(json);
}
