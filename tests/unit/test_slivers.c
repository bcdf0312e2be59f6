/* SPDX-License-Identifier: Apache-2.0 */
/* Short runs on CPUs: which runs are merged, into how many slices, and that no time is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/export/timeline/slivers.h"
#include "analyzer/model/model.h"

#define US 1000ull
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct cpu_slice run(uint64_t start_us, uint64_t end_us, uint32_t tid)
{
	return (struct cpu_slice){ .start_ns = start_us * US, .end_ns = end_us * US, .tid = tid, .thread = tid };
}

static void expect(const struct cpu_slices *cpus, uint32_t cpu, uint64_t resolution_us,
		   const struct sliver *expected, size_t count)
{
	struct sliver sliver;
	uint32_t at = 0;
	size_t found = 0;

	for (; sliver_next(cpus, &cpus->cpus[cpu], resolution_us * US, &at, &sliver); found++) {
		assert_true(found < count);
		assert_int_equal(sliver.first, expected[found].first);
		assert_int_equal(sliver.last, expected[found].last);
		assert_int_equal(sliver.runs, expected[found].runs);
		assert_int_equal(sliver.run_ns, expected[found].run_ns);
		assert_int_equal(sliver.one_thread, expected[found].one_thread);
	}
	assert_int_equal(found, count);
}

static void short_neighbours_are_one(void **state)
{
	struct cpu_slice rows[] = {
		run(0, 2, 7),	  run(2, 3, 0), run(3, 5, 7), /* one thread, idle in between */
		run(20, 22, 7),	  run(22, 23, 8), /* far from the first, two threads */
		run(23, 40, 8), /* long */
		run(40, 41, 9), /* alone: the next run is on another CPU */
		run(41, 42, 9),
	};
	struct cpu_row cpu[] = { { 0, 0, 7 }, { 1, 7, 1 } };
	struct cpu_slices cpus = { rows, COUNT(rows), cpu, 2 };
	const struct sliver merged[] = {
		{ 0, 2, 2, 4 * US, true },
		{ 3, 4, 2, 3 * US, false },
		{ 5, 5, 1, 17 * US, true },
		{ 6, 6, 1, US, true },
	};
	const struct sliver all[] = {
		{ 0, 0, 1, 2 * US, true }, { 2, 2, 1, 2 * US, true }, { 3, 3, 1, 2 * US, true },
		{ 4, 4, 1, US, true },	   { 5, 5, 1, 17 * US, true }, { 6, 6, 1, US, true },
	};
	const struct sliver other[] = { { 7, 7, 1, US, true } };

	(void)state;
	expect(&cpus, 0, 10, merged, COUNT(merged));
	expect(&cpus, 0, 0, all, COUNT(all));
	expect(&cpus, 1, 10, other, COUNT(other));
}

/* However short runs are, a merged slice is not longer than a few resolutions. */
static void a_slice_is_not_long(void **state)
{
	struct cpu_slice rows[20];
	struct cpu_row cpu = { 0, 0, 20 };
	struct cpu_slices cpus = { rows, 20, &cpu, 1 };
	const struct sliver merged[] = { { 0, 15, 16, 16 * US, true }, { 16, 19, 4, 4 * US, true } };
	const struct sliver all[] = { { 0, 0, 1, US, true }, { 1, 1, 1, US, true } };

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		rows[i] = run(i, i + 1, 7);
	expect(&cpus, 0, 2, merged, COUNT(merged));
	/* A run as long as the resolution is not short. */
	cpu.count = 2;
	expect(&cpus, 0, 1, all, COUNT(all));
}

static void no_more_than_are_kept(void **state)
{
	enum { RUNS = 1000 };
	struct cpu_slice *rows = calloc(RUNS, sizeof(*rows));
	struct cpu_row cpu = { 0, 0, RUNS };
	struct cpu_slices cpus = { rows, RUNS, &cpu, 1 };
	struct sliver_counts counts;
	struct sliver sliver;
	uint64_t slices = 0, runs = 0, run_ns = 0;
	uint32_t at = 0;

	(void)state;
	assert_non_null(rows);
	for (uint32_t i = 0; i < RUNS; i++)
		rows[i] = run(3 * i, 3 * i + 1 + i % 2, 7 + i % 3);
	assert_int_equal(sliver_resolution(&cpus, RUNS).resolution_ns, 0);
	assert_int_equal(sliver_resolution(&cpus, RUNS).runs, 0);
	counts = sliver_resolution(&cpus, 300);
	/* With 2 us only the shorter half could be merged, and these have longer ones between them. */
	assert_int_equal(counts.resolution_ns, 4 * US);
	while (sliver_next(&cpus, &cpu, counts.resolution_ns, &at, &sliver)) {
		slices++;
		runs += sliver.runs;
		run_ns += sliver.run_ns;
		assert_true(rows[sliver.last].end_ns - rows[sliver.first].start_ns <= SLIVER_LENGTH * counts.resolution_ns);
	}
	assert_true(slices <= 300);
	assert_int_equal(runs, RUNS);
	assert_int_equal(run_ns, 1500 * US);
	assert_int_equal(counts.runs, RUNS);
	assert_int_equal(counts.slices, slices);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_neighbours_are_one),
		cmocka_unit_test(a_slice_is_not_long),
		cmocka_unit_test(no_more_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
