/* SPDX-License-Identifier: Apache-2.0 */
/* op_statistic, communication_statistic, api_statistic, step_trace: sums and steps. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/export/layouts/msprof/msprof.h"

#define OPERATION_MAX 128 /* longest name of a type */

/* Sums of the tasks of one type and kind of core. Texts are static or owned by the model. */
struct type_sum {
	char type[OPERATION_MAX];
	const char *core;
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

/*
 * Returns the file's word for the kind of core (MIX_AIC is not AI_CORE), or, if it has none, a word for the kind of
 * work.
 */
static const char *core_of(const struct model *model, const struct device_task *task)
{
	/* Databases and tables use different words. */
	static const char *const SAME[][2] = { { "KERNEL_AICORE", "AI_CORE" },
					       { "KERNEL_AIVEC", "AI_VECTOR_CORE" },
					       { "KERNEL_AICPU", "AI_CPU" } };
	const char *core = task->core ? msprof_core(model, task) : "";

	for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
		if (strcmp(core, SAME[i][0]) == 0)
			return SAME[i][1];
	}
	if (*core)
		return core;
	switch (task_core(model, task)) {
	case CORE_AICORE: return "AI_CORE";
	case CORE_AICPU: return "AI_CPU";
	case CORE_HOSTCPU: return "HOST_CPU";
	default: return "N/A";
	}
}

static struct type_sum sum_of(const struct model *model, const struct device_task *task)
{
	uint64_t ns = task->end_ns - task->start_ns;
	struct type_sum sum = {
		.core = "", .count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns
	};

	if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION && task->type) {
		snprintf(sum.type, sizeof(sum.type), "%s", model_text(model, task->type));
		return sum;
	}
	if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION) {
		communication_name(model_text(model, task->name), sum.type, sizeof(sum.type));
		return sum;
	}
	sum.core = core_of(model, task);
	snprintf(sum.type, sizeof(sum.type), "%s",
		 task->type ? model_text(model, task->type) : task_kind_name(task->kind));
	return sum;
}

static int by_type(const void *a, const void *b)
{
	const struct type_sum *x = a, *y = b;
	int order = strcmp(x->type, y->type);

	return order ? order : strcmp(x->core, y->core);
}

static int by_total(const void *a, const void *b)
{
	const struct type_sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return by_type(a, b);
}

/* Sorts and merges @rows by type, in place; returns the number of rows left, longest time first. */
static uint32_t add_up(struct type_sum *rows, uint32_t count)
{
	uint32_t used = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), by_type);
	for (uint32_t i = 0; i < count; i++) {
		struct type_sum *last = used ? &rows[used - 1] : NULL;

		if (!last || by_type(last, &rows[i])) {
			rows[used++] = rows[i];
			continue;
		}
		last->count++;
		last->total_ns += rows[i].total_ns;
		last->min_ns = rows[i].min_ns < last->min_ns ? rows[i].min_ns : last->min_ns;
		last->max_ns = rows[i].max_ns > last->max_ns ? rows[i].max_ns : last->max_ns;
	}
	if (used)
		qsort(rows, used, sizeof(*rows), by_total);
	return used;
}

/* Sums of the device's tasks of one kind; the caller frees. */
static struct type_sum *sums_of(const struct msprof *msprof, uint8_t kind, uint32_t *count)
{
	const struct model *model = msprof->model;
	struct type_sum *rows;
	uint32_t tasks = 0;

	for (uint32_t i = 0; i < model->tasks.count; i++)
		tasks += msprof_is_timed(msprof, &model->tasks.row[i]) &&
			 model->tasks.row[i].kind == kind;
	rows = calloc((size_t)tasks + 1, sizeof(*rows));
	tasks = 0;
	for (uint32_t i = 0; i < model->tasks.count && rows; i++) {
		if (msprof_is_timed(msprof, &model->tasks.row[i]) &&
		    model->tasks.row[i].kind == kind)
			rows[tasks++] = sum_of(model, &model->tasks.row[i]);
	}
	*count = rows ? add_up(rows, tasks) : 0;
	return rows;
}

static void put_type(const struct msprof *msprof, struct csv_file *csv, const struct type_sum *row,
		     uint64_t all_ns)
{
	csv_format(csv, "%u", msprof->model->devices.row[msprof->device].id);
	csv_text(csv, row->type);
	if (*row->core)
		csv_text(csv, row->core);
	csv_format(csv, "%" PRIu64, row->count);
	csv_us(csv, row->total_ns);
	csv_us(csv, row->min_ns);
	csv_us(csv, row->total_ns / row->count);
	csv_us(csv, row->max_ns);
	csv_format(csv, "%.3f", all_ns ? 100.0 * (double)row->total_ns / (double)all_ns : 0.0);
	csv_end_row(csv);
}

/* Writes one table; its ratios refer to its own rows. Writes nothing if it is @optional and has no rows. */
static int put_sums(const struct msprof *msprof, uint8_t kind, const char *name, const char *header,
		    bool optional)
{
	struct csv_file csv;
	uint64_t all_ns = 0;
	uint32_t count;
	struct type_sum *rows = sums_of(msprof, kind, &count);
	int err = rows ? 0 : -ENOMEM;

	if (!err && (count || !optional))
		err = msprof_open(msprof, &csv, name, header);
	if (err || (!count && optional)) {
		free(rows);
		return err;
	}
	for (uint32_t i = 0; i < count; i++)
		all_ns += rows[i].total_ns;
	for (uint32_t i = 0; i < count; i++)
		put_type(msprof, &csv, &rows[i], all_ns);
	free(rows);
	return csv_close(&csv);
}

