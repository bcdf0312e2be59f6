/* SPDX-License-Identifier: Apache-2.0 */
/* Pressure, frequencies and idle states of the host, reading by reading. */
#include "analyzer/write/report/report_parts.h"

static const char *unit_name(uint8_t unit)
{
	switch (unit) {
	case PROFBPF__COUNTERS__UNIT__HZ: return "hz";
	case PROFBPF__COUNTERS__UNIT__NS_TOTAL: return "ns_total";
	default: return "number";
	}
}

static bool is_same(const struct counter *a, const struct counter *b)
{
	return a->name == b->name && a->cpu == b->cpu;
}

void json_counters(struct json *json, const struct model *model)
{
	const struct counter *rows = model->counters.row;

	if (!model->counters.count)
		return;
	json_array(json, "counters");
	for (uint32_t i = 0; i < model->counters.count; i++) {
		if (i == 0 || !is_same(&rows[i], &rows[i - 1])) {
			json_map(json, NULL);
			json_text(json, "name", model_text(model, rows[i].name));
			if (rows[i].cpu != INDEX_NONE)
				json_u64(json, "cpu", rows[i].cpu);
			json_text(json, "unit", unit_name(rows[i].unit));
			json_array(json, "samples");
		}
		json_array(json, NULL);
		json_u64(json, NULL, rows[i].ts_ns);
		json_u64(json, NULL, rows[i].value);
		json_array_close(json);
		if (i + 1 == model->counters.count || !is_same(&rows[i], &rows[i + 1])) {
			json_array_close(json);
			json_map_close(json);
		}
	}
	json_array_close(json);
}
