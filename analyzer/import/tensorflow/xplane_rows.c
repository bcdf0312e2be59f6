/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/tensorflow/xplane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/amd/rocm_rows.h"

#define NANOSECONDS_2001 1000000000000000000

/*
 * Chooses the clock: times are since 1970, or, with some tools, since the profile's start; 0 stands for "not
 * reported".
 */
static void choose_clock(struct xspace *file)
{
	int64_t first_ns = INT64_MAX;

	IMPORT_EARLIEST(&file->tasks, &first_ns);
	IMPORT_EARLIEST(&file->calls, &first_ns);
	IMPORT_EARLIEST(&file->scopes, &first_ns);
	file->move_ns = import_move_of(first_ns);
	file->clock = first_ns > NANOSECONDS_2001 ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
						  : PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
}

static bool instants(const struct xspace *file, const struct xspan *span, uint64_t *from,
		     uint64_t *to)
{
	return import_instants(span->start_ns, span->end_ns, file->move_ns, from, to);
}

/* Row of a device: "/device:GPU:3" is number 3 and "gpu". */
static uint32_t device_row(struct xspace *file, uint32_t device)
{
	const struct xplane_device *plane = &file->devices.row[device];
	struct model *model = file->import->model;
	const char *name = model_text(model, plane->name);
	const char *colon = strrchr(name, ':');
	uint64_t number;
	uint32_t row;

	if (!colon || !decimal_unsigned(colon + 1, strspn(colon + 1, "0123456789"), &number))
		number = device;
	row = import_device(&file->rows, number, INDEX_NONE, name,
			    strstr(name, "GPU")	  ? "gpu"
			    : strstr(name, "TPU") ? "tpu"
						  : "accelerator",
			    "xplane", file->clock);
	if (row != INDEX_NONE && plane->peak_flops > 0)
		model->devices.row[row].peak_flops = plane->peak_flops;
	if (row != INDEX_NONE && plane->peak_bandwidth > 0)
		model->devices.row[row].peak_bandwidth = plane->peak_bandwidth;
	return row;
}

static int put_call(struct xspace *file, const struct xspan *span)
{
	struct model *model = file->import->model;
	const char *name = model_text(model, span->name);
	struct call call = { .args = { span->correlation }, .task = INDEX_NONE };

	if (!instants(file, span, &call.start_ns, &call.end_ns))
		return 0;
	/* The file does not have the process. */
	call.thread = import_thread(&file->rows, 0, span->line, call.start_ns);
	call.function = import_function(&file->rows, strncmp(name, "hip", 3) ? "cuda" : "hip", name,
					call_kind_of_name(name));
	if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	return 0;
}

bool xplane_is_call(const char *name)
{
	return strncmp(name, "cu", 2) == 0 || strncmp(name, "hip", 3) == 0;
}

uint8_t xplane_scope(const char *name, bool operation)
{
	if (*name == '$')
		return SCOPE_PYTHON;
	if (operation)
		return SCOPE_OPERATOR;
	/* tf.data */
	if (strncmp(name, "Iterator::", strlen("Iterator::")) == 0 ||
	    strncmp(name, "IteratorGetNext", strlen("IteratorGetNext")) == 0)
		return SCOPE_DATA;
	return scope_of_range(name);
}

static int put_scope(struct xspace *file, const struct xspan *span)
{
	struct model *model = file->import->model;
	struct step_mark mark = { .number = span->step, .device = INDEX_NONE, .unnamed = true };
	uint32_t thread;
	int err;

	if (!instants(file, span, &mark.start_ns, &mark.end_ns))
		return 0;
	thread = import_thread(&file->rows, 0, span->line, mark.start_ns);
	err = import_scope(&file->rows, thread, model_text(model, span->name), span->scope,
			   mark.start_ns, mark.end_ns);
	if (err)
		return err;
	model->threads.row[thread].name = span->line_name;
	mark.process = model->threads.row[thread].process;
	return span->step == UINT64_MAX || MODEL_PUSH(&model->step_marks, mark) ? 0 : -ENOMEM;
}

