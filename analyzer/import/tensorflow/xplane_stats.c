/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/tensorflow/xplane_stats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/task_find.h"

#define SHAPES_MAX 4096
#define SPACE_MEMORY 1 /* in memory_access_breakdown: the device's own memory */

enum {
	STAT_METADATA_ID = 1,
	STAT_DOUBLE = 2,
	STAT_UINT = 3,
	STAT_INT = 4,
	STAT_TEXT = 5,
	STAT_BYTES = 6,
	STAT_REF = 7
};
enum { BREAKDOWN_ACCESS = 1 };
enum { ACCESS_SPACE = 2, ACCESS_BYTES = 3 };

enum stat {
	CORRELATION,
	CATEGORY,
	MEMCPY,
	FLOPS,
	ACCESSED,
	BREAKDOWN,
	SHAPE,
	PEAK_TERAFLOPS,
	PEAK_GIGABYTES,
	MEMORY_BANDWIDTH,
	STEP,
	OPERATION,
	STATS
};

static const char *const NAMES[STATS] = {
	"correlation_id",
	"hlo_category",
	"memcpy_details",
	"flops",
	"bytes_accessed",
	"memory_access_breakdown",
	"shape_with_layout",
	"peak_teraflops_per_second",
	"peak_hbm_bw_gigabytes_per_second",
	"memory_bandwidth",
	"step_num",
	"hlo_op",
};

struct value {
	uint64_t integer;
	double number; /* the value as a real number; negative = none */
	struct proto_message text;
	uint64_t reference;
};

int xplane_stats_name(struct xplane_stats *stats, uint64_t id, const struct proto_message *name)
{
	uint32_t text = string_table_add(stats->strings, (const char *)name->at, proto_length(name));

	for (uint32_t i = 0; i < STATS; i++) {
		if (proto_is(name, NAMES[i]) && !map_put(&stats->known, id, i))
			return -ENOMEM;
	}
	return text != STRING_NONE && map_put(&stats->texts, id, text) ? 0 : -ENOMEM;
}

void xplane_stats_free(struct xplane_stats *stats)
{
	map_free(&stats->known);
	map_free(&stats->texts);
}

/* The size in "kind_src:... size:1024 dest:0". */
static uint64_t bytes_of_details(const struct proto_message *text)
{
	static const char word[] = "size:";
	const char *at = memmem(text->at, proto_length(text), word, strlen(word));
	uint64_t bytes;
	size_t digits = 0;

	if (!at)
		return 0;
	at += strlen(word);
	while ((const uint8_t *)at + digits < text->end && at[digits] >= '0' && at[digits] <= '9')
		digits++;
	return decimal_unsigned(at, digits, &bytes) && bytes <= INT64_MAX ? bytes : 0;
}

/* Sums the bytes of accesses to the device's memory; returns false if there are none. */
static bool memory_bytes(struct proto_message breakdown, double *bytes)
{
	struct proto_field field, part;

	*bytes = 0;
	while (proto_next(&breakdown, &field) == 1) {
		uint64_t space = 0, accessed = 0;

		if (field.number != BREAKDOWN_ACCESS)
			continue;
		while (proto_next(&field.bytes, &part) == 1) {
			if (part.number == ACCESS_SPACE)
				space = part.value;
			else if (part.number == ACCESS_BYTES)
				accessed = part.value;
		}
		if (space == SPACE_MEMORY && accessed <= INT64_MAX)
			*bytes += (double)accessed;
	}
	return *bytes > 0;
}

static struct value value_of(struct proto_message stat, uint64_t *id)
{
	struct value value = { .number = -1 };
	struct proto_field field;

	*id = 0;
	while (proto_next(&stat, &field) == 1) {
		switch (field.number) {
		case STAT_METADATA_ID: *id = field.value; break;
		case STAT_DOUBLE: memcpy(&value.number, &field.value, sizeof(value.number)); break;
		case STAT_UINT:
		case STAT_INT:
			value.integer = field.value;
			value.number = field.value <= INT64_MAX ? (double)field.value : -1;
			break;
		case STAT_TEXT:
		case STAT_BYTES: value.text = field.bytes; break;
		case STAT_REF: value.reference = field.value; break;
		}
	}
	return value;
}

