/* SPDX-License-Identifier: Apache-2.0 */
/* Kineto's details of a kernel: sizes of a collective, launch parameters of others. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/pytorch/pytorch.h"
#include "analyzer/import/readers/json_objects.h"

/* Size in bytes of an element of c10's type; 0 = unknown. */
static uint64_t element_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} TYPES[] = {
		{ "Float", 4 },		{ "BFloat16", 2 },	{ "Half", 2 },	{ "Double", 8 },
		{ "Long", 8 },		{ "Int", 4 },		{ "Short", 2 },	{ "Char", 1 },
		{ "Byte", 1 },		{ "Bool", 1 },		{ "Float8_e4m3fn", 1 },
		{ "Float8_e5m2", 1 },	{ "Float8_e4m3fnuz", 1 }, { "Float8_e5m2fnuz", 1 },
		{ "ComplexFloat", 8 },	{ "ComplexDouble", 16 },
	};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++)
		if (strcmp(type, TYPES[i].name) == 0)
			return TYPES[i].bytes;
	return 0;
}

static uint64_t number_of(const struct json_value *value)
{
	uint64_t number;

	return value->text && decimal_unsigned(value->text, value->length, &number) ? number : 0;
}

void pytorch_collective(struct pytorch *file, const struct json_value *told, const struct json_value *ranks,
			struct pytorch_common *common, struct gpu_task *task)
{
	enum { NAME, IN, OUT, TYPE, SIZE };
	struct model *model = file->import->model;
	uint64_t in = number_of(&told[IN]), out = number_of(&told[OUT]);
	uint64_t members = number_of(&told[SIZE]), bytes;

	common->group = model_string(model, ranks->text);
	common->collective = model_string(model, told[NAME].text);
	common->type = model_string(model, told[TYPE].text);
	if (members < UINT32_MAX)
		common->members = (uint32_t)members;
	if (told[TYPE].text &&
	    !__builtin_mul_overflow(in > out ? in : out, element_bytes(told[TYPE].text), &bytes) &&
	    bytes)
		task->bytes = bytes;
}

/* The product of a list: "[4,2,1]" is 8. */
static double product_of(const char *list)
{
	double product = 1;
	char *end;

	for (const char *at = list; *at;) {
		double factor = strtod(at, &end);

		if (end == at) {
			at++;
			continue;
		}
		product *= factor;
		at = end;
	}
	return product;
}

int pytorch_launch_figures(struct pytorch *file, const struct json_value *told,
			   const char *const *keys, struct pytorch_common *common, struct gpu_task *task)
{
	enum { GRID, BLOCK, FIGURES = 7 };
	static const char *const LISTS[] = { "blocks", "threads per block" };

	task->first_metric = file->metrics.count;
	for (int i = 0; i < FIGURES; i++) {
		struct task_metric metric = { 0 };
		double value;

		if (!told[i].text)
			continue;
		value = i <= BLOCK ? product_of(told[i].text) : strtod(told[i].text, NULL);
		metric.name = model_string(file->import->model,
					   i <= BLOCK ? LISTS[i] : keys[i] + strlen("args."));
		metric.value = (float)value;
		if (metric.name == INDEX_NONE ||
		    (isfinite(metric.value) && !MODEL_PUSH(&file->metrics, metric)))
			return -ENOMEM;
	}
	common->metric_count = (uint16_t)(file->metrics.count - task->first_metric);
	return 0;
}
