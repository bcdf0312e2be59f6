/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/write/report/report_device.h"

static void write_usage(struct json *json, const struct overlap_usage *usage)
{
	json_u64(json, "computation_ns", usage->computation_ns);
	json_u64(json, "communication_ns", usage->communication_ns);
	json_u64(json, "overlapped_ns", usage->overlapped_ns);
	if (usage->communication_ns)
		json_decimal(json, "overlapped_percent",
			     100.0 * (double)usage->overlapped_ns /
				     (double)usage->communication_ns);
	json_u64(json, "pure_communication_ns", usage->pure_communication_ns);
	json_u64(json, "receive_ns", usage->receive_ns);
	json_u64(json, "free_ns", usage->free_ns);
	json_u64(json, "copy_ns", usage->copy_ns);
	json_u64(json, "pure_copy_ns", usage->pure_copy_ns);
}

void report_json_overlap(struct json *json, const struct model *model,
			 const struct device_results *devices)
{
	json_array(json, "overlap");
	for (uint32_t i = 0; i < devices->overlap.count; i++) {
		const struct overlap_device *device = &devices->overlap.devices[i];

		json_map(json, NULL);
		json_u64(json, "device", model->devices.row[device->all.device].id);
		if (device->stage_ns) {
			json_u64(json, "start_ns", device->start_ns);
			json_u64(json, "stage_ns", device->stage_ns);
		}
		write_usage(json, &device->all);
		json_array(json, "streams");
		for (uint32_t k = 0; k < device->stream_count; k++) {
			json_map(json, NULL);
			if (device->streams[k].stream != MODEL_ID_NONE)
				json_u64(json, "id", device->streams[k].stream);
			write_usage(json, &device->streams[k]);
			json_map_close(json);
		}
		json_array_close(json);
		json_map_close(json);
	}
	json_array_close(json);
}