static uint32_t text_of(const struct xplane_stats *stats, const struct value *value)
{
	uint32_t text = value->text.at
				? string_table_add(stats->strings, (const char *)value->text.at,
						   proto_length(&value->text))
				: map_get(&stats->texts, value->reference);

	return text == MAP_NONE ? 0 : text;
}

/* Is the number neither NaN nor impossible for any device? */
static bool possible(double number)
{
	return number >= 0 && number < 1e300;
}

static void read_work(enum stat stat, const struct value *value, struct xplane_figures *figures)
{
	double bytes;

	if (stat == FLOPS && possible(value->number)) {
		figures->flops = value->number;
		figures->known |= MODEL_DETAIL_FLOPS;
	} else if (stat == ACCESSED && possible(value->number) && !figures->from_memory) {
		figures->moved_bytes = value->number;
		figures->known |= MODEL_DETAIL_MOVED;
	} else if (stat == BREAKDOWN && memory_bytes(value->text, &bytes)) {
		figures->moved_bytes = bytes;
		figures->from_memory = true;
		figures->known |= MODEL_DETAIL_MOVED;
	}
}

void xplane_stats_read(const struct xplane_stats *stats, struct proto_message stat,
		       struct xplane_figures *figures)
{
	uint64_t id;
	struct value value = value_of(stat, &id);
	uint32_t which = map_get(&stats->known, id);

	switch (which) {
	case CORRELATION: figures->correlation = value.integer; break;
	case MEMCPY: figures->bytes = value.text.at ? bytes_of_details(&value.text) : 0; break;
	case CATEGORY: figures->type = text_of(stats, &value); break;
	case SHAPE: figures->shape = text_of(stats, &value); break;
	case FLOPS:
	case ACCESSED:
	case BREAKDOWN: read_work((enum stat)which, &value, figures); break;
	case PEAK_TERAFLOPS:
		figures->peak_flops = possible(value.number) ? value.number * 1e12 : 0;
		break;
	case PEAK_GIGABYTES:
		figures->peak_bandwidth = possible(value.number) ? value.number * 1e9 : 0;
		break;
	case MEMORY_BANDWIDTH:
		figures->peak_bandwidth = possible(value.number) ? value.number : 0;
		break;
	case STEP: figures->step = value.integer; break;
	case OPERATION: figures->operation = true; break;
	default: break;
	}
}

/* Splits "(bf16[8,128]{1,0:T(8,128)}, f32[]{})" into "8,128;" and "bf16;f32". */
static bool split_shapes(struct model *model, const char *text, struct task_detail *detail)
{
	char shapes[SHAPES_MAX] = "", types[SHAPES_MAX] = "";
	const char *separator = "";

	for (const char *open = strchr(text, '['); open; open = strchr(open + 1, '[')) {
		const char *type = open, *close = strchr(open, ']');
		size_t shapes_used = strlen(shapes), types_used = strlen(types);

		while (type > text && strchr("abcdefghijklmnopqrstuvwxyz0123456789_", type[-1]))
			type--;
		if (!close || shapes_used + (size_t)(close - open) + 2 > sizeof(shapes) ||
		    types_used + (size_t)(open - type) + 2 > sizeof(types))
			break;
		snprintf(shapes + shapes_used, sizeof(shapes) - shapes_used, "%s%.*s", separator,
			 (int)(close - open - 1), open + 1);
		snprintf(types + types_used, sizeof(types) - types_used, "%s%.*s", separator,
			 (int)(open - type), type);
		separator = ";";
	}
	detail->output_shapes = model_string(model, shapes);
	detail->output_types = model_string(model, types);
	return detail->output_shapes != INDEX_NONE && detail->output_types != INDEX_NONE;
}

static bool contains_others(const char *type)
{
	return strcmp(type, "while") == 0 || strcmp(type, "conditional") == 0 ||
	       strcmp(type, "call") == 0;
}

bool xplane_figures_keep(struct model *model, struct xplane_figures *figures)
{
	struct task_detail detail = task_detail_unknown();

	if (!contains_others(model_text(model, figures->type))) {
		detail.known = figures->known;
		detail.flops = figures->flops;
		detail.moved_bytes = figures->moved_bytes;
	}
	if (!detail.known && !figures->shape)
		return true;
	if (!split_shapes(model, model_text(model, figures->shape), &detail) ||
	    !MODEL_PUSH(&model->task_details, detail))
		return false;
	figures->detail = model->task_details.count;
	return true;
}
