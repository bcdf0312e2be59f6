/* SPDX-License-Identifier: Apache-2.0 */
/* What differs in two recordings is told from what only scatters; equal recordings claim nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/compare/changes.h"
#include "analyzer/view/diff.h"

#define PAIRS 400
#define FIGURES_OF_JOB 40

struct side {
	struct figures part[CHANGE_PARTS];
};

static void put(struct figures *figures, uint8_t kind, const char *name, double amount, double by,
		double weight)
{
	struct figure row = { kind, strdup(name), amount, by, weight };

	assert_non_null(row.name);
	assert_true(MODEL_PUSH(figures, row));
}

static void free_side(struct side *side)
{
	for (int i = 0; i < CHANGE_PARTS; i++)
		figures_free(&side->part[i]);
}

/* Roughly normal: mean 0, deviation 1. */
static double scatter(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += drand48();
	return sum - 6;
}

/* A mean of @ms milliseconds that scatters by @percent from part to part. */
static struct side steps(double ms, double percent)
{
	struct side side = { 0 };

	for (int i = 0; i < CHANGE_PARTS; i++)
		put(&side.part[i], FIGURE_STEP, "mean",
		    ms * 1e6 * 100 * (1 + scatter() * percent / 100), 100, 90);
	return side;
}

static struct changes find(const struct side *before, const struct side *after)
{
	struct changes changes = { 0 };

	assert_int_equal(changes_find(before->part, after->part, &changes), 0);
	return changes;
}

static void test_a_change_beyond_the_scatter_is_found(void **state)
{
	struct side before = steps(10, 3), after = steps(13, 3);
	struct changes changes = find(&before, &after);

	(void)state;
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.significant, 1);
	assert_true(fabs(changes.row[0].before - 10e6) < 1e6);
	assert_true(changes.row[0].noise < 1.5e6);
	assert_true(fabs(changes.row[0].size - 30) < 10);
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* Half as long again, but parts of either recording differ by as much. */
static void test_a_change_within_the_scatter_is_none(void **state)
{
	struct side before = steps(10, 60), after = steps(13, 60);
	struct changes changes = find(&before, &after);

	(void)state;
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.significant, 0);
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* However little it scatters: from one start of a job to the next there is more. */
static void test_small_changes_are_none(void **state)
{
	struct side before = steps(10, 0), after = steps(10.4, 0);
	struct changes changes = find(&before, &after);

	(void)state;
	assert_int_equal(changes.significant, 0);
	assert_true(fabs(changes.row[0].noise - 10e6 * NOISE_PERCENT / 100) < 1);
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

static struct side job(void)
{
	struct side side = { 0 };
	char name[32];

	for (int i = 0; i < CHANGE_PARTS; i++) {
		for (int k = 0; k < FIGURES_OF_JOB; k++) {
			snprintf(name, sizeof(name), "f%02d", k);
			put(&side.part[i], FIGURE_API, name, 1e6 * (1 + 0.02 * k * scatter() / 4),
			    1, 5);
		}
	}
	return side;
}

/* Forty figures each, some of which scatter by a fifth. */
static void test_equal_recordings_claim_nothing(void **state)
{
	int claimed = 0;

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		struct side before = job(), after = job();
		struct changes changes = find(&before, &after);

		assert_int_equal(changes.count, FIGURES_OF_JOB);
		claimed += changes.significant > 0;
		free(changes.row);
		free_side(&before);
		free_side(&after);
	}
	print_message("%d of %d pairs claim something\n", claimed, PAIRS);
	assert_in_range(claimed, 0, PAIRS * 5 / 100);
}

/* A root that was not there before is 0 percent; a mean that was not there is not known. */
static void test_what_one_side_does_not_have(void **state)
{
	struct side before = { 0 }, after = { 0 };
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++) {
		put(&before.part[i], FIGURE_ROOT, "lock", 10, 100, 10);
		put(&after.part[i], FIGURE_ROOT, "io", 30, 100, 30);
		put(&after.part[i], FIGURE_ROOT, "lock", 10, 100, 10);
		put(&after.part[i], FIGURE_API, "cudaMalloc", 30, 1, 30);
	}
	changes = find(&before, &after);
	assert_int_equal(changes.count, 2);
	assert_string_equal(changes.row[0].name, "io");
	assert_true(changes.row[0].significant);
	assert_true(fabs(changes.row[0].before) < 1e-9);
	assert_true(fabs(changes.row[0].after - 30) < 1e-9);
	assert_false(changes.row[1].significant);
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* A mean that three parts of eight tell, and a share of half a percent of the time. */
static void test_too_little_is_left_out(void **state)
{
	struct side before = { 0 }, after = { 0 };
	struct changes changes;
	char sentence[DIFF_SENTENCE_SIZE];

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++) {
		if (i < CHANGE_PARTS_MIN - 1)
			put(&before.part[i], FIGURE_STEP, "mean", 10, 1, 90);
		put(&after.part[i], FIGURE_STEP, "mean", 30, 1, 90);
		put(&before.part[i], FIGURE_PROCESS, "cron", 0.1, 100, 0.1);
		put(&after.part[i], FIGURE_PROCESS, "cron", 0.5, 100, 0.5);
	}
	changes = find(&before, &after);
	assert_int_equal(changes.count, 0);
	assert_non_null(strstr(diff_sentence(&changes, sentence, sizeof(sentence)),
			       "Nothing can be compared"));
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/*
 * A part that tells other shares of the kind says that this one is 0; one without any of them says nothing. Of a
 * mean it says nothing in any case.
 */
