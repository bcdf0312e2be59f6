/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/kernel_readings.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/export/timeline/export_names.h"
#include "proto/trace.pb-c.h"

#define IDLE_STATE "idle_" /* prefix of idle states; the rest of the name is the driver's */

static bool is_same(const struct counter *a, const struct counter *b)
{
	return a->name == b->name && a->cpu == b->cpu;
}

/* Computes the value from the reading and the next one. Returns false if it is unknown. */
static bool value_of(const struct counter *row, const struct counter *next, double *value)
{
	*value = (double)row->value;
	if (row->unit != PROFBPF__COUNTERS__UNIT__NS_TOTAL)
		return true;
	/* A sum that decreased was reset in between. */
	if (!next || next->ts_ns <= row->ts_ns || next->value < row->value)
		return false;
	*value = 100.0 * (double)(next->value - row->value) / (double)(next->ts_ns - row->ts_ns);
	return true;
}

static const char *unit_of(uint8_t unit)
{
	switch (unit) {
	case PROFBPF__COUNTERS__UNIT__HZ: return "Hz";
	case PROFBPF__COUNTERS__UNIT__NS_TOTAL: return "%";
	default: return "";
	}
}

static bool is_all_zero(const struct counter *rows, uint32_t count)
{
	bool sums = rows[0].unit == PROFBPF__COUNTERS__UNIT__NS_TOTAL;

	for (uint32_t i = 0; i < count; i++)
		if (rows[i].value != (sums ? rows[0].value : 0))
			return false;
	return true;
}

static void take_line(const struct model *model, const struct export_window *window, const struct counter *rows,
		      uint32_t count, kernel_reading_taker *take, void *context)
{
	const char *counter = model_text(model, rows[0].name);
	struct kernel_reading reading = { .is_first = true, .unit = unit_of(rows[0].unit) };
	char name[EXPORT_NAME_SIZE];

	if (!strncmp(counter, IDLE_STATE, strlen(IDLE_STATE)) || is_all_zero(rows, count))
		return;
	if (rows[0].cpu == INDEX_NONE)
		snprintf(name, sizeof(name), "%s", counter);
	else
		snprintf(name, sizeof(name), "%s of CPU %u", counter, rows[0].cpu);
	reading.name = name;
	for (uint32_t i = 0; i < count; i++) {
		const struct counter *next = i + 1 < count ? &rows[i + 1] : NULL;
		uint64_t end_ns = next ? next->ts_ns : rows[i].ts_ns;
		bool cut;

		reading.start_ns = rows[i].ts_ns;
		if (!value_of(&rows[i], next, &reading.value) || !export_clip(window, &reading.start_ns, &end_ns, &cut))
			continue;
		take(context, &reading);
		reading.is_first = false;
	}
}

void kernel_readings(const struct model *model, const struct export_window *window, kernel_reading_taker *take, void *context)
{
	const struct counter *rows = model->counters.row;
	uint32_t first = 0;

	for (uint32_t i = 1; i <= model->counters.count; i++) {
		if (i < model->counters.count && is_same(&rows[first], &rows[i]))
			continue;
		take_line(model, window, rows + first, i - first, take, context);
		first = i;
	}
}
