/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/device_facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/json_file.h"

static int add(struct import *import, struct device_fact *fact, const char *topic,
	       const char *name, const char *unit)
{
	struct model *model = import->model;

	fact->file = import->file;
	fact->topic = model_string(model, topic);
	fact->name = model_string(model, name);
	fact->unit = model_string(model, unit);
	if (fact->topic == INDEX_NONE || fact->name == INDEX_NONE || fact->unit == INDEX_NONE ||
	    !MODEL_PUSH(&model->device_facts, *fact))
		return -ENOMEM;
	return 0;
}

int device_fact_number(struct import *import, uint32_t device, const char *topic, const char *name,
		       const char *unit, double value)
{
	struct device_fact fact = { .device = device, .value = value };

	return add(import, &fact, topic, name, unit);
}

int device_fact_text(struct import *import, uint32_t device, const char *topic, const char *name,
		     const char *text)
{
	struct device_fact fact = { .device = device,
				    .text = model_string(import->model, text) };

	if (fact.text == INDEX_NONE)
		return -ENOMEM;
	return fact.text ? add(import, &fact, topic, name, "") : 0;
}

/* A number of ranks or stages is whole, and no larger than numbers of ranks in the model. */
static bool is_possible(const char *name, double number)
{
	if (strcmp(name, "rank_size") != 0 && strcmp(name, "stage_num") != 0)
		return true;
	return number >= 0 && number < INDEX_NONE && number == (uint32_t)number;
}

int device_facts_of(struct import *import, uint32_t device, const char *topic, yajl_val object)
{
	int err = 0;

	for (size_t i = 0; YAJL_IS_OBJECT(object) && i < object->u.object.len && !err; i++) {
		yajl_val value = object->u.object.values[i];
		const char *name = object->u.object.keys[i];
		double number;

		if (YAJL_IS_STRING(value))
			err = device_fact_text(import, device, topic, name, YAJL_GET_STRING(value));
		else if (json_file_real(value, &number) && !is_possible(name, number))
			err = import_finding(import, "numbers of ranks or stages that cannot be: left out",
					     name);
		else if (json_file_real(value, &number))
			err = device_fact_number(import, device, topic, name, "", number);
	}
	return err;
}

uint64_t device_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *number = strrchr(slash ? slash : path, '_');
	unsigned int device;

	return number && sscanf(number, "_%u.", &device) == 1 ? device : 0;
}
