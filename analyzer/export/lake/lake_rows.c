/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/lake/lake_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/intervals.h"
#include "lib/base/map.h"
#include "proto/trace.pb-c.h"

#define NAME_SIZE 256

/* The state for one device. */
struct making {
	struct model *model;
	const struct results *results;
	struct lake_rows *rows;
	struct idle_splitter *splitter;
	uint32_t rank;
	uint32_t device;
	const struct device_task *tasks; /* tasks of the device, sorted by start */
	uint32_t task_count;
	const struct device_step_row *steps; /* by time; NULL = there are none */
	uint32_t step_count;
};

/* Returns the index of the step that contains an instant; INDEX_NONE = no step. */
static uint32_t step_at(const struct making *making, uint64_t ns)
{
	uint32_t low = 0, high = making->step_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (making->steps[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < making->step_count && making->steps[low].start_ns <= ns ? low : INDEX_NONE;
}

static uint64_t step_number(const struct making *making, uint64_t ns)
{
	uint32_t i = step_at(making, ns);

	return i == INDEX_NONE ? LAKE_NO_STEP : making->steps[i].number;
}

/* ---- Steps */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* CPU time of a process' threads between two instants; returns false if their states are unknown. */
static bool process_cpu(const struct model *model, uint32_t process, uint64_t from_ns, uint64_t to_ns,
			uint64_t *cpu_ns)
{
	bool known = false;

	*cpu_ns = 0;
	for (uint32_t t = 0; t < model->threads.count && t < model->timelines.count; t++) {
		const struct timeline *line = &model->timelines.row[t];

		if (model->threads.row[t].process != process)
			continue;
		known |= line->count > 0;
		for (uint32_t i = line->first; i < line->first + line->count; i++) {
			const struct span *span = &model->spans.row[i];

			if (span->start_ns >= to_ns)
				break;
			if (span->state == STATE_RUNNING && span->end_ns > from_ns)
				*cpu_ns += earlier(span->end_ns, to_ns) -
					   later(span->start_ns, from_ns);
		}
	}
	return known;
}

static int add_step(struct making *making, const struct device_step_row *step, uint32_t *first)
{
	struct intervals compute = { 0 }, communication = { 0 };
	const struct device *device = &making->model->devices.row[making->device];
	struct lake_step row = { .rank = making->rank,
				 .device = making->device,
				 .step = step->number,
				 .start_ns = step->start_ns,
				 .end_ns = step->end_ns,
				 .has_work = !device->whole };
	uint64_t length = step->end_ns - step->start_ns;
	int err = 0;

	while (*first < making->task_count && making->tasks[*first].start_ns < step->start_ns)
		(*first)++;
	for (uint32_t i = *first;
	     i < making->task_count && making->tasks[i].start_ns < step->end_ns && !err; i++) {
		const struct device_task *task = &making->tasks[i];
		uint64_t end_ns = earlier(task->end_ns, step->end_ns);

		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			err = intervals_add(&compute, task->start_ns, end_ns);
		else if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
			err = intervals_add(&communication, task->start_ns, end_ns);
	}
	intervals_unite(&compute);
	intervals_unite(&communication);
	row.compute_ns = intervals_length(&compute);
	row.communication_ns = intervals_length(&communication);
	row.exposed_ns = row.communication_ns - intervals_overlap(&compute, &communication);
	row.idle_ns = step->busy_ns < length ? length - step->busy_ns : 0;
	row.has_cpu = process_cpu(making->model, device->process, step->start_ns, step->end_ns, &row.cpu_ns);
	intervals_free(&compute);
	intervals_free(&communication);
	if (!err && !MODEL_PUSH(&making->rows->steps, row))
		err = -ENOMEM;
	return err;
}

static int add_steps(struct making *making)
{
	uint32_t first = 0;
	int err = 0;

	for (uint32_t i = 0; i < making->step_count && !err; i++)
		err = add_step(making, &making->steps[i], &first);
	return err;
}

/* ---- Collectives */

/* Number of collectives of a communicator so far in the step. */
struct sequence {
	uint32_t communicator;
	uint64_t step;
	uint64_t next;
};

struct sequences {
	MODEL_ARRAY(struct sequence) list; /* one per communicator: few */
};

static int next_of(struct sequences *sequences, uint32_t communicator, uint64_t step, uint64_t *number)
{
	struct sequence *sequence = NULL;

	for (uint32_t i = 0; i < sequences->list.count && !sequence; i++) {
		if (sequences->list.row[i].communicator == communicator)
			sequence = &sequences->list.row[i];
	}
	if (!sequence) {
		struct sequence new = { communicator, step, 0 };

		if (!MODEL_PUSH(&sequences->list, new))
			return -ENOMEM;
		sequence = &sequences->list.row[sequences->list.count - 1];
	}
	if (sequence->step != step) {
		sequence->step = step;
		sequence->next = 0;
	}
	*number = sequence->next++;
	return 0;
}

static int add_collective(struct making *making, struct sequences *sequences,
			  const struct device_task *task)
{
	const struct model *model = making->model;
	struct lake_collective row = { .rank = making->rank, .device = making->device };
	char name[NAME_SIZE];
	int err;

	row.step = step_number(making, task->start_ns);
	row.communicator = task->detail ? model->task_details.row[task->detail - 1].group : 0;
	err = next_of(sequences, row.communicator, row.step, &row.sequence);
	if (err)
		return err;
	row.op = model_string(making->model,
			      communication_name(model_text(model, task->name), name, sizeof(name)));
	row.bytes = task->bytes;
	row.start_ns = task->start_ns;
	row.end_ns = task->end_ns;
	if (row.op == INDEX_NONE || !MODEL_PUSH(&making->rows->collectives, row))
		return -ENOMEM;
	return 0;
}

static int add_collectives(struct making *making)
{
	struct sequences sequences = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < making->task_count && !err; i++) {
		if (making->tasks[i].kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
			err = add_collective(making, &sequences, &making->tasks[i]);
	}
	free(sequences.list.row);
	return err;
}

/* ---- Idle time */

static int add_roots(struct making *making, uint64_t step, const struct idle_roots *roots)
{
	char who[NAME_SIZE];

	for (uint32_t i = 0; i < roots->count; i++) {
		const struct idle_root *root = &roots->row[i];
		struct lake_idle row = { making->rank, step, root->root.cause, 0, root->ns };

		root_who_text(making->model, &root->root, who, sizeof(who));
		row.who = model_string(making->model, who);
		if (row.who == INDEX_NONE || !MODEL_PUSH(&making->rows->idle, row))
			return -ENOMEM;
	}
	return 0;
}

/* Gaps are in order of time, so the gaps of a step are consecutive. */
static int add_idle(struct making *making)
{
	const struct device_usage *usage = &making->results->devices->devices[making->device];
	uint32_t first = 0;
	int err = 0;

	while (first < usage->gap_count && !err) {
		uint64_t step = step_number(making, usage->gaps[first].start_ns);
		struct idle_roots roots;
		uint32_t end = first + 1;

		while (end < usage->gap_count &&
		       step_number(making, usage->gaps[end].start_ns) == step)
			end++;
		err = idle_split_roots(making->splitter, &usage->gaps[first], end - first, &roots);
		if (!err)
			err = add_roots(making, step, &roots);
		idle_roots_free(&roots);
		first = end;
	}
	return err;
}

/* ---- Operators */

static int by_step_and_name(const void *a, const void *b)
{
	const struct lake_operator *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Makes one row per task, then merges the rows of one step and name. */
static int add_operators(struct making *making)
{
	struct lake_rows *rows = making->rows;
	uint32_t first = rows->operators.count, last = first;

	for (uint32_t i = 0; i < making->task_count; i++) {
		const struct device_task *task = &making->tasks[i];
		struct lake_operator row = { making->rank, step_number(making, task->start_ns), task->name, 1,
					     task->end_ns - task->start_ns };

		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL &&
		    !MODEL_PUSH(&rows->operators, row))
			return -ENOMEM;
	}
	if (rows->operators.count == first)
		return 0;
	qsort(rows->operators.row + first, rows->operators.count - first,
	      sizeof(*rows->operators.row), by_step_and_name);
	for (uint32_t i = first + 1; i < rows->operators.count; i++) {
		struct lake_operator *into = &rows->operators.row[last];
		const struct lake_operator *from = &rows->operators.row[i];

		if (by_step_and_name(into, from)) {
			rows->operators.row[++last] = *from;
			continue;
		}
		into->count += from->count;
		into->total_ns += from->total_ns;
	}
	rows->operators.count = last + 1;
	return 0;
}

/* ---- Ranks */

static const struct device_step_trace *trace_of(const struct results *results, uint32_t device)
{
	const struct device_step_results *steps = results->device_steps;

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		if (steps->traces[i].device == device)
			return &steps->traces[i];
	}
	return NULL;
}

static void find_tasks(struct making *making)
{
	const struct model *model = making->model;
	uint32_t first = 0;

	while (first < model->tasks.count && model->tasks.row[first].device < making->device)
		first++;
	making->tasks = model->tasks.row + first;
	making->task_count = 0;
	while (first + making->task_count < model->tasks.count &&
	       making->tasks[making->task_count].device == making->device)
		making->task_count++;
}

static int add_rank(struct making *making)
{
	const struct device_step_trace *trace = trace_of(making->results, making->device);
	struct lake_rank row = { making->rank, making->device };
	int err;

	making->steps = trace ? trace->rows : NULL;
	making->step_count = trace ? trace->count : 0;
	find_tasks(making);
	if (!MODEL_PUSH(&making->rows->ranks, row))
		return -ENOMEM;
	err = add_steps(making);
	if (!err)
		err = add_collectives(making);
	if (!err)
		err = add_idle(making);
	return err ? err : add_operators(making);
}

/* Finds the rank of a device: its file's, or counted from the user's number. Returns false if unknown. */
static bool rank_of(const struct device *device, const struct lake_options *options, uint32_t *others,
		    uint32_t *rank)
{
	if (device->has_rank)
		*rank = device->rank;
	else if (options->has_rank)
		*rank = options->rank + (*others)++;
	return device->has_rank || options->has_rank;
}

static int explain(int err, char *error, size_t error_size)
{
	if (err == -ENOMEM)
		snprintf(error, error_size, "out of memory");
	return err;
}

int lake_rows_make(struct model *model, const struct results *results,
		   const struct lake_options *options, struct lake_rows *rows, char *error,
		   size_t error_size)
{
	struct making making = { .model = model, .results = results, .rows = rows };
	uint32_t others = 0;
	int err = 0;

	*rows = (struct lake_rows){ 0 };
	if (!results->devices || !model->tasks.count) {
		snprintf(error, error_size,
			 "no device tasks, of which a lake is made: load the device's layer into "
			 "the job, or give the output of its own profiler with --device");
		return -ENODATA;
	}
	making.splitter = idle_splitter_new(model);
	if (!making.splitter)
		return explain(-ENOMEM, error, error_size);
	for (uint32_t i = 0; i < model->devices.count && !err; i++) {
		if (!results->devices->devices[i].tasks)
			continue;
		making.device = i;
		if (rank_of(&model->devices.row[i], options, &others, &making.rank)) {
			err = explain(add_rank(&making), error, error_size);
			continue;
		}
		snprintf(error, error_size, "no file has the rank of device %u: give it with --rank N",
			 model->devices.row[i].id);
		err = -ENODATA;
	}
	idle_splitter_free(making.splitter);
	return err;
}

void lake_rows_free(struct lake_rows *rows)
{
	free(rows->steps.row);
	free(rows->collectives.row);
	free(rows->idle.row);
	free(rows->pipeline.row);
	free(rows->operators.row);
	free(rows->ranks.row);
	*rows = (struct lake_rows){ 0 };
}
