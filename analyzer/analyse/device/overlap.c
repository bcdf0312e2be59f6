/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/overlap.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/fuzzy.h"
#include "analyzer/analyse/intervals.h"
#include "analyzer/model/task_sort.h"

enum set {
	COMPUTATION,
	COMMUNICATION,
	COPIES,
	WORK, /* computation and communication */
	WORK_OR_COPIES,
	NOT_RECEIVING, /* computation, and communication except receiving */
	SETS
};

/* The tasks of one device, sorted by start. */
struct scope {
	const struct model *model;
	struct analysis_window window;
	uint32_t first;
	uint32_t count;
};

/* Cached result for a name: millions of tasks have few names. The zeroed entry is right for the empty name. */
struct receiver {
	uint32_t name;
	bool receives;
};

#define RECEIVERS 256 /* a power of 2; by the last bits of a name */

/* Does the task wait for a neighbouring pipeline stage? hcom_receive, SendRecv, ncclDevKernel_Recv. */
static bool receives(const struct model *model, const struct device_task *task,
		     struct receiver receivers[RECEIVERS])
{
	struct receiver *known = &receivers[task->name % RECEIVERS];
	const char *name = model_text(model, task->name);

	if (known->name != task->name)
		*known = (struct receiver){ task->name, text_fuzzy(name, "receive") ||
								text_fuzzy(name, "sendrecv") ||
								text_fuzzy(name, "kernelrecv") };
	return known->receives;
}

#define SETS_OF_TASK 4

/* Fills the sets of a task; returns their number, 0 to SETS_OF_TASK. */
static unsigned int sets_of(const struct model *model, const struct device_task *task,
			    struct receiver receivers[RECEIVERS], enum set sets[SETS_OF_TASK])
{
	switch (task->kind) {
	case PROFBPF__DEVICE_TASKS__KIND__KERNEL:
		sets[0] = COMPUTATION;
		sets[1] = WORK;
		sets[2] = WORK_OR_COPIES;
		sets[3] = NOT_RECEIVING;
		return 4;
	case PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION:
		sets[0] = COMMUNICATION;
		sets[1] = WORK;
		sets[2] = WORK_OR_COPIES;
		if (receives(model, task, receivers))
			return 3;
		sets[3] = NOT_RECEIVING;
		return 4;
	case PROFBPF__DEVICE_TASKS__KIND__COPY:
	case PROFBPF__DEVICE_TASKS__KIND__FILL:
	case PROFBPF__DEVICE_TASKS__KIND__MAP:
		sets[0] = COPIES;
		sets[1] = WORK_OR_COPIES;
		return 2;
	default: return 0;
	}
}

/* @rows are sorted by start. */
static void collect(const struct scope *scope, const uint32_t *rows, uint32_t count,
		    struct cover of[SETS])
{
	struct receiver receivers[RECEIVERS] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &scope->model->tasks.row[rows[i]];
		uint64_t start_ns = analysis_nearest(task->start_ns, &scope->window);
		uint64_t end_ns = analysis_nearest(task->end_ns, &scope->window);
		enum set sets[SETS_OF_TASK];
		unsigned int in;

		if (!device_task_counts(task))
			continue;
		in = sets_of(scope->model, task, receivers, sets);
		for (unsigned int k = 0; k < in; k++)
			cover_add(&of[sets[k]], start_ns, end_ns);
	}
}

/* Receiving without other work is the part of WORK that NOT_RECEIVING does not cover. */
static void sum_up(const struct cover of[SETS], uint64_t stage_ns, struct overlap_usage *usage)
{
	usage->computation_ns = of[COMPUTATION].length_ns;
	usage->communication_ns = of[COMMUNICATION].length_ns;
	usage->pure_communication_ns = of[WORK].length_ns - usage->computation_ns;
	usage->overlapped_ns = usage->communication_ns - usage->pure_communication_ns;
	usage->copy_ns = of[COPIES].length_ns;
	usage->pure_copy_ns = of[WORK_OR_COPIES].length_ns - of[WORK].length_ns;
	usage->free_ns = stage_ns - of[WORK].length_ns;
	usage->receive_ns = of[WORK].length_ns - of[NOT_RECEIVING].length_ns;
}

