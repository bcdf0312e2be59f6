/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hit rates of tasks in the second-level cache: l2_cache_*.csv of msprof.
 *
 * Tasks are identified by the numbers of device, stream and task, without times: if a file has as many rows of the
 * same numbers as there are tasks with them, the first row belongs to the first task, and so on; else each task
 * gets the means of the rows. Rates are fractions of 1; victim rates may exceed it. The tasks come from another
 * file.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/import/readers/csv_table.h"
#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/task_find.h"

#define DIGITS 9 /* after the decimal point */

enum column { C_DEVICE, C_STREAM, C_TASK, C_HIT, C_VICTIM, COLUMNS };

static const char *const NAMES[] = { "Device_id|Device Id|Device ID",
				     "Stream Id|Stream ID",
				     "Task Id|Task ID",
				     "Hit Rate",
				     "Victim Rate",
				     NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS + 1, "names for each column");

enum { RATE_HIT, RATE_VICTIM, RATES };

struct cache_row {
	uint64_t device; /* UINT64_MAX = unknown */
	uint64_t stream;
	uint64_t task;
	uint32_t order; /* position in the file */
	double rate[RATES]; /* negative = unknown */
};

struct cache_file {
	struct import *import;
	MODEL_ARRAY(struct cache_row) rows;
	struct task_find find;
	struct task_chains chains;
	uint32_t names[RATES]; /* strings */
};

static int detect(const struct import_sample *sample)
{
	static const char *const NEEDED[] = { "Stream Id|Stream ID", "Task Id|Task ID", "Hit Rate",
					      NULL };

	return !sample->directory && csv_has_columns(sample->text, NEEDED) ? 85 : 0;
}

static bool number_of(const struct csv_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

static double rate_of(const struct csv_value *value)
{
	int64_t parts;

	if (!value->text || !decimal_scaled(value->text, value->length, DIGITS, &parts) ||
	    parts < 0)
		return -1;
	return (double)parts / 1e9;
}

static int on_row(void *context, const struct csv_value *values)
{
	struct cache_file *file = context;
	struct cache_row row = { .device = UINT64_MAX,
				 .order = file->rows.count,
				 .rate = { rate_of(&values[C_HIT]), rate_of(&values[C_VICTIM]) } };

	number_of(&values[C_DEVICE], &row.device);
	if (!number_of(&values[C_STREAM], &row.stream) || !number_of(&values[C_TASK], &row.task))
		return import_finding(file->import, "cache rates without numbers of a task", NULL);
	if (row.rate[RATE_HIT] < 0 && row.rate[RATE_VICTIM] < 0)
		return 0; /* "N/A" */
	return MODEL_PUSH(&file->rows, row) ? 0 : -ENOMEM;
}

static int by_numbers(const void *a, const void *b)
{
	const struct cache_row *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_numbers(const struct cache_row *a, const struct cache_row *b)
{
	return a->device == b->device && a->stream == b->stream && a->task == b->task;
}

static struct cache_row mean_of(const struct cache_row *rows, uint32_t count)
{
	struct cache_row mean = rows[0];

	for (int rate = 0; rate < RATES; rate++) {
		double sum = 0;
		uint32_t told = 0;

		for (uint32_t i = 0; i < count; i++) {
			sum += rows[i].rate[rate] >= 0 ? rows[i].rate[rate] : 0;
			told += rows[i].rate[rate] >= 0;
		}
		mean.rate[rate] = told ? sum / told : -1;
	}
	return mean;
}

static bool put_rates(struct cache_file *file, uint32_t place, const struct cache_row *row)
{
	struct model *model = file->import->model;
	struct device_task *task = &model->tasks.row[file->find.by_start.row[place]];
	struct task_detail *detail = task_detail_of(model, task);
	struct task_metric metrics[RATES];
	uint32_t count = 0;

	for (int rate = 0; rate < RATES; rate++) {
		if (row->rate[rate] >= 0)
			metrics[count++] = (struct task_metric){ .name = file->names[rate],
								 .value = row->rate[rate] };
	}
	return detail && task_detail_add_metrics(model, detail, metrics, count);
}

/* Adds the rates of rows with the same numbers. */
static int put_rows(struct cache_file *file, const struct cache_row *rows, uint32_t count)
{
	const struct task_wanted wanted = { .device = rows->device,
					    .stream = rows->stream,
					    .task = rows->task };
	const struct cache_row mean = mean_of(rows, count);
	uint32_t tasks = 0, place = INDEX_NONE;

	while ((place = task_chains_next(&file->chains, &file->find, &wanted, place)) != INDEX_NONE)
		tasks++;
	if (!tasks)
		return import_finding(file->import,
				      "cache rates of tasks that no other file has", NULL);
	for (uint32_t i = 0; i < tasks; i++) {
		place = task_chains_next(&file->chains, &file->find, &wanted, place);
		if (!put_rates(file, place, tasks == count ? &rows[i] : &mean))
			return -ENOMEM;
	}
	return tasks == count ? 0
			      : import_finding(file->import,
					       "tasks that ran another number of times than there are "
					       "cache rates: each has their mean",
					       NULL);
}

/* The number of the device of all tasks; UINT64_MAX = there is none, or several. */
static uint64_t only_device(const struct cache_file *file)
{
	const struct model *model = file->import->model;
	uint64_t device = UINT64_MAX;

	for (uint32_t i = 0; i < file->find.by_start.count; i++) {
		const struct device_task *task = &model->tasks.row[file->find.by_start.row[i]];
		uint64_t other = model->devices.row[task->device].id;

		if (device != UINT64_MAX && device != other)
			return UINT64_MAX;
		device = other;
	}
	return device;
}

static int put_all(struct cache_file *file)
{
	uint32_t count;
	uint64_t only;
	int err = task_find_begin(&file->find, file->import);

	if (!err)
		err = task_chains_make(&file->chains, &file->find);
	only = only_device(file);
	for (uint32_t i = 0; i < file->rows.count; i++) {
		if (file->rows.row[i].device == UINT64_MAX)
			file->rows.row[i].device = only;
	}
	if (file->rows.count)
		qsort(file->rows.row, file->rows.count, sizeof(*file->rows.row), by_numbers);
	for (uint32_t i = 0; i < file->rows.count && !err; i += count) {
		const struct cache_row *first = &file->rows.row[i];

		for (count = 1; i + count < file->rows.count && same_numbers(first, first + count);)
			count++;
		err = put_rows(file, first, count);
	}
	return err;
}

static int import(struct import *import)
{
	struct cache_file file = { .import = import,
				   .names = { model_string(import->model, "l2_cache_hit_rate"),
					      model_string(import->model,
							   "l2_cache_victim_rate") } };
	const struct csv_reader reader = { .columns = NAMES, .row = on_row, .context = &file, .place = &import->place };
	char damage[256] = "";
	int err = csv_table_read(import->path, &reader, damage, sizeof(damage));

	err = import_end_reading(import, err, file.rows.count, damage);
	if (!err && (file.names[RATE_HIT] == INDEX_NONE || file.names[RATE_VICTIM] == INDEX_NONE))
		err = -ENOMEM;
	if (!err)
		err = put_all(&file);
	task_find_free(&file.find);
	task_chains_free(&file.chains);
	free(file.rows.row);
	return err;
}

const struct importer import_ascend_l2 = {
	.name = "msprof",
	.what = "a table of cache rates of Ascend tasks (l2_cache_*)",
	.detect = detect,
	.import = import,
};
