/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/alike.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/translate.h"
#include "analyzer/view/append_text.h"
#include "analyzer/view/render/utf8.h"

#define MOST_GROUPS 4096 /* each row is compared with each group's first row; further rows are shown individually */
#define CLOSE_PERCENT 1.0
#define CLOSE_TIME 20 /* permitted difference: this part of a time */
#define CLOSE_TASKS 100 /* permitted difference: this part of the number of tasks */

static int begin(struct alike *alike, uint32_t count)
{
	alike->of = calloc((size_t)count + 1, sizeof(*alike->of));
	alike->count = calloc((size_t)count + 1, sizeof(*alike->count));
	alike->groups = 0;
	return alike->of && alike->count ? 0 : -ENOMEM;
}

void alike_free(struct alike *alike)
{
	free(alike->of);
	free(alike->count);
	*alike = (struct alike){ 0 };
}

void alike_words(const struct alike *alike, uint32_t row, char *into, size_t size)
{
	*into = '\0';
	if (alike->count[row] > 1)
		snprintf(into, size, tr(", and %u more like this"), alike->count[row] - 1);
}

/* Puts @row into the group that @of represents, an earlier row or @row itself. */
static void put(struct alike *alike, uint32_t row, uint32_t of)
{
	alike->of[row] = of;
	alike->count[of]++;
	alike->groups += of == row;
}

/* Are the texts equal except for numbers? */
static bool same_words(const char *x, const char *y)
{
	while (*x && *y) {
		if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
			x += strspn(x, "0123456789.");
			y += strspn(y, "0123456789.");
			continue;
		}
		if (*x++ != *y++)
			return false;
	}
	return *x == *y;
}

static bool same_advice(const struct advice *x, const struct advice *y)
{
	return strcmp(x->id, y->id) == 0 && strcmp(x->severity, y->severity) == 0 &&
	       strcmp(x->title, y->title) == 0 && strcmp(x->remedy, y->remedy) == 0 &&
	       same_words(x->evidence, y->evidence);
}

int alike_advice(const struct advice_results *advice, struct alike *alike)
{
	int err = begin(alike, advice->advice_count);

	for (uint32_t i = 0; i < advice->advice_count && !err; i++) {
		uint32_t of = 0;

		while (of < i && of < MOST_GROUPS &&
		       (alike->of[of] != of || !same_advice(&advice->list[of], &advice->list[i])))
			of++;
		put(alike, i, of < MOST_GROUPS ? of : i);
	}
	return err;
}

static bool close_to(uint64_t x, uint64_t y, uint64_t parts)
{
	uint64_t greater = x > y ? x : y;

	return greater - (x > y ? y : x) <= greater / parts;
}

static bool same_device(const struct model *model, const struct device_usage *x,
			const struct device_usage *y)
{
	const struct device *a = &model->devices.row[x->device], *b = &model->devices.row[y->device];

	return a->has_rank && b->has_rank && a->name == b->name &&
	       device_busy_known(model, x) && device_busy_known(model, y) &&
	       close_to(x->window_ns, y->window_ns, CLOSE_TIME) &&
	       close_to(x->tasks, y->tasks, CLOSE_TASKS) &&
	       close_to(x->window_ns + x->compute_ns, x->window_ns + y->compute_ns, CLOSE_TIME) &&
	       close_to(x->window_ns + x->communication_ns, x->window_ns + y->communication_ns,
			CLOSE_TIME) &&
	       fabs(device_utilization(x) - device_utilization(y)) <= CLOSE_PERCENT;
}

int alike_devices(const struct model *model, const struct device_results *devices, struct alike *alike)
{
	int err = begin(alike, devices->device_count);

	for (uint32_t i = 0; i < devices->device_count && !err; i++) {
		uint32_t of = 0;

		while (of < i && of < MOST_GROUPS &&
		       (alike->of[of] != of ||
			!same_device(model, &devices->devices[of], &devices->devices[i])))
			of++;
		put(alike, i, of < MOST_GROUPS ? of : i);
	}
	return err;
}

