/* SPDX-License-Identifier: Apache-2.0 */
/* Lines between bounds of a clock that jumps: compared with the known truth, and on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/join/clock/clock_steps.h"

#define APART 1000 /* ns between bounds */
#define WIDTH 100 /* ns between the true offset and a bound */
#define JUMP 1000000
#define BOUNDS_MAX 2048

/* Bounds of a clock, and its true offset at each of them. */
struct fixture {
	struct clock_bound bound[BOUNDS_MAX];
	int64_t truth[BOUNDS_MAX];
	uint32_t count;
	struct clock_steps steps;
};

/* Adds @count bounds of an offset, lower and upper ones in turn. */
static void add(struct fixture *f, uint32_t count, int64_t offset)
{
	for (uint32_t i = 0; i < count; i++, f->count++) {
		bool upper = f->count % 2;

		f->truth[f->count] = offset;
		f->bound[f->count] = (struct clock_bound){ .time_ns = (uint64_t)(f->count + 1) * APART + 10 * JUMP,
							   .offset_ns = offset + (upper ? WIDTH : -WIDTH),
							   .upper = upper };
	}
}

/* Adds @count lower bounds that contradict the true offset, then an upper one, so that it contradicts these. */
static void add_strays(struct fixture *f, uint32_t count)
{
	uint32_t first = f->count;

	add(f, count, 20 * JUMP);
	for (uint32_t i = first; i < f->count; i++)
		f->bound[i].upper = false;
	add(f, 1, 0);
	f->bound[f->count - 1].upper = true;
	f->bound[f->count - 1].offset_ns = WIDTH;
}

/* Reverses the bounds: their order must not matter. */
static bool fits(struct fixture *f)
{
	for (uint32_t i = 0; i < f->count / 2; i++) {
		struct clock_bound bound = f->bound[i];

		f->bound[i] = f->bound[f->count - 1 - i];
		f->bound[f->count - 1 - i] = bound;
	}
	return clock_steps_fit(f->bound, f->count, &f->steps);
}

/* Expects @pieces pieces; wherever the line is sure, the converted time is right within the stated error. */
static void expect(struct fixture *f, uint32_t pieces, uint32_t ignored)
{
	uint32_t sure_ones = 0;

	assert_true(fits(f));
	assert_int_equal(f->steps.count, pieces);
	assert_int_equal(f->steps.ignored, ignored);
	/* A line is also used where it is not bounded, beside a step. */
	assert_in_range(f->steps.error_ns, WIDTH, pieces > 1 ? 2 * WIDTH : WIDTH + 5);
	for (uint32_t i = 0; i < f->count; i++) {
		uint64_t ns = f->bound[i].time_ns, host_ns = ns + (uint64_t)f->truth[i], told_ns;
		const struct clock_line *other;
		bool sure;

		told_ns = clock_line_apply(clock_steps_at(&f->steps, ns, &sure, &other), ns);
		if (sure && told_ns - host_ns + f->steps.error_ns <= 2 * f->steps.error_ns)
			sure_ones++;
		else
			assert_true(!sure || ignored);
	}
	assert_true(sure_ones + ignored + (pieces - 1) * (2 * JUMP / APART) >= f->count);
}

static void one_piece(void **state)
{
	(void)state;
	for (uint32_t count = 15; count <= 17; count++) {
		struct fixture f = { .count = 0 };

		add(&f, count, 5000);
		if (count < 16) {
			assert_false(fits(&f));
			continue;
		}
		expect(&f, 1, 0);
		assert_int_equal(f.steps.step_error_ns, f.steps.error_ns);
		assert_false(f.steps.open_start || f.steps.open_end);
		assert_int_equal(f.steps.piece[0].from_ns, f.bound[0].time_ns);
		assert_int_equal(f.steps.piece[0].to_ns, f.bound[count - 1].time_ns);
	}
}

/* In the zone between two pieces the error may be as large as the jump. */
static void two_pieces(void **state)
{
	static struct fixture f;

	(void)state;
	f = (struct fixture){ .count = 0 };
	add(&f, 400, 0);
	add(&f, 400, 20000);
	expect(&f, 2, 0);
	assert_false(f.steps.open_start || f.steps.open_end);
	assert_in_range(f.steps.step_error_ns, 20000 + WIDTH, 20000 + 5 * WIDTH);
	assert_true(f.steps.piece[0].to_ns <= f.bound[399].time_ns);
	assert_true(f.steps.piece[1].from_ns >= f.bound[400].time_ns);
	/* Twice the width of the step on either side, plus the range of both lines. */
	assert_in_range(f.bound[400].time_ns - f.steps.piece[0].to_ns, 2 * 19900, 2 * 20200 + 2 * APART);
	assert_in_range(f.steps.piece[1].from_ns - f.bound[400].time_ns, 2 * 19900, 2 * 20200 + 2 * APART);
}