void overlap_part(const struct model *model, const uint32_t *rows, uint32_t count, uint64_t from_ns,
		  uint64_t to_ns, struct overlap_usage *usage)
{
	const struct scope scope = { .model = model, .window = { from_ns, to_ns } };
	struct cover of[SETS] = { 0 };

	collect(&scope, rows, count, of);
	sum_up(of, to_ns - from_ns, usage);
}

static void measure_stream(const struct scope *scope, const uint32_t *rows, uint32_t count,
			  struct overlap_device *device)
{
	struct overlap_usage *usage = &device->streams[device->stream_count];
	struct cover of[SETS] = { 0 };

	collect(scope, rows, count, of);
	*usage = (struct overlap_usage){ .device = device->all.device,
					 .stream = scope->model->tasks.row[rows[0]].stream };
	sum_up(of, device->stage_ns, usage);
	/* Events alone are no work: such a stream is not listed. */
	if (usage->computation_ns || usage->communication_ns || usage->copy_ns)
		device->stream_count++;
}

static void measure_device(const struct scope *scope, const uint32_t *rows,
			  struct overlap_device *device)
{
	struct cover of[SETS] = { 0 };

	collect(scope, rows, scope->count, of);
	device->start_ns = of[WORK].first_ns;
	device->stage_ns = of[WORK].reach_ns - device->start_ns;
	sum_up(of, device->stage_ns, &device->all);
}

static int measure_streams(const struct scope *scope, uint32_t *rows, struct overlap_device *device)
{
	const struct device_task *tasks = scope->model->tasks.row;
	uint32_t streams = 0;

	tasks_sort_by_stream(scope->model, rows, scope->count);
	for (uint32_t i = 0; i < scope->count; i++)
		streams += i == 0 || tasks[rows[i]].stream != tasks[rows[i - 1]].stream;
	device->streams = calloc((size_t)streams + 1, sizeof(*device->streams));
	if (!device->streams)
		return -ENOMEM;
	for (uint32_t first = 0, end; first < scope->count; first = end) {
		for (end = first;
		     end < scope->count && tasks[rows[end]].stream == tasks[rows[first]].stream;)
			end++;
		measure_stream(scope, rows + first, end - first, device);
	}
	return 0;
}

static int add_device(const struct scope *scope, struct overlap_results *results)
{
	struct overlap_device *device = &results->devices[results->count];
	uint32_t *rows = calloc((size_t)scope->count + 1, sizeof(*rows));
	int error;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < scope->count; i++)
		rows[i] = scope->first + i;
	device->all.device = scope->model->tasks.row[scope->first].device;
	device->all.stream = MODEL_ID_NONE;
	measure_device(scope, rows, device);
	error = measure_streams(scope, rows, device);
	if (device->stream_count || error) {
		results->count++;
	} else {
		free(device->streams);
		*device = (struct overlap_device){ 0 };
	}
	free(rows);
	return error;
}

int overlap_analyse(const struct model *model, const struct analysis_options *options,
		    struct overlap_results *results)
{
	int error = 0;

	*results = (struct overlap_results){ 0 };
	results->devices = calloc((size_t)model->devices.count + 1, sizeof(*results->devices));
	if (!results->devices)
		return -ENOMEM;
	for (uint32_t first = 0, end; first < model->tasks.count && !error; first = end) {
		uint32_t device = model->tasks.row[first].device;
		struct scope scope = { .model = model,
				       .window = analysis_window(model, options),
				       .first = first };

		end = model_device_end(model, first);
		scope.count = end - first;
		if (device < model->devices.count &&
		    analysis_wants_process(model, options, model->devices.row[device].process))
			error = add_device(&scope, results);
	}
	return error;
}

void overlap_free(struct overlap_results *results)
{
	for (uint32_t i = 0; i < results->count; i++)
		free(results->devices[i].streams);
	free(results->devices);
	*results = (struct overlap_results){ 0 };
}