struct alike_range alike_range_of(const struct device_results *devices, const struct alike *alike,
				  uint32_t row)
{
	struct alike_range range = { .least_percent = 100,
				     .least_ns = UINT64_MAX,
				     .least_tasks = UINT64_MAX };

	for (uint32_t i = row; i < devices->device_count; i++) {
		const struct device_usage *usage = &devices->devices[i];

		if (alike->of[i] != row)
			continue;
		range.least_percent = fmin(range.least_percent, device_utilization(usage));
		range.most_percent = fmax(range.most_percent, device_utilization(usage));
		if (usage->window_ns < range.least_ns)
			range.least_ns = usage->window_ns;
		if (usage->window_ns > range.most_ns)
			range.most_ns = usage->window_ns;
		if (usage->tasks < range.least_tasks)
			range.least_tasks = usage->tasks;
		if (usage->tasks > range.most_tasks)
			range.most_tasks = usage->tasks;
	}
	return range;
}

bool device_is_ambiguous(const struct model *model, uint32_t device)
{
	const struct device *row = &model->devices.row[device];

	for (uint32_t i = 0; i < model->devices.count && row->file && !row->has_rank; i++) {
		const struct device *other = &model->devices.row[i];

		if (i != device && other->id == row->id && !other->has_rank)
			return true;
	}
	return false;
}

static const char *file_of(const struct model *model, const struct device *device)
{
	return device->file - 1 < model->imports.count
		       ? model_text(model, model->imports.row[device->file - 1].path)
		       : "";
}

/* Do files of other devices with this number end with the same @end? */
static bool is_end_of_others(const struct model *model, const struct device *device, const char *end)
{
	const char *own = file_of(model, device);

	for (uint32_t i = 0; i < model->devices.count; i++) {
		const struct device *other = &model->devices.row[i];
		const char *path = file_of(model, other);
		size_t length = strlen(path), size = strlen(end);

		if (other->id == device->id && !other->has_rank && strcmp(path, own) != 0 &&
		    length >= size && strcmp(path + length - size, end) == 0)
			return true;
	}
	return false;
}

const char *device_file_text(const struct model *model, const struct device *device, char *into,
			     size_t size)
{
	const char *path = file_of(model, device);
	const char *at = strrchr(path, '/');

	while (at && at > path && (at[-1] != '/' || is_end_of_others(model, device, at)))
		at--;
	return printable(at ? at : path, into, size);
}

const char *device_words(const struct model *model, uint32_t device, char *into, size_t size)
{
	const struct device *row = &model->devices.row[device];
	char file[DEVICE_WORDS / 2];

	snprintf(into, size, "Device %u", row->id);
	if (row->has_rank)
		append(into, size, " (rank %u)", row->rank);
	if (device_is_ambiguous(model, device))
		append(into, size, " of %s", device_file_text(model, row, file, sizeof(file)));
	return into;
}

const char *alike_range_text(double least, double most, int decimals, char *into, size_t size)
{
	char other[32];

	snprintf(into, size, "%.*f", decimals, least);
	snprintf(other, sizeof(other), "%.*f", decimals, most);
	if (strcmp(into, other) != 0)
		snprintf(into, size, tr("%.*f to %.*f"), decimals, least, decimals, most);
	return into;
}

const char *alike_window_text(const struct alike_range *range, char *into, size_t size)
{
	bool short_ones = range->most_ns < 1000000;
	double unit = short_ones ? 1e3 : 1e9;
	char numbers[64];

	alike_range_text((double)range->least_ns / unit, (double)range->most_ns / unit, short_ones ? 1 : 3,
			 numbers, sizeof(numbers));
	snprintf(into, size, "%s %s", numbers, short_ones ? "us" : "s");
	return into;
}

/* Returns the next row from @row on that @of represents, or the number of rows. */
static uint32_t next_of(const struct device_results *devices, const struct alike *alike, uint32_t of,
			uint32_t row)
{
	while (row < devices->device_count && alike->of[row] != of)
		row++;
	return row;
}

static uint32_t rank_of(const struct model *model, const struct device_results *devices, uint32_t row)
{
	return model->devices.row[devices->devices[row].device].rank;
}

void alike_ranks(const struct model *model, const struct device_results *devices,
		 const struct alike *alike, uint32_t row, char *into, size_t size)
{
	uint32_t at = row, next;
	size_t used = 0;

	*into = '\0';
	while (at < devices->device_count) {
		uint32_t first = rank_of(model, devices, at), last = first;

		for (next = next_of(devices, alike, row, at + 1);
		     next < devices->device_count && rank_of(model, devices, next) == last + 1;
		     next = next_of(devices, alike, row, next + 1))
			last++;
		if (used + 32 > size) {
			snprintf(into + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(into + used, size - used, "%s%u", used ? ", " : "", first);
		if (last > first)
			used += (size_t)snprintf(into + used, size - used, "-%u", last);
		at = next;
	}
}
