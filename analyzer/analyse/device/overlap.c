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
	RECEIVE, /* part of communication */
	OTHERS, /* communication but for receiving */
	COPIES,
	WORK, /* computation and communication */
	SETS
};

/* The tasks of one device, sorted by start. */
struct scope {
	const struct model *model;
	struct analysis_window window;
	uint32_t first;
	uint32_t count;
};

static uint64_t clamp(const struct analysis_window *window, uint64_t ts_ns)
{
	if (ts_ns < window->from_ns)
		return window->from_ns;
	return ts_ns > window->to_ns ? window->to_ns : ts_ns;
}

/* What a name says, as it was found last: millions of tasks have a few names. That of no name says nothing. */
struct receiver {
	uint32_t name;
	bool receives;
};

#define RECEIVERS 256 /* a power of 2; by the last bits of a name */

/* Waits for the stage before or after in a pipeline: hcom_receive, SendRecv, ncclDevKernel_Recv. */
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

/* Which sets a task is in; 0 to 3 of them. */
static unsigned int sets_of(const struct model *model, const struct device_task *task,
			    struct receiver receivers[RECEIVERS], enum set sets[3])
{
	switch (task->kind) {
	case PROFBPF__DEVICE_TASKS__KIND__KERNEL:
		sets[0] = COMPUTATION;
		sets[1] = WORK;
		return 2;
	case PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION:
		sets[0] = COMMUNICATION;
		sets[1] = WORK;
		sets[2] = receives(model, task, receivers) ? RECEIVE : OTHERS;
		return 3;
	case PROFBPF__DEVICE_TASKS__KIND__COPY:
	case PROFBPF__DEVICE_TASKS__KIND__FILL:
	case PROFBPF__DEVICE_TASKS__KIND__MAP: sets[0] = COPIES; return 1;
	default: return 0;
	}
}

static int collect(const struct scope *scope, const uint32_t *rows, uint32_t count,
		   struct intervals of[SETS])
{
	struct receiver receivers[RECEIVERS] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *task = &scope->model->tasks.row[rows[i]];
		uint64_t start_ns = clamp(&scope->window, task->start_ns);
		uint64_t end_ns = clamp(&scope->window, task->end_ns);
		enum set sets[3];
		unsigned int in;

		if (!device_task_counts(task))
			continue;
		in = sets_of(scope->model, task, receivers, sets);
		for (unsigned int k = 0; k < in; k++) {
			if (intervals_add(&of[sets[k]], start_ns, end_ns))
				return -ENOMEM;
		}
	}
	for (int set = 0; set < SETS; set++)
		intervals_unite(&of[set]);
	return 0;
}

/* What of @a is in neither @b nor @c. */
static int length_without(const struct intervals *a, const struct intervals *b,
			  const struct intervals *c, uint64_t *length)
{
	struct intervals both = { 0 };
	int error = 0;

	for (uint32_t i = 0; i < b->count && !error; i++)
		error = intervals_add(&both, b->row[i].start_ns, b->row[i].end_ns);
	for (uint32_t i = 0; i < c->count && !error; i++)
		error = intervals_add(&both, c->row[i].start_ns, c->row[i].end_ns);
	intervals_unite(&both);
	*length = intervals_length(a) - intervals_overlap(a, &both);
	intervals_free(&both);
	return error;
}

static int sum_up(const struct intervals of[SETS], uint64_t stage_ns, struct overlap_usage *usage)
{
	usage->computation_ns = intervals_length(&of[COMPUTATION]);
	usage->communication_ns = intervals_length(&of[COMMUNICATION]);
	usage->overlapped_ns = intervals_overlap(&of[COMPUTATION], &of[COMMUNICATION]);
	usage->pure_communication_ns = usage->communication_ns - usage->overlapped_ns;
	usage->copy_ns = intervals_length(&of[COPIES]);
	usage->pure_copy_ns = usage->copy_ns - intervals_overlap(&of[COPIES], &of[WORK]);
	usage->free_ns = stage_ns - intervals_length(&of[WORK]);
	return length_without(&of[RECEIVE], &of[COMPUTATION], &of[OTHERS], &usage->receive_ns);
}

static void free_sets(struct intervals of[SETS])
{
	for (int set = 0; set < SETS; set++)
		intervals_free(&of[set]);
}

int overlap_part(const struct model *model, const uint32_t *rows, uint32_t count, uint64_t from_ns,
		 uint64_t to_ns, struct overlap_usage *usage)
{
	const struct scope scope = { .model = model, .window = { from_ns, to_ns } };
	struct intervals of[SETS] = { 0 };
	int error = collect(&scope, rows, count, of);

	if (!error)
		error = sum_up(of, to_ns - from_ns, usage);
	free_sets(of);
	return error;
}

static int measure_stream(const struct scope *scope, const uint32_t *rows, uint32_t count,
			  struct overlap_device *device)
{
	struct overlap_usage *usage = &device->streams[device->stream_count];
	struct intervals of[SETS] = { 0 };
	int error = collect(scope, rows, count, of);

	*usage = (struct overlap_usage){ .device = device->all.device,
					 .stream = scope->model->tasks.row[rows[0]].stream };
	if (!error)
		error = sum_up(of, device->stage_ns, usage);
	/* Events alone are no work of a stream. */
	if (usage->computation_ns || usage->communication_ns || usage->copy_ns)
		device->stream_count++;
	free_sets(of);
	return error;
}

static int measure_device(const struct scope *scope, const uint32_t *rows,
			  struct overlap_device *device)
{
	struct intervals of[SETS] = { 0 };
	int error = collect(scope, rows, scope->count, of);

	if (!error && of[WORK].count) {
		device->start_ns = of[WORK].row[0].start_ns;
		device->stage_ns = of[WORK].row[of[WORK].count - 1].end_ns - device->start_ns;
	}
	if (!error)
		error = sum_up(of, device->stage_ns, &device->all);
	free_sets(of);
	return error;
}

static int measure_streams(const struct scope *scope, uint32_t *rows, struct overlap_device *device)
{
	const struct device_task *tasks = scope->model->tasks.row;
	uint32_t streams = 0;
	int error = 0;

	tasks_sort_by_stream(scope->model, rows, scope->count);
	for (uint32_t i = 0; i < scope->count; i++)
		streams += i == 0 || tasks[rows[i]].stream != tasks[rows[i - 1]].stream;
	device->streams = calloc((size_t)streams + 1, sizeof(*device->streams));
	if (!device->streams)
		return -ENOMEM;
	for (uint32_t first = 0, end; first < scope->count && !error; first = end) {
		for (end = first;
		     end < scope->count && tasks[rows[end]].stream == tasks[rows[first]].stream;)
			end++;
		error = measure_stream(scope, rows + first, end - first, device);
	}
	return error;
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
	error = measure_device(scope, rows, device);
	if (!error)
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

		for (end = first;
		     end < model->tasks.count && model->tasks.row[end].device == device;)
			end++;
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
