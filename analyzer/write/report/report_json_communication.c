/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_device.h"

#define NAME_SIZE 256

static void write_operation(struct json *json, const struct model *model,
			    const struct communication_usage *row)
{
	char name[NAME_SIZE];

	json_map(json, NULL);
	json_text(json, "name",
		  communication_name(model_text(model, row->name), name, sizeof(name)));
	json_u64(json, "device", model->devices.row[row->device].id);
	json_u64(json, "count", row->count);
	json_u64(json, "total_ns", row->total_ns);
	json_u64(json, "mean_ns", row->total_ns / row->count);
	json_u64(json, "min_ns", row->min_ns);
	json_u64(json, "max_ns", row->max_ns);
	if (row->timed) {
		json_u64(json, "timed", row->timed);
		json_u64(json, "transit_ns", row->transit_ns);
		json_u64(json, "wait_ns", row->wait_ns);
		json_u64(json, "synchronization_ns", row->synchronization_ns);
		json_u64(json, "idle_ns", row->idle_ns);
	}
	if (row->timed && row->wait_ns + row->transit_ns)
		json_decimal(json, "wait_percent",
			     100.0 * (double)row->wait_ns /
				     (double)(row->wait_ns + row->transit_ns));
	json_map_close(json);
}

static void write_link(struct json *json, const struct model *model, const struct link_usage *row)
{
	json_map(json, NULL);
	json_u64(json, "device", model->devices.row[row->device].id);
	if (row->source != INDEX_NONE)
		json_u64(json, "source", row->source);
	if (row->destination != INDEX_NONE)
		json_u64(json, "destination", row->destination);
	if (row->transport)
		json_text(json, "transport", model_text(model, row->transport));
	json_u64(json, "transfers", row->transfers);
	json_u64(json, "bytes", row->bytes);
	json_u64(json, "transit_ns", row->transit_ns);
	if (row->transit_ns)
		json_decimal(json, "gigabytes_per_second",
			     (double)row->bytes / (double)row->transit_ns);
	json_u64(json, "waits", row->waits);
	json_u64(json, "wait_ns", row->wait_ns);
	json_map_close(json);
}

static void write_device(struct json *json, const char *device, const char *rank,
			 const struct model *model, uint32_t index)
{
	const struct device *row = &model->devices.row[index];

	json_u64(json, device, row->id);
	if (row->has_rank)
		json_u64(json, rank, row->rank);
}

static void write_ranks(struct json *json, const struct model *model,
			const struct communication_results *results)
{
	json_array(json, "ranks");
	for (uint32_t i = 0; i < results->rank_count; i++) {
		const struct rank_usage *row = &results->ranks[i];

		json_map(json, NULL);
		write_device(json, "device", "rank", model, row->device);
		json_u64(json, "collectives", row->collectives);
		json_u64(json, "last", row->last);
		json_u64(json, "late_ns", row->late_ns);
		json_u64(json, "wait_ns", row->wait_ns);
		json_map_close(json);
	}
	json_array_close(json);
	json_array(json, "skews");
	for (uint32_t i = 0; i < results->skew_count; i++) {
		const struct collective_skew *row = &results->skews[i];

		json_map(json, NULL);
		json_text(json, "name", model_text(model, row->name));
		json_u64(json, "ranks", row->ranks);
		json_u64(json, "start_ns", row->start_ns);
		json_u64(json, "duration_ns", row->duration_ns);
		json_u64(json, "skew_ns", row->skew_ns);
		write_device(json, "straggler", "straggler_rank", model, row->straggler);
		json_map_close(json);
	}
	json_array_close(json);
}

void report_json_communication(struct json *json, const struct model *model,
			       const struct device_results *devices)
{
	const struct communication_results *results = &devices->communication;

	json_map(json, "communication");
	json_array(json, "operations");
	for (uint32_t i = 0; i < results->operation_count; i++)
		write_operation(json, model, &results->operations[i]);
	json_array_close(json);
	json_array(json, "links");
	for (uint32_t i = 0; i < results->link_count; i++)
		write_link(json, model, &results->links[i]);
	json_array_close(json);
	if (results->rank_count) {
		write_ranks(json, model, results);
		json_u64(json, "unmatched", results->unmatched);
	}
	json_map_close(json);
}