/* Fewer than 16 bounds make no piece; if more than a tenth of all would be ignored, there is no piece at all. */
static void outliers(void **state)
{
	static const struct {
		uint32_t before, stray, after, pieces, ignored;
		bool bounded; /* the outliers agree with each other, and are bounded on both sides */
	} CASES[] = {
		{ 400, 15, 400, 1, 15, true },	{ 400, 17, 400, 3, 0, true },  { 400, 17, 400, 1, 17, false },
		{ 50, 10, 39, 1, 10, false },	{ 50, 11, 38, 0, 0, false },   { 50, 11, 48, 1, 11, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		static struct fixture f;

		f = (struct fixture){ .count = 0 };
		add(&f, CASES[i].before, 0);
		if (CASES[i].bounded)
			add(&f, CASES[i].stray, 20 * JUMP);
		else
			add_strays(&f, CASES[i].stray);
		add(&f, CASES[i].after, 0);
		if (!CASES[i].pieces) {
			assert_false(fits(&f));
			continue;
		}
		assert_true(fits(&f));
		assert_int_equal(f.steps.count, CASES[i].pieces);
		assert_int_equal(f.steps.ignored, CASES[i].ignored);
	}
}

/* Two groups of outliers, between bounds of one line. */
static void outliers_again(void **state)
{
	static struct fixture f;

	(void)state;
	f = (struct fixture){ .count = 0 };
	for (int i = 0; i < 2; i++) {
		add(&f, 300, 0);
		add(&f, 15, 20 * JUMP);
		add(&f, 1, 0); /* an upper bound */
	}
	add(&f, 300, 0);
	assert_true(fits(&f));
	assert_int_equal(f.steps.count, 1);
	assert_int_equal(f.steps.ignored, 30);
}

/* Outliers at the beginning or at the end may belong to another jump. */
static void open_ends(void **state)
{
	(void)state;
	for (int end = 0; end < 2; end++) {
		static struct fixture f;

		f = (struct fixture){ .count = 0 };
		if (end) {
			add(&f, 200, 0);
			add(&f, 10, JUMP);
		} else {
			add(&f, 9, JUMP);
			add(&f, 200, 0);
		}
		assert_true(fits(&f));
		assert_int_equal(f.steps.count, 1);
		assert_int_equal(f.steps.ignored, end ? 10 : 9);
		assert_int_equal(f.steps.open_start, !end);
		assert_int_equal(f.steps.open_end, end);
		assert_true(f.steps.step_error_ns == UINT64_MAX);
		assert_int_equal(f.steps.piece[0].from_ns, f.bound[end ? 0 : 9].time_ns);
		assert_int_equal(f.steps.piece[0].to_ns, f.bound[end ? 199 : 208].time_ns);
	}
}

/* A clock with 64 jumps is accepted; with one more there is no line. */
static void many_steps(void **state)
{
	(void)state;
	for (uint32_t pieces = 64; pieces <= 66; pieces++) {
		static struct fixture f;

		f = (struct fixture){ .count = 0 };
		for (uint32_t i = 0; i < pieces; i++)
			add(&f, 18, i % 2 ? 20 * JUMP : 0);
		assert_int_equal(fits(&f), pieces <= 65);
		if (pieces <= 65)
			assert_int_equal(f.steps.count, pieces);
	}
}

/* Bounds of only one side make no piece. */
static void one_sided(void **state)
{
	(void)state;
	for (int upper = 0; upper < 2; upper++) {
		static struct fixture f;

		f = (struct fixture){ .count = 0 };
		add(&f, 100, 0);
		for (uint32_t i = 0; i < f.count; i++)
			f.bound[i].upper = upper;
		assert_false(fits(&f));
	}
}

/* Where each line is valid: pieces from 100 to 200 and from 300 to 400 ns. */
static void line_at(void **state)
{
	static const struct {
		uint64_t ns;
		uint32_t line;
		bool sure, open_sure, other;
	} CASES[] = {
		{ 99, 0, true, false, false }, { 100, 0, true, true, false },	{ 200, 0, true, true, false },
		{ 201, 0, false, false, true }, { 249, 0, false, false, true }, { 250, 1, false, false, true },
		{ 299, 1, false, false, true }, { 300, 1, true, true, false },	{ 400, 1, true, true, false },
		{ 401, 1, true, false, false },
	};
	struct clock_steps steps = { .piece = { { .from_ns = 100, .to_ns = 200 }, { .from_ns = 300, .to_ns = 400 } },
				     .count = 2 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct clock_line *other;
		bool sure;

		steps.open_start = steps.open_end = i % 2;
		assert_ptr_equal(clock_steps_at(&steps, CASES[i / 2].ns, &sure, &other), &steps.piece[CASES[i / 2].line].line);
		assert_int_equal(sure, i % 2 ? CASES[i / 2].open_sure : CASES[i / 2].sure);
		assert_ptr_equal(other, CASES[i / 2].other ? &steps.piece[!CASES[i / 2].line].line : NULL);
	}
	/* The second piece is outside of the count. */
	steps.count = 1;
	for (uint64_t ns = 99; ns < 500; ns++) {
		const struct clock_line *other;
		bool sure;

		assert_ptr_equal(clock_steps_at(&steps, ns, &sure, &other), &steps.piece[0].line);
		assert_int_equal(sure, ns >= 100 && ns <= 200);
		assert_null(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_piece),  cmocka_unit_test(two_pieces), cmocka_unit_test(outliers),
		cmocka_unit_test(outliers_again),
		cmocka_unit_test(open_ends),  cmocka_unit_test(many_steps), cmocka_unit_test(one_sided),
		cmocka_unit_test(line_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
