/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"

#define DIGITS 6 /* after the decimal point */
#define COUNTERS_MAX 10000 /* maximum per file */
#define TOPIC "counters"

/*
 * In the order of ASCEND_COUNTER_KEYS: the counted quantity, where an event's name may not contain it, and its
 * unit.
 */
static const struct {
	const char *part;
	const char *unit;
} KEYS[] = {
	{ "", "MHz" },	     { "", "KB" },	   { "", "" },	 { "", "%" },
	{ "Read", "MB/s" },  { "Write", "MB/s" },  { "Tx", "MB/s" }, { "Rx", "MB/s" },
	{ "Throughput", "MB/s" }, { "Hit Rate", "%" }, { "Tx", "" }, { "Rx", "" },
	{ "L2 Buffer Bw Level", "" }, { "Mata Bw Level", "" },
};

_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == ASCEND_COUNTER_COUNT, "one for each key");

void ascend_counters_free(struct ascend_counters *counters)
{
	map_free(&counters->rows);
	free(counters->list.row);
}

static struct ascend_counter *counter_of(struct import *import, struct ascend_counters *counters,
					 const struct ascend_counter *wanted)
{
	uint64_t hash = ((wanted->pid * 0x9e3779b97f4a7c15u) ^ wanted->name) * 0x9e3779b97f4a7c15u ^ wanted->key;
	uint32_t row = map_get(&counters->rows, hash);

	if (row != MAP_NONE)
		return &counters->list.row[row];
	row = counters->list.count;
	if (row >= COUNTERS_MAX) {
		import_fail(import, -E2BIG, "more than %d counters, which no profiler's file has", COUNTERS_MAX);
		return NULL;
	}
	return MODEL_PUSH(&counters->list, *wanted) && map_put(&counters->rows, hash, row)
		       ? &counters->list.row[row]
		       : NULL;
}

static int add(struct import *import, struct ascend_counters *counters,
	       const struct ascend_counter *wanted, double value)
{
	struct ascend_counter *counter = counter_of(import, counters, wanted);

	if (!counter)
		return -ENOMEM;
	if (!counter->count || value < counter->least)
		counter->least = value;
	if (!counter->count || value > counter->greatest)
		counter->greatest = value;
	counter->sum += value;
	counter->count++;
	return 0;
}

int ascend_counters_add(struct import *import, struct ascend_counters *counters, uint64_t pid,
			const char *name, const struct json_value *values)
{
	struct ascend_counter wanted = { .pid = pid, .name = model_string(import->model, name) };
	bool any = false;
	int err = 0;

	if (wanted.name == INDEX_NONE)
		return -ENOMEM;
	for (wanted.key = 0; wanted.key < ASCEND_COUNTER_COUNT && !err; wanted.key++) {
		const struct json_value *value = &values[wanted.key];
		int64_t parts;

		if (!value->text || !decimal_scaled(value->text, value->length, DIGITS, &parts))
			continue;
		any = true;
		err = add(import, counters, &wanted, (double)parts / 1e6);
	}
	return err || any ? err : import_finding(import, "samples of counters of no known form", name);
}

static uint32_t device_of(const struct model *model, uint64_t pid, uint32_t first_device, bool numbered)
{
	if (model->devices.count == first_device + 1 && !numbered)
		return first_device;
	for (uint32_t i = first_device; i < model->devices.count && numbered; i++) {
		if (model->devices.row[i].id == (pid & 31))
			return i;
	}
	return INDEX_NONE;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && strcmp(text + length - size, end) == 0;
}

static int put(struct import *import, const struct ascend_counter *counter, uint32_t device)
{
	const char *name = model_text(import->model, counter->name), *part = KEYS[counter->key].part;
	const char *unit = KEYS[counter->key].unit;
	const struct {
		const char *word;
		double value;
	} FACTS[] = { { "mean", counter->sum / (double)counter->count },
		      { "minimum", counter->least },
		      { "maximum", counter->greatest } };
	bool changes = strcmp(unit, "MHz") == 0;
	char text[320];
	int err = 0;

	for (size_t i = changes; i < sizeof(FACTS) / sizeof(FACTS[0]) && !err; i++) {
		snprintf(text, sizeof(text), "%.200s%s%s, %s", name, ends_with(name, part) ? "" : " ",
			 ends_with(name, part) ? "" : part, FACTS[i].word);
		err = device_fact_number(import, device, TOPIC, text, unit, FACTS[i].value);
	}
	return err;
}

int ascend_counters_put(struct import *import, const struct ascend_counters *counters,
			uint32_t first_device, bool numbered)
{
	int err = 0;

	for (uint32_t i = 0; i < counters->list.count && !err; i++) {
		const struct ascend_counter *counter = &counters->list.row[i];

		err = put(import, counter,
			  device_of(import->model, counter->pid, first_device, numbered));
	}
	return err;
}
