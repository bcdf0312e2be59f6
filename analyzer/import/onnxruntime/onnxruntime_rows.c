/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/onnxruntime/onnxruntime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/operator_calls.h"
#include "analyzer/import/operator_nest.h"
#include "analyzer/import/task_find.h"
#include "lib/base/sort_rows.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED
#define UNKNOWN_NS UINT64_MAX

/* Operators of one provider: names are a model's, which may assign operators of one name to several providers. */
struct provider {
	uint32_t name;
	struct operator_calls calls;
};

struct sums {
	struct ort *file;
	MODEL_ARRAY(struct provider) providers;
	struct map rows; /* provider -> row of providers */
	bool all_told; /* the launching event of each device task is known */
};

static int by_thread(const void *a, const void *b)
{
	const struct ort_span *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->dur_ns > y->dur_ns ? -1 : x->dur_ns < y->dur_ns;
}

static struct operator_calls *calls_of(struct sums *sums, uint32_t name)
{
	uint32_t row = map_get(&sums->rows, name);
	struct provider provider = {
		.name = name, .calls = { .import = sums->file->import, .device = INDEX_NONE }
	};

	if (row == MAP_NONE) {
		row = sums->providers.count;
		if (!MODEL_PUSH(&sums->providers, provider) || !map_put(&sums->rows, name, row))
			return NULL;
	}
	return &sums->providers.row[row].calls;
}

static int add_sum(void *context, const struct operator_sum *sum)
{
	struct operator_calls *calls = calls_of(context, sum->core);

	return calls ? operator_calls_add(calls, sum) : -ENOMEM;
}

/* Calls may be nested: "If", "Loop" and "Scan" run other operators. */
static int add_operator(struct operator_nest *nest, const struct ort_span *span)
{
	const struct sums *sums = nest->context;
	bool told = sums->all_told || span->kernels;
	struct nested_call call = { .pid = span->pid,
				    .tid = span->tid,
				    .start_ns = span->start_ns,
				    .dur_ns = span->dur_ns,
				    .sum = { .name = span->name,
					     .type = span->type,
					     .core = span->provider,
					     .shapes = span->shapes,
					     .self_ns = told ? span->kernels_ns : UNKNOWN_NS } };

	return operator_nest_add(nest, &call);
}

static int sum_operators(struct ort *file)
{
	struct sums sums = { .file = file, .all_told = file->tasks.count > 0 };
	struct operator_nest nest = { .ended = add_sum, .context = &sums };
	int err = 0;

	for (uint32_t i = 0; i < file->tasks.count; i++)
		sums.all_told &= file->tasks.row[i].span != INDEX_NONE;
	for (uint32_t i = 0; i < file->spans.count && !err; i++)
		if (file->spans.row[i].provider)
			err = add_operator(&nest, &file->spans.row[i]);
	err = operator_nest_finish(&nest, err);
	for (uint32_t i = 0; i < sums.providers.count; i++)
		operator_calls_free(&sums.providers.row[i].calls);
	free(sums.providers.row);
	map_free(&sums.rows);
	return err;
}

/* An operator's runtime is its provider. */
static uint32_t function_of(struct ort *file, const struct ort_span *span)
{
	struct model *model = file->import->model;
	const char *name = model_text(model, span->name);
	const char *provider = model_text(model, span->provider);

	if (span->call)
		return import_function(&file->rows, strncmp(name, "hip", 3) ? "cuda" : "hip", name,
				       call_kind_of_name(name));
	return import_function_row(&file->rows, *provider ? provider : "session",
				   *name ? name : "unnamed", PROFBPF__FUNCTION__KIND__MARKER,
				   span->provider ? SCOPE_OPERATOR : SCOPE_RANGE);
}

static int put_memory(struct ort *file, const struct ort_span *span, uint64_t ts_ns)
{
	struct memory_record record = { .ts_ns = import_host_time(&file->rows, CLOCK, ts_ns),
					.process = import_process(&file->rows, span->pid),
					.file = file->import->file,
					.flags = MODEL_MEMORY_HOST };

	if (span->in_use != UINT64_MAX) {
		record.allocated = span->in_use;
		record.flags |= MODEL_MEMORY_ALLOCATED;
	}
	if (span->held != UINT64_MAX) {
		record.reserved = span->held;
		record.flags |= MODEL_MEMORY_RESERVED;
	}
	if (record.flags == MODEL_MEMORY_HOST || !record.ts_ns)
		return 0;
	return MODEL_PUSH(&file->import->model->memory_records, record) ? 0 : -ENOMEM;
}

static int put_span(struct ort *file, const struct ort_span *span, int64_t move_ns)
{
	struct model *model = file->import->model;
	struct call call = { .task = INDEX_NONE };

	if (!import_instants_of(span->start_ns, span->dur_ns, move_ns, &call.start_ns, &call.end_ns))
		return import_finding(file->import, "events outside of any time: they end before they begin, "
						    "or begin before the file's clock does",
				      model_text(model, span->name));
	if (file->import->alone) {
		call.thread = import_thread(&file->rows, span->pid, span->tid, call.start_ns);
		call.function = function_of(file, span);
		if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
		    !MODEL_PUSH(&model->calls, call))
			return -ENOMEM;
		if (call.end_ns > model->threads.row[call.thread].last_ns)
			model->threads.row[call.thread].last_ns = call.end_ns;
	}
	return put_memory(file, span, call.end_ns);
}

