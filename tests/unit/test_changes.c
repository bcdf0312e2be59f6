/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of two recordings distinguishes differences from scatter; equal recordings yield no difference. */
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

/* Approximately normal: mean 0, deviation 1. */
static double scatter(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += drand48();
	return sum - 6;
}

/* A mean of @ms milliseconds that scatters by @percent between parts. */
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

/* Half as long again, but parts within each recording differ by as much. */
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

/* However little it scatters: two starts of the same job differ by more. */
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

/* A root that one side lacks is 0 percent; a mean that one side lacks is unknown. */
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

/* A mean from three parts of eight, and a share of half a percent of the time. */
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
 * A part that has other shares of the kind implies that this share is 0; a part without any of them implies nothing.
 * A missing mean never implies a value.
 */
static void test_what_a_part_does_not_tell(void **state)
{
	struct side before = { 0 }, after = { 0 };
	struct changes changes;

	(void)state;
	/* Figures of a part are in order. */
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

/* A device that is never idle has no roots; this is stated, so that they count as 0. */
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

/* Less waiting made room for the operator that takes longer. */
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
			       "what changed most is operator matmul: +100.0 %"));
	free(changes.row);
	changes = find(&after, &before);
	assert_non_null(strstr(diff_sentence(&changes, sentence, sizeof(sentence)),
			       "what changed most is root sleep main: +20.0 points"));
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

/* Returns @count parts with a mean of @ms and a weight of @percent each. */
static struct side same(int count, double ms, double weight)
{
	struct side side = { 0 };

	for (int i = 0; i < count; i++)
		put(&side.part[i], FIGURE_STEP, "mean", ms * 100, 100, weight);
	return side;
}

/* Steps at the end of a recording alone are not compared, but they are known. */
static void test_steps_in_too_few_parts(void **state)
{
	struct side before = same(3, 10, 90), after = same(CHANGE_PARTS, 10, 90), none = { 0 };
	char sentence[DIFF_SENTENCE_SIZE];
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++) {
		put(&before.part[i], FIGURE_OPERATOR, "matmul", 1e6, 1, 50);
		put(&after.part[i], FIGURE_OPERATOR, "matmul", 2e6, 1, 70);
		put(&none.part[i], FIGURE_OPERATOR, "matmul", 2e6, 1, 70);
	}
	changes = find(&before, &after);
	assert_string_equal(diff_sentence(&changes, sentence, sizeof(sentence)),
			    "Steps are in too few parts of a recording to compare their times; what changed most is operator "
			    "matmul: +100.0 % (noise 5.0 %).");
	free(changes.row);
	changes = find(&before, &before);
	assert_string_equal(diff_sentence(&changes, sentence, sizeof(sentence)),
			    "Nothing differs: the one figure that can be compared is equal on both sides, as in one recording and its copy.");
	changes.row[0].after += 1;
	assert_string_equal(diff_sentence(&changes, sentence, sizeof(sentence)),
			    "Nothing changed by more than its noise. Steps are in too few parts of a recording to compare their "
			    "times.");
	free(changes.row);
	changes = find(&none, &after);
	/* Equal means are not equal recordings. */
	changes.row[0].after_part[0] += 1;
	assert_string_equal(diff_sentence(&changes, sentence, sizeof(sentence)),
			    "Nothing changed by more than its noise. No steps are known.");
	free(changes.row);
	free_side(&before);
	free_side(&after);
	free_side(&none);
}

/* The required number of parts, weight and size of a change: exactly at each limit, and below. */
static void test_borders(void **state)
{
	static const struct {
		int before_parts, after_parts;
		double before, after, before_weight, after_weight;
		uint32_t count, significant;
	} CASES[] = {
		{ 4, 8, 100, 200, 1, 1, 1, 1 },	  { 8, 4, 100, 200, 1, 1, 1, 1 },
		{ 3, 8, 100, 200, 1, 1, 0, 0 },	  { 8, 3, 100, 200, 1, 1, 0, 0 },
		{ 8, 8, 100, 200, 1, 0.5, 1, 1 }, { 8, 8, 100, 200, 0.5, 1, 1, 1 },
		{ 8, 8, 100, 200, 0.5, 0.5, 0, 0 },
		/* Five percent of the earlier figure are noise, even of a figure without scatter. */
		{ 8, 8, 100, 105, 1, 1, 1, 0 },	  { 8, 8, 100, 106, 1, 1, 1, 1 },
		{ 8, 8, 100, 95, 1, 1, 1, 0 },	  { 8, 8, 100, 94, 1, 1, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct side before = same(CASES[i].before_parts, CASES[i].before, CASES[i].before_weight);
		struct side after = same(CASES[i].after_parts, CASES[i].after, CASES[i].after_weight);
		struct changes changes = find(&before, &after);

		assert_int_equal(changes.count, CASES[i].count);
		assert_int_equal(changes.significant, CASES[i].significant);
		if (CASES[i].count)
			assert_string_equal(diff_state(&changes), !CASES[i].significant ? "unchanged"
								  : CASES[i].after > CASES[i].before
									  ? "worse"
									  : "better");
		free(changes.row);
		free_side(&before);
		free_side(&after);
	}
}

/* In order of size; equal rows by kind, then name. Changes are found by kind and name, or by kind alone. */
static void test_order(void **state)
{
	static const struct {
		uint8_t kind;
		const char *name;
		double before, after;
	} CASES[] = { { FIGURE_OPERATOR, "a", 100, 103 }, { FIGURE_OPERATOR, "b", 100, 200 }, { FIGURE_OPERATOR, "c", 100, 300 },
		      { FIGURE_API, "a", 100, 200 },	  { FIGURE_API, "d", 100, 200 },      { FIGURE_API, "e", 100, 104 } };
	static const char *const ORDER[] = { "c", "b", "a", "d", "e", "a" };
	struct side before = { 0 }, after = { 0 };
	struct changes changes;

	(void)state;
	for (int i = 0; i < CHANGE_PARTS; i++)
		for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
			put(&before.part[i], CASES[k].kind, CASES[k].name, CASES[k].before * 10, 10, 50);
			put(&after.part[i], CASES[k].kind, CASES[k].name, CASES[k].after * 10, 10, 50);
		}
	changes = find(&before, &after);
	assert_int_equal(changes.count, 6);
	assert_int_equal(changes.significant, 4);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(changes.row[i].name, ORDER[i]);
	assert_int_equal(changes.row[2].kind, FIGURE_API);
	assert_ptr_equal(changes_of(&changes, FIGURE_API, "d"), &changes.row[3]);
	assert_ptr_equal(changes_of(&changes, FIGURE_API, NULL), &changes.row[2]);
	assert_ptr_equal(changes_of(&changes, FIGURE_OPERATOR, "a"), &changes.row[5]);
	assert_null(changes_of(&changes, FIGURE_API, "b"));
	assert_null(changes_of(&changes, FIGURE_STEP, NULL));
	assert_string_equal(diff_state(&changes), "changed");
	free(changes.row);
	free_side(&before);
	free_side(&after);
}