int msprof_op_statistic(const struct msprof *msprof)
{
	return put_sums(msprof, PROFBPF__DEVICE_TASKS__KIND__KERNEL, "op_statistic",
			"Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),"
			"Avg Time(us),Max Time(us),Ratio(%)",
			false);
}

int msprof_communication_statistic(const struct msprof *msprof)
{
	return put_sums(msprof, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION,
			"communication_statistic",
			"Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
			"Max Time(us),Ratio(%)",
			true);
}

bool msprof_is_process(const struct msprof *msprof, uint32_t process)
{
	uint32_t of_device = msprof->model->devices.row[msprof->device].process;

	if (process == INDEX_NONE || of_device == INDEX_NONE)
		return msprof->first;
	return process == of_device;
}

/* A timeline contains the calls that the table beside it sums up: they are written once, from the calls. */
static bool is_repeated(const struct api_statistic_results *api, const struct api_statistic_row *row)
{
	for (uint32_t i = 0; i < api->count && row->file != INDEX_NONE; i++) {
		if (api->rows[i].file == INDEX_NONE && api->rows[i].name == row->name &&
		    strcmp(api->rows[i].level, row->level) == 0)
			return true;
	}
	return false;
}

static void put_us(struct csv_file *csv, uint64_t ns)
{
	if (ns != UINT64_MAX)
		csv_us(csv, ns);
	else
		csv_text(csv, "N/A");
}

int msprof_api_statistic(const struct msprof *msprof)
{
	const struct api_statistic_results *api = msprof->results->api_statistic;
	struct csv_file csv;
	int err = msprof_open(msprof, &csv, "api_statistic",
			      "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),"
			      "Variance");

	if (err)
		return err;
	for (uint32_t i = 0; api && i < api->count; i++) {
		const struct api_statistic_row *row = &api->rows[i];

		if (!msprof_is_process(msprof, row->process) || is_repeated(api, row))
			continue;
		csv_text(&csv, "host");
		csv_text(&csv, row->level);
		msprof_text(&csv, model_text(msprof->model, row->name));
		csv_us(&csv, row->total_ns);
		csv_format(&csv, "%" PRIu64, row->count);
		csv_us(&csv, row->total_ns / row->count);
		put_us(&csv, row->min_ns);
		put_us(&csv, row->max_ns);
		if (row->variance >= 0)
			csv_format(&csv, "%.3f", row->variance);
		else
			csv_text(&csv, "N/A");
		csv_end_row(&csv);
	}
	return csv_close(&csv);
}

static void put_ns(struct csv_file *csv, bool known, int64_t ns)
{
	if (known)
		csv_format(csv, "%.3f", (double)ns / 1000);
	else
		csv_text(csv, "N/A");
}

/* Takes the collectives that begin in a step, and writes them if @csv is not NULL. Steps come in order: *@next advances. */
static uint32_t put_reduces(const struct msprof *msprof, struct csv_file *csv,
			    const struct device_step_row *row, uint32_t *next)
{
	const struct model *model = msprof->model;
	uint32_t count = 0;

	while (*next < model->tasks.count && (model->tasks.row[*next].device != msprof->device ||
					      model->tasks.row[*next].start_ns < row->fp_start_ns))
		(*next)++;
	for (uint32_t i = *next; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->device != msprof->device || task->start_ns >= row->end_ns)
			break;
		if (task->kind != PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION ||
		    task->flags & MODEL_TASK_UNTIMED)
			continue;
		count++;
		if (!csv)
			continue;
		msprof_instant(msprof, csv, task->start_ns);
		csv_us(csv, task->end_ns - task->start_ns);
	}
	return count;
}

static void put_step(const struct msprof *msprof, struct csv_file *csv,
		     const struct device_step_row *row, uint32_t *next)
{
	csv_format(csv, "%u", msprof->model->devices.row[msprof->device].id);
	csv_format(csv, "%" PRIu64, row->number);
	msprof_instant(msprof, csv, row->fp_start_ns);
	msprof_instant(msprof, csv, row->bp_end_ns);
	msprof_instant(msprof, csv, row->end_ns);
	csv_us(csv, row->end_ns - row->start_ns);
	put_ns(csv, row->bp_end_ns, row->fp_bp_ns);
	put_ns(csv, row->bp_end_ns, row->tail_ns);
	put_ns(csv, !row->first, row->gap_ns);
	csv_text(csv, "N/A"); /* Model ID */
	put_reduces(msprof, csv, row, next);
	csv_end_row(csv);
}

const struct device_step_trace *msprof_steps(const struct msprof *msprof)
{
	const struct device_step_results *steps = msprof->results->device_steps;

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		if (steps->traces[i].device == msprof->device && steps->traces[i].count)
			return &steps->traces[i];
	}
	return NULL;
}

/* Rows have as many pairs of columns for reductions as they need; the header names the most. */
int msprof_step_trace(const struct msprof *msprof)
{
	const struct device_step_trace *trace = msprof_steps(msprof);
	uint32_t reduces = 0, next = 0;
	struct csv_file csv;
	int err;

	if (!trace)
		return 0;
	err = msprof_open(msprof, &csv, "step_trace", NULL);
	if (err)
		return err;
	for (uint32_t i = 0; i < trace->count; i++) {
		uint32_t count = put_reduces(msprof, NULL, &trace->rows[i], &next);

		reduces = count > reduces ? count : reduces;
	}
	fputs("Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
	      "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID",
	      csv.out);
	for (uint32_t i = 0; i < reduces; i++)
		fputs(",Reduce Start(us),Reduce Duration(us)", csv.out);
	fputc('\n', csv.out);
	next = 0;
	for (uint32_t i = 0; i < trace->count; i++)
		put_step(msprof, &csv, &trace->rows[i], &next);
	return csv_close(&csv);
}
