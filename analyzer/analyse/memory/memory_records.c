/* SPDX-License-Identifier: Apache-2.0 */
/* Memory records of other profilers. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/memory/memory.h"

static bool wanted(const struct model *model, const struct analysis_options *options,
		   const struct memory_record *record)
{
	return record->process == INDEX_NONE ||
	       analysis_wants_process(model, options, record->process);
}

/* By allocator, then time; rows of one instant keep their order. */
static int by_allocator(const void *a, const void *b, void *context)
{
	const struct memory_record *records = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct memory_record *x = &records[i], *y = &records[k];
	uint32_t x_host = x->flags & MODEL_MEMORY_HOST, y_host = y->flags & MODEL_MEMORY_HOST;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x_host != y_host)
		return x_host < y_host ? -1 : 1;
	if (x->component != y->component)
		return x->component < y->component ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return i < k ? -1 : i > k;
}

static bool same_allocator(const struct memory_record *x, const struct memory_record *y)
{
	return x->file == y->file && x->device == y->device && x->component == y->component &&
	       !((x->flags ^ y->flags) & MODEL_MEMORY_HOST);
}

static void add_record(struct memory_series *series, const struct memory_record *record)
{
	series->records++;
	if (record->flags & MODEL_MEMORY_CHANGE && record->bytes > 0)
		series->allocations++;
	if (record->flags & MODEL_MEMORY_CHANGE && record->bytes < 0)
		series->releases++;
	if (!(record->flags & MODEL_MEMORY_RESERVED))
		return;
	series->has_reserved = true;
	if (record->reserved > series->peak_reserved)
		series->peak_reserved = record->reserved;
}

/* Bytes in use: the allocator's figure if known, else the sum of the changes so far. */
static uint64_t in_use(const struct memory_record *record, uint64_t before)
{
	if (record->flags & MODEL_MEMORY_ALLOCATED)
		return record->allocated;
	if (!(record->flags & MODEL_MEMORY_CHANGE))
		return before;
	if (record->bytes < 0 && before < -(uint64_t)record->bytes)
		return 0;
	return before + (uint64_t)record->bytes;
}

static bool tells_use(const struct memory_record *record)
{
	return record->flags & (MODEL_MEMORY_ALLOCATED | MODEL_MEMORY_CHANGE);
}

/* Records rows[0 .. count) of one allocator. */
static int make_series(const struct model *model, const struct analysis_window *window,
		       const uint32_t *rows, uint32_t count, struct memory_series *series)
{
	const struct memory_record *first = &model->memory_records.row[rows[0]];
	struct memory_point *points = calloc((size_t)count + 1, sizeof(*points));
	uint64_t bytes = 0;
	uint32_t used = 0;

	*series = (struct memory_series){ .file = first->file,
					  .device = first->device,
					  .component = first->component,
					  .host = (first->flags & MODEL_MEMORY_HOST) != 0 };
	if (!points)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct memory_record *record = &model->memory_records.row[rows[i]];

		if (analysis_has(record->ts_ns, window))
			add_record(series, record);
		if (!tells_use(record))
			continue;
		bytes = in_use(record, bytes);
		points[used++] = (struct memory_point){ record->ts_ns, bytes };
	}
	memory_curve_make(&series->curve, points, used, window->from_ns, window->to_ns);
	return 0;
}

static int make_all(const struct model *model, const struct analysis_window *window,
		    const uint32_t *rows, uint32_t count, struct memory_results *results)
{
	const struct memory_record *records = model->memory_records.row;
	uint32_t different = 0;
	int err = 0;

	for (uint32_t i = 0; i < count; i++)
		different += i == 0 || !same_allocator(&records[rows[i - 1]], &records[rows[i]]);
	results->series = calloc((size_t)different + 1, sizeof(*results->series));
	if (!results->series)
		return -ENOMEM;
	for (uint32_t first = 0, end; first < count && !err; first = end) {
		for (end = first;
		     end < count && same_allocator(&records[rows[first]], &records[rows[end]]);)
			end++;
		err = make_series(model, window, rows + first, end - first,
				  &results->series[results->series_count++]);
	}
	return err;
}

int memory_read_records(const struct model *model, const struct analysis_options *options,
			struct memory_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	uint32_t *rows = calloc((size_t)model->memory_records.count + 1, sizeof(*rows));
	uint32_t count = 0;
	int err;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->memory_records.count; i++) {
		if (wanted(model, options, &model->memory_records.row[i]))
			rows[count++] = i;
	}
	if (count)
		qsort_r(rows, count, sizeof(*rows), by_allocator, model->memory_records.row);
	err = make_all(model, &window, rows, count, results);
	free(rows);
	return err;
}
