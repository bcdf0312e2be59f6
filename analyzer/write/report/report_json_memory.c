/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/memory.h"
#include "analyzer/write/report/report_parts.h"

static void write_curve(struct json *json, const struct memory_curve *curve)
{
	json_array(json, "curve");
	for (uint32_t i = 0; i < curve->count; i++) {
		json_array(json, NULL);
		json_u64(json, NULL, curve->points[i].ts_ns);
		json_u64(json, NULL, curve->points[i].bytes);
		json_array_close(json);
	}
	json_array_close(json);
}

static void write_live(struct json *json, const struct model *model,
		       const struct memory_ledger *ledger)
{
	json_array(json, "live");
	for (uint32_t i = 0; i < ledger->live_rows; i++) {
		const struct memory_live *row = &ledger->live[i];

		json_map(json, NULL);
		json_text(json, "function",
			  model_text(model, model->functions.row[row->function].name));
		json_u64(json, "bytes", row->bytes);
		json_u64(json, "count", row->count);
		json_u64(json, "total_bytes", row->bytes * row->count);
		json_u64(json, "first_ns", row->first_ns);
		json_u64(json, "tid", model->threads.row[row->thread].tid);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_ledger(struct json *json, const struct model *model,
			 const struct memory_ledger *ledger)
{
	json_map(json, NULL);
	if (ledger->process < model->processes.count)
		json_u64(json, "pid", model->processes.row[ledger->process].pid);
	json_text(json, "runtime", model_text(model, ledger->family));
	json_text(json, "memory", ledger->host ? "host" : "device");
	json_u64(json, "allocations", ledger->allocations);
	json_u64(json, "allocated_bytes", ledger->allocated_bytes);
	json_u64(json, "frees", ledger->frees);
	json_u64(json, "failed", ledger->failed);
	json_u64(json, "unknown_frees", ledger->unknown_frees);
	json_u64(json, "peak_bytes", ledger->curve.peak_bytes);
	if (ledger->curve.count)
		json_u64(json, "peak_ns", ledger->curve.peak_ns);
	json_u64(json, "live_bytes", ledger->curve.last_bytes);
	json_u64(json, "live_count", ledger->live_count);
	json_bool(json, "exited", ledger->exited);
	write_live(json, model, ledger);
	write_curve(json, &ledger->curve);
	json_map_close(json);
}

static void write_series(struct json *json, const struct model *model,
			 const struct memory_series *series)
{
	json_map(json, NULL);
	if (series->file < model->imports.count)
		json_text(json, "file", model_text(model, model->imports.row[series->file].path));
	json_text(json, "memory", series->host ? "host" : "device");
	if (!series->host)
		json_u64(json, "device", series->device);
	if (series->component)
		json_text(json, "component", model_text(model, series->component));
	json_u64(json, "records", series->records);
	json_u64(json, "allocations", series->allocations);
	json_u64(json, "releases", series->releases);
	if (series->curve.count) {
		json_u64(json, "peak_bytes", series->curve.peak_bytes);
		json_u64(json, "peak_ns", series->curve.peak_ns);
		json_u64(json, "last_bytes", series->curve.last_bytes);
	}
	if (series->has_reserved)
		json_u64(json, "peak_reserved_bytes", series->peak_reserved);
	write_curve(json, &series->curve);
	json_map_close(json);
}

void json_memory_section(struct json *json, const struct model *model,
			 const struct results *results)
{
	const struct memory_results *memory = results->memory;

	json_map(json, "memory");
	json_array(json, "ledgers");
	for (uint32_t i = 0; i < memory->ledger_count; i++)
		write_ledger(json, model, &memory->ledgers[i]);
	json_array_close(json);
	json_array(json, "records");
	for (uint32_t i = 0; i < memory->series_count; i++)
		write_series(json, model, &memory->series[i]);
	json_array_close(json);
	json_map_close(json);
}