uint8_t xplane_task_kind(const char *name, const char *type)
{
	static const char *const COLLECTIVES[] = { "all-reduce", "all-gather", "reduce-scatter",
						   "all-to-all", "collective-permute" };

	if (strncasecmp(name, "memcpy", 6) == 0 || strncmp(name, "copy-start", 10) == 0 ||
	    strncasecmp(name, "hipMemcpy", 9) == 0 || strncasecmp(name, "CopyDevice", 10) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	if (strncasecmp(name, "memset", 6) == 0 || strncmp(name, "FillBuffer", 10) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__FILL;
	for (size_t i = 0; i < sizeof(COLLECTIVES) / sizeof(COLLECTIVES[0]); i++) {
		if (strncmp(name, COLLECTIVES[i], strlen(COLLECTIVES[i])) == 0 ||
		    strncmp(type, COLLECTIVES[i], strlen(COLLECTIVES[i])) == 0)
			return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	}
	return rocm_kernel_kind(name);
}

static int put_task(struct xspace *file, const struct xspan *span)
{
	struct model *model = file->import->model;
	uint32_t launch = span->correlation ? map_get(&file->launches, span->correlation)
					    : MAP_NONE;
	struct device_task task = { .stream = span->line,
				    .bytes = span->bytes,
				    .correlation = span->correlation,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .name = span->name,
				    .type = span->type,
				    .detail = span->detail,
				    .kind = xplane_task_kind(model_text(model, span->name),
							     model_text(model, span->type)) };
	uint64_t start_ns, end_ns;

	if (!instants(file, span, &task.start_ns, &task.end_ns))
		return import_finding(file->import, "events without usable times",
				      model_text(model, span->name));
	task.device = device_row(file, span->device);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (launch != MAP_NONE && instants(file, &file->calls.row[launch], &start_ns, &end_ns)) {
		task.enqueue_ns = import_host_time(&file->rows, file->clock, start_ns);
		task.enqueue_dur_ns = end_ns - start_ns;
		task.thread = import_thread(&file->rows, 0, file->calls.row[launch].line,
					    task.enqueue_ns);
		if (task.thread < model->threads.count)
			model->devices.row[task.device].process =
				model->threads.row[task.thread].process;
	}
	return import_task(&file->rows, &task);
}

static int put_step(struct xspace *file, const struct xspan *span)
{
	struct model *model = file->import->model;
	const char *name = model_text(model, span->name);
	struct step_mark mark = { .process = INDEX_NONE };
	uint64_t start_ns, end_ns;

	if (!decimal_unsigned(name, strlen(name), &mark.number) ||
	    !instants(file, span, &start_ns, &end_ns))
		return 0;
	mark.start_ns = import_host_time(&file->rows, file->clock, start_ns);
	mark.end_ns = import_host_time(&file->rows, file->clock, end_ns);
	mark.device = device_row(file, span->device);
	if (mark.device == INDEX_NONE)
		return -ENOMEM;
	if (!mark.start_ns || !mark.end_ns)
		return 0;
	return MODEL_PUSH(&model->step_marks, mark) ? 0 : -ENOMEM;
}

static int index_calls(struct xspace *file)
{
	for (uint32_t i = 0; i < file->calls.count; i++) {
		const struct xspan *call = &file->calls.row[i];
		uint32_t other = map_get(&file->launches, call->correlation);

		/* Of nested calls the outer one launches. */
		if ((other == MAP_NONE || call->start_ns < file->calls.row[other].start_ns) &&
		    !map_put(&file->launches, call->correlation, i))
			return -ENOMEM;
	}
	return 0;
}

bool xplane_line_is_sum(const char *name)
{
	static const char *const SUMS[] = { "XLA Modules",
					    "TensorFlow Ops",
					    "Framework Ops",
					    "TensorFlow Name Scope",
					    "Framework Name Scope",
					    "Source code",
					    "Source",
					    "XLA TraceMe",
					    "Launch Stats",
					    "TSL Counters",
					    "Counters",
					    "XLA Async Ops",
					    "Name scope" };

	for (size_t i = 0; i < sizeof(SUMS) / sizeof(SUMS[0]); i++) {
		if (strncmp(name, SUMS[i], strlen(SUMS[i])) == 0)
			return true;
	}
	return false;
}

int xplane_put_rows(struct xspace *file)
{
	int err = index_calls(file);

	choose_clock(file);
	for (uint32_t i = 0; i < file->calls.count && !err && file->import->alone; i++)
		err = put_call(file, &file->calls.row[i]);
	for (uint32_t i = 0; i < file->scopes.count && !err; i++)
		err = put_scope(file, &file->scopes.row[i]);
	for (uint32_t i = 0; i < file->tasks.count && !err; i++)
		err = put_task(file, &file->tasks.row[i]);
	for (uint32_t i = 0; i < file->steps.count && !err; i++)
		err = put_step(file, &file->steps.row[i]);
	if (!err && !file->tasks.count)
		err = import_finding(file->import,
				     "no plane of a device: nothing is known of any device (the job ran on "
				     "the CPU alone, or its profiler could not reach the device: see its log)", NULL);
	return err;
}
