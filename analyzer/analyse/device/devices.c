/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/devices.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/intervals.h"
#include "analyzer/model/task_sort.h"

/* The tasks of one device, sorted by start, and the analysed part of the trace. */
struct scope {
	const struct model *model;
	struct analysis_window window;
	uint32_t first;
	uint32_t count;
};

bool device_task_counts(const struct device_task *task)
{
	return !(task->flags & MODEL_TASK_UNTIMED) && task->end_ns > task->start_ns &&
	       task->kind != PROFBPF__DEVICE_TASKS__KIND__SYNC;
}

bool device_busy_known(const struct model *model, const struct device_usage *usage)
{
	return usage->window_ns && !model->devices.row[usage->device].whole;
}

double device_utilization(const struct device_usage *usage)
{
	return usage->window_ns ? 100.0 * (double)usage->busy_ns / (double)usage->window_ns : 0;
}

static const struct device_task *task_at(const struct scope *scope, uint32_t i)
{
	return &scope->model->tasks.row[scope->first + i];
}

/* Tasks without times are placed by their enqueue instant; without that, they always belong to the window. */
static bool in_window(const struct analysis_window *window, const struct device_task *task)
{
	if (task->flags & MODEL_TASK_UNTIMED)
		return !task->enqueue_ns || analysis_has(task->enqueue_ns, window);
	if (task->start_ns == task->end_ns)
		return analysis_has(task->start_ns, window);
	return task->end_ns > window->from_ns && task->start_ns < window->to_ns;
}

static int add_gap(struct device_usage *usage, uint32_t *capacity, const struct device_gap *gap)
{
	if (usage->gap_count == *capacity) {
		uint32_t want = *capacity ? *capacity * 2 : 64;
		struct device_gap *grown;

		if (want < *capacity)
			return -ENOMEM;
		grown = reallocarray(usage->gaps, want, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		usage->gaps = grown;
		*capacity = want;
	}
	usage->gaps[usage->gap_count++] = *gap;
	usage->idle_ns += gap->end_ns - gap->start_ns;
	return 0;
}

/* Gives back the room for further gaps: each of many devices has some. */
static void give_back(struct device_usage *usage)
{
	struct device_gap *fitting = usage->gap_count ? reallocarray(usage->gaps, usage->gap_count,
								     sizeof(*fitting))
						      : NULL;

	usage->gaps = fitting ? fitting : usage->gaps;
}

/* Finds window, gaps and busy time. Tasks outside the analysed part show how far it is covered. */
static int find_gaps(const struct scope *scope, struct device_usage *usage)
{
	uint64_t first_ns = 0, reach_ns = 0;
	uint32_t last = INDEX_NONE, capacity = 0;

	for (uint32_t i = 0; i < scope->count; i++) {
		const struct device_task *task = task_at(scope, i);

		if (!device_task_counts(task))
			continue;
		if (last == INDEX_NONE)
			first_ns = task->start_ns;
		if (last != INDEX_NONE && task->start_ns > reach_ns) {
			struct device_gap gap = {
				.start_ns = analysis_nearest(reach_ns, &scope->window),
				.end_ns = analysis_nearest(task->start_ns, &scope->window),
				.device = usage->device,
				.before = last,
				.after = scope->first + i,
			};
			int error = gap.start_ns < gap.end_ns ? add_gap(usage, &capacity, &gap) : 0;

			if (error)
				return error;
		}
		if (last == INDEX_NONE || task->end_ns > reach_ns) {
			reach_ns = task->end_ns;
			last = scope->first + i;
		}
	}
	give_back(usage);
	usage->window_start_ns = analysis_nearest(first_ns, &scope->window);
	usage->window_ns = analysis_nearest(reach_ns, &scope->window) - usage->window_start_ns;
	usage->busy_ns = usage->window_ns - usage->idle_ns;
	return 0;
}

enum class { COMPUTE, COMMUNICATION, COPY, WORK, CLASSES };

static int classify(uint8_t kind)
{
	switch (kind) {
	case PROFBPF__DEVICE_TASKS__KIND__KERNEL: return COMPUTE;
	case PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION: return COMMUNICATION;
	case PROFBPF__DEVICE_TASKS__KIND__COPY:
	case PROFBPF__DEVICE_TASKS__KIND__FILL:
	case PROFBPF__DEVICE_TASKS__KIND__MAP: return COPY;
	default: return -1;
	}
}

/* Sums the covers of compute, communication, copies, and the first two together. Tasks are sorted by start. */
static void cover_classes(const struct scope *scope, struct cover classes[CLASSES])
{
	for (uint32_t i = 0; i < scope->count; i++) {
		const struct device_task *task = task_at(scope, i);
		uint64_t start_ns = analysis_nearest(task->start_ns, &scope->window);
		uint64_t end_ns = analysis_nearest(task->end_ns, &scope->window);
		int class = classify(task->kind);

		if (!device_task_counts(task) || class < 0)
			continue;
		cover_add(&classes[class], start_ns, end_ns);
		if (class != COPY)
			cover_add(&classes[WORK], start_ns, end_ns);
	}
}

static void sum_classes(const struct scope *scope, struct device_usage *usage)
{
	struct cover classes[CLASSES] = { 0 };
	const struct cover *work = &classes[WORK];

	cover_classes(scope, classes);
	usage->compute_ns = classes[COMPUTE].length_ns;
	usage->communication_ns = classes[COMMUNICATION].length_ns;
	usage->communication_not_overlapped_ns = work->length_ns - usage->compute_ns;
	usage->copy_ns = classes[COPY].length_ns;
	usage->has_free = work->reach_ns > 0;
	usage->free_ns = work->reach_ns - work->first_ns - work->length_ns;
}

/* Usage of one stream, whose tasks are rows[0..count), by start. */
static struct stream_usage sum_stream(const struct scope *scope, const uint32_t *rows,
				      uint32_t count)
{
	struct stream_usage usage = { .id = scope->model->tasks.row[rows[0]].stream };
	uint64_t reach_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &scope->model->tasks.row[rows[i]];
		uint64_t start_ns = analysis_nearest(task->start_ns, &scope->window);
		uint64_t end_ns = analysis_nearest(task->end_ns, &scope->window);

		usage.tasks++;
		if (!device_task_counts(task))
			continue;
		if (!usage.first_start_ns)
			usage.first_start_ns = task->start_ns;
		if (task->end_ns > usage.last_end_ns)
			usage.last_end_ns = task->end_ns;
		if (start_ns < reach_ns)
			start_ns = reach_ns;
		if (end_ns > start_ns) {
			usage.busy_ns += end_ns - start_ns;
			reach_ns = end_ns;
		}
	}
	return usage;
}