/* From a factor of ten on no percentage is shown; a figure that was absent before is called new. */
static void test_texts(void **state)
{
	static const struct {
		uint8_t kind;
		double before, after, noise;
		const char *change, *noise_text;
	} CASES[] = {
		{ FIGURE_STEP, 100, 123.1, 5, "+23.1 %", "5.0 %" }, { FIGURE_STEP, 100, 50, 5, "-50.0 %", "5.0 %" },
		{ FIGURE_STEP, 100, 999, 5, "+899.0 %", "5.0 %" },   { FIGURE_STEP, 100, 1000, 5, "10 times", "5.0 %" },
		{ FIGURE_STEP, 0, 1000, 5, "new", "unknown" },	     { FIGURE_ROOT, 0, 4.25, 2, "+4.2 points", "2.0 points" },
		{ FIGURE_ROOT, 50, 4, 2, "-46.0 points", "2.0 points" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct change change = { .kind = CASES[i].kind,
					 .before = CASES[i].before,
					 .after = CASES[i].after,
					 .noise = CASES[i].noise };

		assert_string_equal(diff_change_text(&change, text, sizeof(text)), CASES[i].change);
		assert_string_equal(diff_noise_text(&change, text, sizeof(text)), CASES[i].noise_text);
	}
}

/* The reason is the first root that changed in the same direction as the steps, before any operator. */
static void test_reasons(void **state)
{
	struct change rows[] = {
		{ .kind = FIGURE_STEP, .name = "mean", .before = 100, .after = 200, .significant = true },
		{ .kind = FIGURE_API, .name = "call", .before = 1, .after = 2, .significant = true },
		{ .kind = FIGURE_OPERATOR, .name = "gemm", .before = 100, .after = 200, .significant = true },
		{ .kind = FIGURE_ROOT, .name = "less", .before = 20, .after = 10, .significant = true },
		{ .kind = FIGURE_ROOT, .name = "more", .before = 10, .after = 20, .significant = true },
		{ .kind = FIGURE_ROOT, .name = "most", .before = 10, .after = 30, .significant = true },
	};
	static const struct {
		uint32_t count;
		double after; /* of the step */
		const char *words;
	} CASES[] = {
		{ 6, 200, "; root more: 20.0 % instead of 10.0 %." },
		{ 4, 200, "; operator gemm: 200 ns instead of 100 ns." },
		{ 2, 200, "; no cause of it stands out." },
		{ 6, 50, "; root less: 10.0 % instead of 20.0 %." },
		{ 3, 50, "; no cause of it stands out." },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct changes changes = { .row = rows, .count = CASES[i].count, .significant = CASES[i].count };

		rows[0].after = CASES[i].after;
		diff_sentence(&changes, text, sizeof(text));
		if (!strstr(text, CASES[i].words))
			fail_msg("%s", text);
	}
	rows[4].significant = false;
	rows[0].after = 200;
	diff_sentence(&(struct changes){ .row = rows, .count = 6, .significant = 5 }, text, sizeof(text));
	assert_non_null(strstr(text, "; root most: 30.0 %"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_borders),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_a_change_beyond_the_scatter_is_found),
		cmocka_unit_test(test_a_change_within_the_scatter_is_none),
		cmocka_unit_test(test_small_changes_are_none),
		cmocka_unit_test(test_equal_recordings_claim_nothing),
		cmocka_unit_test(test_what_one_side_does_not_have),
		cmocka_unit_test(test_too_little_is_left_out),
		cmocka_unit_test(test_what_a_part_does_not_tell),
		cmocka_unit_test(test_none_of_a_kind_is_zero_if_that_is_told),
		cmocka_unit_test(test_without_steps_what_grew_is_named),
		cmocka_unit_test(test_steps_in_too_few_parts),
		cmocka_unit_test(test_the_sentence_names_steps_and_their_root),
	};

	srand48(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
