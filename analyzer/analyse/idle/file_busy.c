/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/file_busy.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/devices.h"

/* A time in which a device was busy without a break. */
struct stretch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t before_ns; /* busy time of the device before it */
};

struct stretches {
	struct stretch *row;
	uint32_t count;
	uint32_t capacity;
};

struct file_busy {
	const struct model *model;
	struct stretches *devices; /* per row of model->devices; NULL = not made yet */
};

struct file_busy *file_busy_new(const struct model *model)
{
	struct file_busy *busy = calloc(1, sizeof(*busy));

	if (busy)
		busy->model = model;
	return busy;
}

void file_busy_free(struct file_busy *busy)
{
	if (!busy)
		return;
	for (uint32_t i = 0; busy->devices && i < busy->model->devices.count; i++)
		free(busy->devices[i].row);
	free(busy->devices);
	free(busy);
}

/* Tasks come by their starts. */
static bool add_task(struct stretches *stretches, const struct device_task *task)
{
	struct stretch *last = stretches->count ? &stretches->row[stretches->count - 1] : NULL;
	struct stretch new = { .start_ns = task->start_ns, .end_ns = task->end_ns };

	if (last && task->start_ns <= last->end_ns) {
		if (task->end_ns > last->end_ns)
			last->end_ns = task->end_ns;
		return true;
	}
	if (last)
		new.before_ns = last->before_ns + (last->end_ns - last->start_ns);
	return MODEL_PUSH(stretches, new);
}

/* Only devices with companions are asked about. */
static bool has_companion(const struct model *model, uint32_t device)
{
	for (uint32_t i = 0; i < model->devices.count; i++)
		if (i != device && model->devices.row[i].file == model->devices.row[device].file)
			return true;
	return false;
}

static int make(struct file_busy *busy)
{
	const struct model *model = busy->model;
	uint32_t end;

	busy->devices = calloc((size_t)model->devices.count + 1, sizeof(*busy->devices));
	if (!busy->devices)
		return -ENOMEM;
	for (uint32_t first = 0; first < model->tasks.count; first = end) {
		uint32_t device = model->tasks.row[first].device;

		end = model_device_end(model, first);
		if (device >= model->devices.count || !has_companion(model, device))
			continue;
		for (uint32_t i = first; i < end; i++) {
			const struct device_task *task = &model->tasks.row[i];

			if (device_task_counts(task) && task->end_ns > task->start_ns &&
			    !add_task(&busy->devices[device], task))
				return -ENOMEM;
		}
	}
	return 0;
}

/* The busy time until an instant. */
static uint64_t busy_until(const struct stretches *stretches, uint64_t ts_ns)
{
	uint32_t low = 0, high = stretches->count;
	const struct stretch *last;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (stretches->row[middle].start_ns < ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	last = &stretches->row[low - 1];
	return last->before_ns + (last->end_ns < ts_ns ? last->end_ns : ts_ns) - last->start_ns;
}

int file_busy_elsewhere(struct file_busy *busy, uint32_t device, uint64_t start_ns, uint64_t end_ns)
{
	const struct model *model = busy->model;
	int err = busy->devices ? 0 : make(busy);

	for (uint32_t i = 0; i < model->devices.count && !err; i++) {
		const struct stretches *other = &busy->devices[i];

		if (i == device || model->devices.row[i].file != model->devices.row[device].file)
			continue;
		if (busy_until(other, end_ns) - busy_until(other, start_ns) > (end_ns - start_ns) / 2)
			return 1;
	}
	return err;
}
