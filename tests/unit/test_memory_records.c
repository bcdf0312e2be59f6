/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory records of other profilers: one series per allocator, the memory in use by its records, within the wanted
 * part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/memory/memory.h"
#include "tests/unit/small_model.h"

#define CHANGE MODEL_MEMORY_CHANGE
#define IN_USE MODEL_MEMORY_ALLOCATED
#define RESERVED MODEL_MEMORY_RESERVED

static void add(struct model *model, struct memory_record row)
{
	assert_true(MODEL_PUSH(&model->memory_records, row));
}

static void check(const struct memory_series *series, uint64_t records, uint64_t allocations, uint64_t releases,
		  uint64_t peak_bytes, uint64_t peak_ns, uint64_t last_bytes)
{
	assert_int_equal(series->records, records);
	assert_int_equal(series->allocations, allocations);
	assert_int_equal(series->releases, releases);
	assert_int_equal(series->curve.peak_bytes, peak_bytes);
	assert_int_equal(series->curve.peak_ns, peak_ns);
	assert_int_equal(series->curve.last_bytes, last_bytes);
}

/* Files, devices, components, and the host's memory have separate allocators. */
static void allocators(void **state)
{
	const struct analysis_options options = { 0 };
	struct model *model = small_model(0, 10000);
	struct memory_results results = { 0 };
	const struct memory_record base = { .process = INDEX_NONE, .flags = CHANGE };
	static const uint32_t files[] = { 0, 1, 0, 0, 0, 0 }, devices[] = { 0, 0, 1, 0, 0, 0 }, components[] = { 0, 0, 0, 1, 0, 0 },
			      flags[] = { 0, 0, 0, 0, MODEL_MEMORY_HOST, 0 };

	for (uint32_t i = 0; i < 6; i++) {
		struct memory_record row = base;

		row.ts_ns = 100 + i;
		row.bytes = 1 << i;
		row.file = files[i];
		row.device = devices[i];
		row.component = components[i];
		row.flags |= flags[i];
		add(model, row);
	}
	assert_int_equal(memory_read_records(model, &options, &results), 0);
	assert_int_equal(results.series_count, 5);
	check(&results.series[0], 2, 2, 0, 33, 105, 33);
	assert_int_equal(results.series[1].component, 1);
	check(&results.series[1], 1, 1, 0, 8, 103, 8);
	assert_true(results.series[2].host);
	check(&results.series[2], 1, 1, 0, 16, 104, 16);
	assert_int_equal(results.series[3].device, 1);
	check(&results.series[3], 1, 1, 0, 4, 102, 4);
	assert_int_equal(results.series[4].file, 1);
	check(&results.series[4], 1, 1, 0, 2, 101, 2);
	memory_free(&results);
	model_free(model);
}

/*
 * Memory in use: the allocator's own figure, otherwise the sum of changes, never below zero; of equal peaks the
 * first.
 */
static void in_use(void **state)
{
	const struct analysis_options options = { 0 };
	static const struct memory_record ROWS[] = {
		{ .ts_ns = 100, .bytes = 50, .flags = CHANGE },
		{ .ts_ns = 100, .bytes = -50, .flags = CHANGE }, /* at the same instant, in the file's order */
		{ .ts_ns = 200, .bytes = 30, .flags = CHANGE },
		{ .ts_ns = 300, .bytes = 0, .flags = CHANGE },
		{ .ts_ns = 400, .bytes = -40, .flags = CHANGE }, /* more than is in use */
		{ .ts_ns = 500, .bytes = 5, .allocated = 50, .flags = CHANGE | IN_USE },
		{ .ts_ns = 600, .reserved = 900, .flags = RESERVED },
		{ .ts_ns = 700, .reserved = 800, .bytes = -50, .flags = CHANGE | RESERVED },
		{ .ts_ns = 800, .bytes = 7, .flags = 0 },
	};
	struct model *model = small_model(0, 10000);
	struct memory_results results = { 0 };
	const uint64_t wanted[] = { 50, 0, 30, 30, 0, 50, 0 };

	for (size_t i = sizeof(ROWS) / sizeof(ROWS[0]); i-- > 0;) {
		struct memory_record row = ROWS[i < 2 ? 1 - i : i];

		row.process = INDEX_NONE;
		add(model, row);
	}
	assert_int_equal(memory_read_records(model, &options, &results), 0);
	assert_int_equal(results.series_count, 1);
	check(&results.series[0], 9, 3, 3, 50, 100, 0);
	assert_true(results.series[0].has_reserved);
	assert_int_equal(results.series[0].peak_reserved, 900);
	assert_int_equal(results.series[0].curve.count, 7);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(results.series[0].curve.points[i].bytes, wanted[i]);
	memory_free(&results);
	model_free(model);
}

/*
 * A part of the time: records in it, including its first instant; the memory in use before it begins the curve. Only
 * selected processes.
 */
static void parts(void **state)
{
	uint32_t pids[] = { 100 };
	struct analysis_options options = { .from_ns = 200, .to_ns = 400, .pids = pids, .pid_count = 1 };
	struct model *model = small_model(0, 10000);
	struct memory_results results = { 0 };
	uint32_t job = small_process(model, 100, "job", true), other = small_process(model, 200, "other", true);

	for (uint32_t i = 1; i <= 4; i++) {
		add(model, (struct memory_record){ .ts_ns = 100 * i, .bytes = i, .process = job, .flags = CHANGE });
		add(model, (struct memory_record){ .ts_ns = 100 * i, .bytes = 1000, .process = other, .flags = CHANGE });
	}
	add(model, (struct memory_record){ .ts_ns = 350, .bytes = 1, .process = INDEX_NONE, .flags = CHANGE });
	assert_int_equal(memory_read_records(model, &options, &results), 0);
	assert_int_equal(results.series_count, 1);
	check(&results.series[0], 3, 3, 0, 7, 350, 7);
	assert_int_equal(results.series[0].curve.count, 4);
	assert_int_equal(results.series[0].curve.points[0].ts_ns, 200);
	assert_int_equal(results.series[0].curve.points[0].bytes, 1);
	memory_free(&results);
	model_free(model);
}

/*
 * A curve with too many points keeps the highest of each part, the first of equal ones; with as many as allowed it
 * keeps all.
 */
static void thinned(void **state)
{
	for (uint32_t extra = 0; extra < 2; extra++) {
		uint32_t count = MEMORY_CURVE_POINTS + extra;
		struct memory_point *points = calloc(count + 1, sizeof(*points));
		struct memory_curve curve;

		assert_non_null(points);
		for (uint32_t i = 0; i < count; i++)
			points[i] = (struct memory_point){ 2 * i, i % 2 ? 5 : 3 };
		memory_curve_make(&curve, points, count, 0, UINT64_MAX);
		if (!extra) {
			assert_int_equal(curve.count, MEMORY_CURVE_POINTS);
		} else {
			/* Parts of 3 ns: instants 0 and 2, 4, 6 and 8, 10, ... */
			assert_int_equal(curve.count, 667);
			assert_int_equal(curve.points[0].ts_ns, 2);
			assert_int_equal(curve.points[1].ts_ns, 4);
			assert_int_equal(curve.points[2].ts_ns, 6);
		}
		assert_int_equal(curve.peak_ns, 2);
		free(curve.points);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocators),
		cmocka_unit_test(in_use),
		cmocka_unit_test(parts),
		cmocka_unit_test(thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