static uint8_t kind_of_task(const char *name)
{
	if (is_communication_name(name))
		return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (strncasecmp(name, "memcpy", 6) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	return strncasecmp(name, "memset", 6) == 0 ? PROFBPF__DEVICE_TASKS__KIND__FILL
						   : PROFBPF__DEVICE_TASKS__KIND__KERNEL;
}

static bool add_metric(struct model *model, struct task_detail *detail, const char *name,
		       double value)
{
	struct task_metric metric = { .name = model_string(model, name), .value = (float)value };

	if (!(value > 0))
		return true;
	detail->metric_count++;
	return metric.name != INDEX_NONE && MODEL_PUSH(&model->task_metrics, metric);
}

static bool add_detail(struct ort *file, const struct ort_task *from, struct device_task *task)
{
	struct model *model = file->import->model;
	struct task_detail detail = task_detail_unknown();

	if (from->span != INDEX_NONE) {
		const struct ort_span *span = &file->spans.row[from->span];

		task->type = span->type;
		detail.input_shapes = span->shapes;
		detail.input_types = span->types;
	}
	detail.first_metric = model->task_metrics.count;
	if (!add_metric(model, &detail, "blocks", from->blocks) ||
	    !add_metric(model, &detail, "threads per block", from->threads))
		return false;
	if (!detail.input_shapes && !detail.metric_count)
		return true;
	if (!MODEL_PUSH(&model->task_details, detail))
		return false;
	task->detail = model->task_details.count;
	return true;
}

/* The launching event represents the call, which is not in the file. */
static void set_launch(struct ort *file, const struct ort_task *from, int64_t move_ns,
		       struct device_task *task)
{
	const struct ort_span *span =
		from->span != INDEX_NONE ? &file->spans.row[from->span] : NULL;
	uint64_t start_ns, end_ns;

	if (!span || !import_instants_of(span->start_ns, span->dur_ns, move_ns, &start_ns, &end_ns))
		return;
	task->enqueue_ns = import_host_time(&file->rows, CLOCK, start_ns);
	task->enqueue_dur_ns = task->enqueue_ns ? end_ns - start_ns : 0;
	task->thread = import_thread(&file->rows, span->pid, span->tid, task->enqueue_ns);
}

static int put_task(struct ort *file, const struct ort_task *from, int64_t move_ns)
{
	struct model *model = file->import->model;
	const char *name = model_text(model, from->name);
	struct device_task task = { .stream = from->stream,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .name = from->name,
				    .kind = kind_of_task(name) };

	if (!import_instants_of(from->start_ns, from->dur_ns, move_ns, &task.start_ns,
				&task.end_ns))
		return import_finding(file->import, "device tasks outside of any time: they end before they "
						    "begin, or begin before the file's clock does", name);
	task.device = import_device(&file->rows, 0, INDEX_NONE, "GPU", "gpu", "onnxruntime", CLOCK);
	if (task.device == INDEX_NONE || !add_detail(file, from, &task))
		return -ENOMEM;
	set_launch(file, from, move_ns, &task);
	return import_task(&file->rows, &task);
}

/* The shift of all times: 0 stands for "not reported", and profiles begin near 0. */
static int64_t move_of(const struct ort *file)
{
	int64_t first_ns = INT64_MAX;

	IMPORT_EARLIEST(&file->spans, &first_ns);
	IMPORT_EARLIEST(&file->tasks, &first_ns);
	return import_move_of(first_ns);
}

static int say_what_is_missing(struct ort *file)
{
	uint32_t unknown = 0;
	int err = 0;

	for (uint32_t i = 0; i < file->tasks.count; i++)
		unknown += file->tasks.row[i].span == INDEX_NONE;
	if (!file->tasks.count)
		err = import_finding(file->import,
				     file->gpu ? "no work of a GPU, though providers of one ran "
						 "operators: their times are those of launching"
					       : "nothing in it says that it is of a device: all is the "
						 "host's",
				     NULL);
	if (!err && unknown)
		err = import_finding(file->import,
				     "device tasks of which it is not told what launched them: device "
				     "times of operators without tasks are unknown",
				     NULL);
	if (!err && file->told_more)
		err = import_finding(file->import,
				     "of operators sizes of outputs and parameters, shapes of "
				     "outputs and the thread pool's counts are not taken",
				     NULL);
	return err;
}

int ort_put_rows(struct ort *file)
{
	int64_t move_ns = move_of(file);
	int err = 0;

	for (uint32_t i = 0; i < file->tasks.count && !err; i++)
		err = put_task(file, &file->tasks.row[i], move_ns);
	if (!err)
		err = say_what_is_missing(file);
	/* Sorting changes the rows that tasks refer to: tasks are done by now. */
	SORT_ARRAY(&file->spans, by_thread);
	for (uint32_t i = 0; i < file->spans.count && !err; i++)
		err = put_span(file, &file->spans.row[i], move_ns);
	return err ? err : sum_operators(file);
}
