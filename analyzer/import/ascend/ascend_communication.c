/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of communication by Ascend's profilers: communication.json (times and transports of each operation) and
 * communication_matrix.json (links between ranks).
 *
 * Operations are keys, "hcom_allReduce__971_0_1@group", in the root or under step and kind ("step12",
 * "collective"). Times are milliseconds, sizes megabytes of 10^6 bytes. The matrix also has keys of selected
 * operations ("allreduce-top1@group"): only totals are imported.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"

#define TIMES ".Communication Time Info."
#define MILLISECONDS 6 /* decimal places to nanoseconds, and of megabytes to bytes */

struct sums {
	struct import *import;
	struct import_rows rows;
	uint32_t device;
	struct map times; /* operation -> row of communication_times */
	struct map links; /* hash of operation, ranks -> row of link_uses */
};

static int detect(const struct import_sample *sample)
{
	if (sample->directory)
		return 0;
	if (strstr(sample->text, "\"Communication Time Info\""))
		return 90;
	return strstr(sample->text, "\"Transport Type\"") &&
			       strstr(sample->text, "\"Transit Size(MB)\"")
		       ? 90
		       : 0;
}

/* The operation's name: the last key before @end, up to its group. Returns INDEX_NONE if out of memory. */
static uint32_t operation_of(struct sums *file, const char *key, const char *end)
{
	const char *start = end, *group;
	char name[256];

	while (start > key && start[-1] != '.')
		start--;
	group = memchr(start, '@', (size_t)(end - start));
	if (group)
		end = group;
	if ((size_t)(end - start) >= sizeof(name))
		return 0;
	memcpy(name, start, (size_t)(end - start));
	name[end - start] = '\0';
	return strcmp(name, "Total Op Info") ? model_string(file->import->model, name) : 0;
}

static struct communication_time *time_of(struct sums *file, uint32_t operation)
{
	struct model *model = file->import->model;
	uint32_t row = map_get(&file->times, operation);
	struct communication_time new = { .elapsed_ns = UINT64_MAX,
					  .transit_ns = UINT64_MAX,
					  .wait_ns = UINT64_MAX,
					  .synchronization_ns = UINT64_MAX,
					  .idle_ns = UINT64_MAX,
					  .device = file->device,
					  .operation = operation };

	if (row == MAP_NONE) {
		row = model->communication_times.count;
		if (!MODEL_PUSH(&model->communication_times, new) ||
		    !map_put(&file->times, operation, row))
			return NULL;
	}
	return &model->communication_times.row[row];
}

static int add_time(struct sums *file, uint32_t operation, const char *field, uint64_t ns)
{
	struct communication_time *time = time_of(file, operation);

	if (!time)
		return -ENOMEM;
	if (strcmp(field, "Elapse Time(ms)") == 0)
		time->elapsed_ns = ns;
	else if (strcmp(field, "Transit Time(ms)") == 0)
		time->transit_ns = ns;
	else if (strcmp(field, "Wait Time(ms)") == 0)
		time->wait_ns = ns;
	else if (strcmp(field, "Synchronization Time(ms)") == 0)
		time->synchronization_ns = ns;
	else if (strcmp(field, "Idle Time(ms)") == 0)
		time->idle_ns = ns;
	return 0;
}

static struct link_use *link_of(struct sums *file, uint32_t operation, uint32_t from, uint32_t to)
{
	struct model *model = file->import->model;
	uint64_t key = ((uint64_t)operation << 32 | from) * 0x9e3779b97f4a7c15u ^ to;
	uint32_t row = map_get(&file->links, key);
	struct link_use new = { .device = file->device,
				.operation = operation,
				.source = from,
				.destination = to,
				.count = 1 };

	if (row == MAP_NONE) {
		row = model->link_uses.count;
		if (!MODEL_PUSH(&model->link_uses, new) || !map_put(&file->links, key, row))
			return NULL;
	}
	return &model->link_uses.row[row];
}