static int sum_streams(const struct scope *scope, struct device_usage *usage)
{
	uint32_t *rows = calloc((size_t)scope->count + 1, sizeof(*rows));
	uint32_t count = 0, streams = 0;
	int error = -ENOMEM;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < scope->count; i++) {
		if (in_window(&scope->window, task_at(scope, i)))
			rows[count++] = scope->first + i;
	}
	tasks_sort_by_stream(scope->model, rows, count);
	for (uint32_t i = 0; i < count; i++)
		streams += i == 0 || scope->model->tasks.row[rows[i]].stream !=
					     scope->model->tasks.row[rows[i - 1]].stream;
	usage->streams = calloc((size_t)streams + 1, sizeof(*usage->streams));
	if (!usage->streams)
		goto cleanup;
	for (uint32_t first = 0, end; first < count; first = end) {
		uint64_t id = scope->model->tasks.row[rows[first]].stream;

		end = first;
		while (end < count && scope->model->tasks.row[rows[end]].stream == id)
			end++;
		usage->streams[usage->stream_count++] =
			sum_stream(scope, rows + first, end - first);
	}
	error = 0;
cleanup:
	free(rows);
	return error;
}

static int analyse_device(const struct scope *scope, struct device_usage *usage)
{
	int error;

	for (uint32_t i = 0; i < scope->count; i++) {
		const struct device_task *task = task_at(scope, i);

		if (!in_window(&scope->window, task))
			continue;
		usage->tasks++;
		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__SYNC)
			usage->sync_tasks++;
		else if (task->flags & MODEL_TASK_UNTIMED)
			usage->untimed++;
	}
	error = find_gaps(scope, usage);
	if (error)
		return error;
	sum_classes(scope, usage);
	return sum_streams(scope, usage);
}

int devices_analyse(const struct model *model, const struct analysis_options *options,
		    struct device_usage **usages)
{
	uint32_t devices = model->devices.count;
	struct device_usage *usage = calloc((size_t)devices + 1, sizeof(*usage));

	if (!usage)
		return -ENOMEM;
	for (uint32_t i = 0; i < devices; i++)
		usage[i].device = i;
	for (uint32_t first = 0, end; first < model->tasks.count; first = end) {
		uint32_t device = model->tasks.row[first].device;
		struct scope scope = { .model = model,
				       .window = analysis_window(model, options),
				       .first = first };

		end = model_device_end(model, first);
		scope.count = end - first;
		if (device >= devices ||
		    !analysis_wants_process(model, options, model->devices.row[device].process))
			continue;
		if (analyse_device(&scope, &usage[device])) {
			devices_free(usage, devices);
			return -ENOMEM;
		}
	}
	*usages = usage;
	return 0;
}

void devices_free(struct device_usage *usages, uint32_t count)
{
	for (uint32_t i = 0; usages && i < count; i++) {
		free(usages[i].streams);
		free(usages[i].gaps);
	}
	free(usages);
}