static void test_what_a_part_does_not_tell(void **state)
{
	struct side before = { 0 }, after = { 0 };
	struct changes changes;

	(void)state;
	/* Of a part they are in order. */
	for (int i = 0; i < CHANGE_PARTS; i++) {
		bool tells = i < CHANGE_PARTS_MIN - 1;

		if (tells) {
			put(&before.part[i], FIGURE_ROOT, "lock", 10, 100, 10);
			put(&before.part[i], FIGURE_API, "open", 10, 1, 30);
		}
		put(&before.part[i], FIGURE_API, "read", 10, 1, 30);
		if (tells)
			put(&before.part[i], FIGURE_PROCESS, "job", 80, 100, 80);
		put(&before.part[i], FIGURE_PROCESS, "other", 80, 100, 80);
		put(&after.part[i], FIGURE_ROOT, "lock", 30, 100, 30);
		put(&after.part[i], FIGURE_API, "open", 30, 1, 30);
		put(&after.part[i], FIGURE_API, "read", 10, 1, 30);
		put(&after.part[i], FIGURE_PROCESS, "job", 80, 100, 80);
		put(&after.part[i], FIGURE_PROCESS, "other", 80, 100, 80);
	}
	changes = find(&before, &after);
	assert_int_equal(changes.count, 3);
	for (uint32_t i = 0; i < changes.count; i++) {
		const struct change *row = &changes.row[i];

		assert_true(row->kind == FIGURE_API ? strcmp(row->name, "read") == 0 :
						      row->kind == FIGURE_PROCESS);
		if (strcmp(row->name, "job") == 0)
			assert_true(fabs(row->before -
					 80.0 * (CHANGE_PARTS_MIN - 1) / CHANGE_PARTS) < 1e-9);
	}
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* A device that is never idle has no roots, and that is told. */
static void test_none_of_a_kind_is_zero_if_that_is_told(void **state)
{
	struct side before = { 0 }, after = { 0 };
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++)
		put(&after.part[i], FIGURE_ROOT, "io", 30, 100, 30);
	changes = find(&before, &after);
	assert_int_equal(changes.count, 0);
	free(changes.row);
	for (int i = 0; i < CHANGE_PARTS; i++)
		before.part[i].told = 1u << FIGURE_ROOT;
	changes = find(&before, &after);
	assert_int_equal(changes.count, 1);
	assert_true(changes.row[0].significant);
	assert_true(fabs(changes.row[0].before) < 1e-9);
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* What was waited for less has made room for the operator that takes longer. */
static void test_without_steps_what_grew_is_named(void **state)
{
	struct side before = { 0 }, after = { 0 };
	char sentence[DIFF_SENTENCE_SIZE];
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++) {
		put(&before.part[i], FIGURE_ROOT, "sleep main", 50, 100, 50);
		put(&before.part[i], FIGURE_OPERATOR, "matmul", 1e6, 1, 50);
		put(&after.part[i], FIGURE_ROOT, "sleep main", 30, 100, 30);
		put(&after.part[i], FIGURE_OPERATOR, "matmul", 2e6, 1, 70);
	}
	changes = find(&before, &after);
	assert_non_null(strstr(diff_sentence(&changes, sentence, sizeof(sentence)),
			       "most changed operator matmul, +100.0 %"));
	free(changes.row);
	changes = find(&after, &before);
	assert_non_null(strstr(diff_sentence(&changes, sentence, sizeof(sentence)),
			       "most changed root sleep main, +20.0 points"));
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

static void test_the_sentence_names_steps_and_their_root(void **state)
{
	struct side before = steps(10, 1), after = steps(20, 1);
	char sentence[DIFF_SENTENCE_SIZE];
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++) {
		put(&before.part[i], FIGURE_ROOT, "sleep loader", 10, 100, 10);
		put(&after.part[i], FIGURE_ROOT, "sleep loader", 60, 100, 60);
		put(&before.part[i], FIGURE_ROOT, "user_code main", 90, 100, 90);
		put(&after.part[i], FIGURE_ROOT, "user_code main", 40, 100, 40);
	}
	/* Rows of a part are in order of kind and name. */
	changes = find(&before, &after);
	assert_int_equal(changes.significant, 3);
	diff_sentence(&changes, sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "A step takes 20"));
	assert_non_null(strstr(sentence, "root sleep loader: 60.0 % instead of 10.0 %"));
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_change_beyond_the_scatter_is_found),
		cmocka_unit_test(test_a_change_within_the_scatter_is_none),
		cmocka_unit_test(test_small_changes_are_none),
		cmocka_unit_test(test_equal_recordings_claim_nothing),
		cmocka_unit_test(test_what_one_side_does_not_have),
		cmocka_unit_test(test_too_little_is_left_out),
		cmocka_unit_test(test_what_a_part_does_not_tell),
		cmocka_unit_test(test_none_of_a_kind_is_zero_if_that_is_told),
		cmocka_unit_test(test_without_steps_what_grew_is_named),
		cmocka_unit_test(test_the_sentence_names_steps_and_their_root),
	};

	srand48(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
