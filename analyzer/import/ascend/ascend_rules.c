/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice of msprof: prof_rule_<device>_*.json (prof_rule_*.json of the host).
 *
 * Topics are lists of {"Rule Type", "Rule Subtype", "Rule Suggestion", "Tuning Data", "result"}, members of the
 * root or of {"data": [{"Rule Type", "result": [...]}]}, depending on the version: any object with a suggestion is
 * imported; its topic is its own or that of an enclosing object. "Tuning Data" is a list of operators' names, or an
 * object of figures. Rules of a topic without findings have no suggestion.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_file.h"

#define DEPTH_MAX 16

struct rules {
	struct import *import;
	uint32_t device;
};

/* The values of the enclosing objects. */
struct place {
	const char *topic;
	const char *part;
	unsigned int depth;
};

static int detect(const struct import_sample *sample)
{
	const char *text = sample->text + strspn(sample->text, " \t\r\n");

	return !sample->directory && (*text == '[' || *text == '{') &&
			       strstr(text, "\"Rule Type\"") && strstr(text, "\"Rule Suggestion\"")
		       ? 75
		       : 0;
}

/* Writes a name, or a figure with its name; values of other types are skipped. */
static bool write_subject(FILE *out, const char *name, yajl_val value)
{
	const char *text = YAJL_IS_STRING(value) ? YAJL_GET_STRING(value)
						 : json_file_number(value);

	if (!text || !*text)
		return false;
	fprintf(out, "%s%s%s", name ? name : "", name ? " " : "", text);
	return true;
}

/* Writes subjects separated by semicolons; returns their number. */
static uint32_t write_subjects(FILE *out, yajl_val data)
{
	bool object = YAJL_IS_OBJECT(data);
	size_t length = object ? data->u.object.len : YAJL_IS_ARRAY(data) ? data->u.array.len : 0;
	uint32_t count = 0;

	for (size_t i = 0; i < length; i++) {
		yajl_val value = object ? data->u.object.values[i] : data->u.array.values[i];

		if (YAJL_IS_STRING(value) || YAJL_IS_NUMBER(value)) {
			if (count)
				fputc(';', out);
			count += write_subject(out, object ? data->u.object.keys[i] : NULL, value);
		}
	}
	if (YAJL_IS_STRING(data))
		count += write_subject(out, NULL, data);
	return count;
}

static int put_advice(const struct rules *rules, yajl_val object, const struct place *place,
		      const char *suggestion)
{
	struct model *model = rules->import->model;
	struct told_advice row = { .topic = model_string(model, place->topic),
				   .part = model_string(model, place->part),
				   .text = model_string(model, suggestion),
				   .file = rules->import->file,
				   .device = rules->device };
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	row.count = write_subjects(out, json_file_member(object, "Tuning Data"));
	fclose(out);
	row.subjects = text ? model_string(model, text) : INDEX_NONE;
	free(text);
	if (row.topic == INDEX_NONE || row.part == INDEX_NONE || row.text == INDEX_NONE ||
	    row.subjects == INDEX_NONE || !MODEL_PUSH(&model->told_advice, row))
		return -ENOMEM;
	return 0;
}

static int read_value(const struct rules *rules, yajl_val value, struct place place)
{
	const char *topic = json_file_string(value, "Rule Type");
	const char *part = json_file_string(value, "Rule Subtype");
	const char *suggestion = json_file_string(value, "Rule Suggestion");
	int err = 0;

	if (place.depth++ > DEPTH_MAX)
		return import_finding(rules->import, "advice in too many lists", NULL);
	if (topic)
		place.topic = topic;
	if (part)
		place.part = part;
	if (suggestion && *suggestion)
		err = put_advice(rules, value, &place, suggestion);
	for (size_t i = 0; YAJL_IS_ARRAY(value) && i < value->u.array.len && !err; i++)
		err = read_value(rules, value->u.array.values[i], place);
	for (size_t i = 0; YAJL_IS_OBJECT(value) && i < value->u.object.len && !err; i++) {
		if (strcmp(value->u.object.keys[i], "Tuning Data") != 0)
			err = read_value(rules, value->u.object.values[i], place);
	}
	return err;
}

/* The device of "prof_rule_0_20240101.json" is 0, if the result has such a device. */
static uint32_t device_of(const struct import *import)
{
	const char *name = strrchr(import->path, '/');
	const struct model *model = import->model;
	unsigned int number;

	if (sscanf(name ? name + 1 : import->path, "prof_rule_%u_", &number) != 1 &&
	    sscanf(name ? name + 1 : import->path, "prof_rule_%u.", &number) != 1)
		return INDEX_NONE;
	for (uint32_t i = import->first_device; i < model->devices.count; i++) {
		if (model->devices.row[i].id == number)
			return i;
	}
	return INDEX_NONE;
}

static int import(struct import *import)
{
	const struct rules rules = { .import = import, .device = device_of(import) };
	const struct place nowhere = { "", "", 0 };
	yajl_val root;
	int err;

	root = json_file_read(import->path, &err, import->error, sizeof(import->error));
	if (!root)
		return err;
	err = read_value(&rules, root, nowhere);
	yajl_tree_free(root);
	return err;
}

const struct importer import_ascend_rules = {
	.name = "msprof",
	.what = "advice of msprof (prof_rule_*)",
	.detect = detect,
	.import = import,
};
