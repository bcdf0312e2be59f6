/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of outliers among steps; tests/e2e/truth_loops.sh checks how they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/step_outliers.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

/* Returns the outliers among turns with these durations in milliseconds. */
static const struct analysis_options all; /* all of the time */

static struct step_outliers outliers_of(const uint64_t *ms, uint32_t count)
{
	struct model *model = small_model(0, 1000000000000ull);
	uint32_t process = small_process(model, 100, "job", true);
	struct host_turn *turns = calloc((size_t)count + 1, sizeof(*turns));
	struct host_loop loop = { .process = process,
				  .thread = small_thread(model, process, 100, "main"),
				  .count = count };
	struct device_step_results device = { .main = INDEX_NONE };
	struct step_outliers outliers;
	uint64_t now_ns = MS;

	assert_non_null(turns);
	for (uint32_t i = 0; i < count; i++) {
		turns[i] = (struct host_turn){ i, now_ns, now_ns + ms[i] * MS };
		now_ns = turns[i].end_ns;
	}
	device.loops.loops.row = &loop;
	device.loops.loops.count = 1;
	device.loops.turns.row = turns;
	device.loops.turns.count = count;
	small_index(model);
	assert_int_equal(step_outliers_find(model, &all, NULL, &device, &outliers), 0);
	free(turns);
	model_free(model);
	return outliers;
}

static void found(void **state)
{
	static const uint64_t MS_EACH[] = { 10, 11, 9, 10, 40, 10, 12, 10, 60, 10, 9, 10, 15, 10 };
	struct step_outliers outliers = outliers_of(MS_EACH, 14);

	assert_int_equal(outliers.steps, 14);
	assert_int_equal(outliers.median_ns, 10 * MS);
	assert_int_equal(outliers.found, 2);
	assert_int_equal(outliers.count, 2);
	assert_int_equal(outliers.row[0].number, 8);
	assert_int_equal(outliers.row[0].duration_ns, 60 * MS);
	assert_int_equal(outliers.row[1].number, 4);
	/* The thread has no records. */
	assert_int_equal(outliers.row[0].root, INDEX_NONE);
	step_outliers_free(&outliers);
}

/* If steps vary anyway, none is an outlier. */
static void none(void **state)
{
	static const uint64_t MS_EACH[] = { 10, 20, 30, 40, 50, 10, 20, 30, 40, 50, 10, 20, 60 };
	static const uint64_t FEW[] = { 10, 10, 10, 100, 10 };
	struct step_outliers outliers = outliers_of(MS_EACH, 13);

	assert_int_equal(outliers.found, 0);
	step_outliers_free(&outliers);
	outliers = outliers_of(FEW, 5);
	assert_int_equal(outliers.found, 0);
	step_outliers_free(&outliers);
}

/* With more outliers than there is room for the longest are kept. */
static void many(void **state)
{
	struct step_outliers outliers;
	uint64_t ms[100];

	for (uint32_t i = 0; i < 100; i++)
		ms[i] = i % 5 ? 10 : 100 + i;
	outliers = outliers_of(ms, 100);
	assert_int_equal(outliers.found, 20);
	assert_int_equal(outliers.count, OUTLIERS_MAX);
	for (uint32_t i = 0; i < OUTLIERS_MAX; i++)
		assert_int_equal(outliers.row[i].number, 95 - 5 * i);
	step_outliers_free(&outliers);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(found),
		cmocka_unit_test(none),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