/* The ranks of a link, "0-1", in a key's component before the field. */
static bool ranks_of(const char *start, const char *end, uint32_t *from, uint32_t *to)
{
	const char *dash = memchr(start, '-', (size_t)(end - start));
	uint64_t source, destination;

	if (!dash || !decimal_unsigned(start, (size_t)(dash - start), &source) ||
	    !decimal_unsigned(dash + 1, (size_t)(end - dash - 1), &destination) ||
	    source >= INDEX_NONE || destination >= INDEX_NONE)
		return false;
	*from = (uint32_t)source;
	*to = (uint32_t)destination;
	return true;
}

static int add_link(struct sums *file, const char *key, const char *field,
		    const struct json_value *value)
{
	const char *link = field - 1, *end = link;
	uint32_t operation, from, to;
	struct link_use *use;
	int64_t number;

	while (link > key && link[-1] != '.')
		link--;
	if (link == key || !ranks_of(link, end, &from, &to))
		return 0;
	operation = operation_of(file, key, link - 1);
	if (operation == INDEX_NONE)
		return -ENOMEM;
	/* Selected operations are skipped, because the totals contain their transfers. */
	if (!operation || strstr(model_text(file->import->model, operation), "-top") ||
	    strstr(model_text(file->import->model, operation), "-middle") ||
	    strstr(model_text(file->import->model, operation), "-bottom"))
		return 0;
	use = link_of(file, operation, from, to);
	if (!use)
		return -ENOMEM;
	if (strcmp(field, "Transport Type") == 0) {
		use->transport = model_string(file->import->model, value->text);
		return use->transport == INDEX_NONE ? -ENOMEM : 0;
	}
	if (!decimal_scaled(value->text, value->length, MILLISECONDS, &number) || number < 0)
		return 0;
	if (strcmp(field, "Transit Size(MB)") == 0)
		use->bytes = (uint64_t)number;
	else if (strcmp(field, "Transit Time(ms)") == 0)
		use->ns = (uint64_t)number;
	return 0;
}

static int on_scalar(void *context, const char *key, const struct json_value *value)
{
	const char *times = strstr(key, TIMES), *field = strrchr(key, '.');
	struct sums *file = context;
	uint32_t operation;
	int64_t ns;

	if (!times)
		return field ? add_link(file, key, field + 1, value) : 0;
	if (!decimal_scaled(value->text, value->length, MILLISECONDS, &ns) || ns < 0)
		return 0;
	operation = operation_of(file, key, times);
	if (!operation || operation == INDEX_NONE)
		return operation ? -ENOMEM : 0;
	return add_time(file, operation, times + sizeof(TIMES) - 1, (uint64_t)ns);
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	return 0;
}

/* The only device of the result: these files do not name their device. */
static uint32_t device_of(struct sums *file)
{
	const struct model *model = file->import->model;
	uint32_t first = file->import->first_device;

	if (model->devices.count == first + 1)
		return first;
	return import_device(&file->rows, 0, INDEX_NONE, "Ascend", "npu", "msprof",
			     PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
}

static int import(struct import *import)
{
	static const char *const KEYS[] = { "ph", NULL };
	static const char *const LISTS[] = { "no list is wanted", NULL };
	struct sums file = { .import = import };
	const struct json_reader reader = { .keys = KEYS,
					    .lists = LISTS,
					    .object = on_object,
					    .scalar = on_scalar,
					    .context = &file, .place = &import->place };
	uint32_t rows = import->model->communication_times.count + import->model->link_uses.count;
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	file.device = device_of(&file);
	err = file.device == INDEX_NONE
		      ? -ENOMEM
		      : json_objects_read(import->path, &reader, damage, sizeof(damage));
	err = import_end_reading(import, err,
				 import->model->communication_times.count +
						 import->model->link_uses.count >
					 rows,
				 damage);
	import_rows_free(&file.rows);
	map_free(&file.times);
	map_free(&file.links);
	return err;
}

const struct importer import_ascend_communication = {
	.name = "msprof",
	.what = "Ascend's sums of communication (communication.json, communication_matrix.json)",
	.detect = detect,
	.import = import,
};
