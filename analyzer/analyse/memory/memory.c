/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/memory/memory.h"

#include <stdlib.h>

/* Keeps the points of the window; the value at its start becomes a point. */
static uint32_t cut(struct memory_point *points, uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t first = 0, end = count, kept = 0;

	while (first < count && points[first].ts_ns < from_ns)
		first++;
	while (end > first && points[end - 1].ts_ns >= to_ns)
		end--;
	if (first) {
		points[kept] = points[first - 1];
		points[kept++].ts_ns = from_ns;
	}
	for (uint32_t i = first; i < end; i++)
		points[kept++] = points[i];
	return kept;
}

/* Keeps the highest point in each part of the time. */
static uint32_t thin(struct memory_point *points, uint32_t count)
{
	uint64_t first_ns = points[0].ts_ns, last_ns = points[count - 1].ts_ns;
	uint64_t part_ns = (last_ns - first_ns) / MEMORY_CURVE_POINTS + 1;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t part = (points[i].ts_ns - first_ns) / part_ns;

		if (kept && (points[kept - 1].ts_ns - first_ns) / part_ns == part) {
			if (points[i].bytes > points[kept - 1].bytes)
				points[kept - 1] = points[i];
		} else {
			points[kept++] = points[i];
		}
	}
	return kept;
}

void memory_curve_make(struct memory_curve *curve, struct memory_point *points, uint32_t count,
		       uint64_t from_ns, uint64_t to_ns)
{
	*curve = (struct memory_curve){ .points = points };
	count = cut(points, count, from_ns, to_ns);
	for (uint32_t i = 0; i < count; i++) {
		if (i && points[i].bytes <= curve->peak_bytes)
			continue;
		curve->peak_bytes = points[i].bytes;
		curve->peak_ns = points[i].ts_ns;
	}
	if (count)
		curve->last_bytes = points[count - 1].bytes;
	curve->count = count > MEMORY_CURVE_POINTS ? thin(points, count) : count;
}

static int by_peak(const void *a, const void *b)
{
	const struct memory_ledger *x = a, *y = b;

	if (x->curve.peak_bytes != y->curve.peak_bytes)
		return x->curve.peak_bytes > y->curve.peak_bytes ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_series_peak(const void *a, const void *b)
{
	const struct memory_series *x = a, *y = b;

	if (x->curve.peak_bytes != y->curve.peak_bytes)
		return x->curve.peak_bytes > y->curve.peak_bytes ? -1 : 1;
	return x->peak_reserved > y->peak_reserved ? -1 : x->peak_reserved < y->peak_reserved;
}

int memory_analyse(const struct model *model, const struct analysis_options *options,
		   struct memory_results *results)
{
	int err;

	*results = (struct memory_results){ 0 };
	err = memory_keep_ledgers(model, options, results);
	if (!err)
		err = memory_read_records(model, options, results);
	if (results->ledger_count)
		qsort(results->ledgers, results->ledger_count, sizeof(*results->ledgers), by_peak);
	if (results->series_count)
		qsort(results->series, results->series_count, sizeof(*results->series),
		      by_series_peak);
	return err;
}

void memory_free(struct memory_results *results)
{
	for (uint32_t i = 0; i < results->ledger_count; i++) {
		free(results->ledgers[i].curve.points);
		free(results->ledgers[i].live);
	}
	for (uint32_t i = 0; i < results->series_count; i++)
		free(results->series[i].curve.points);
	free(results->ledgers);
	free(results->series);
	*results = (struct memory_results){ 0 };
}
