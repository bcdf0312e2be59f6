/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are called so often that the ends of their calls are no longer recorded, and when they are again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/profbpfd/probe/hot_functions.h"

#define CALL_NS 3000 /* with a budget of 3 %: 10,000 calls per second */
#define BUDGET 0.03

struct table {
	struct hot_function function[3];
	struct hot_function *pointers[3];
	struct hot_watch watch;
};

static bool look_for(struct table *t, const double *rates, const uint32_t *call_ns, double most, double room)
{
	for (int i = 0; i < 3; i++) {
		t->function[i].calls_per_second = rates[i];
		t->function[i].call_ns = call_ns ? call_ns[i] : CALL_NS;
		t->pointers[i] = &t->function[i];
	}
	return hot_functions_judge(&t->watch, t->pointers, 3, most, room);
}

static bool look(struct table *t, double a, double b, double c)
{
	return look_for(t, (double[]){ a, b, c }, NULL, BUDGET, BUDGET);
}

static void test_bursts_do_not_count(void **state)
{
	struct table t = { 0 };

	for (int i = 0; i < 10; i++) {
		assert_true(!look(&t, 1e6, 0, 0));
		assert_true(!look(&t, 1e6, 0, 0));
		assert_true(!look(&t, 5000, 0, 0));
	}
	assert_true(!t.function[0].hot);
}

static void test_only_the_costliest(void **state)
{
	struct table t = { 0 };

	assert_true(!look(&t, 4000, 50000, 3000));
	assert_true(!look(&t, 4000, 50000, 3000));
	assert_true(look(&t, 4000, 50000, 3000));
	assert_true(!t.function[0].hot && t.function[1].hot && !t.function[2].hot);
	/* The remaining 7,000 calls fit. */
	for (int i = 0; i < 10; i++)
		assert_true(!look(&t, 4000, 50000, 3000));
}

static void test_many_small_ones(void **state)
{
	struct table t = { 0 };

	for (int i = 0; i < 2; i++)
		assert_true(!look(&t, 6000, 5000, 4000));
	assert_true(look(&t, 6000, 5000, 4000));
	/* 15,000 calls are too many; the remaining 9,000 still exceed the target of 8,000. */
	assert_true(t.function[0].hot && t.function[1].hot && !t.function[2].hot);
}

static void test_cools(void **state)
{
	struct table t = { 0 };

	for (int i = 0; i < HOT_TICKS; i++)
		look(&t, 0, 50000, 1000);
	assert_true(t.function[1].hot);
	/* Half of the budget is 5,000 calls. */
	for (int i = 0; i < 10; i++)
		assert_true(!look(&t, 0, 4500, 1000));
	assert_true(!look(&t, 0, 3900, 1000));
	assert_true(!look(&t, 0, 3900, 1000));
	assert_true(look(&t, 0, 3900, 1000));
	assert_true(!t.function[1].hot);
}

static void test_no_price_no_change(void **state)
{
	const uint32_t none[] = { 0, 0, 0 };
	struct table t = { 0 };

	for (int i = 0; i < 10; i++)
		assert_true(!look_for(&t, (double[]){ 1e9, 1e9, 1e9 }, none, BUDGET, BUDGET));
	assert_true(!t.function[0].hot);
}

/* The most expensive function is not the most frequent one. */
static void test_each_its_price(void **state)
{
	const uint32_t prices[] = { 4000, 500, 500 };
	struct table t = { 0 };

	/* 2.4, 1 and 0.25 %. */
	for (int i = 0; i < HOT_TICKS; i++)
		look_for(&t, (double[]){ 6000, 20000, 5000 }, prices, BUDGET, BUDGET);
	assert_true(t.function[0].hot && !t.function[1].hot && !t.function[2].hot);
}

/* Other costs leave less for functions; a function returns only if it fits into half of what is left. */
static void test_what_the_rest_leaves(void **state)
{
	struct table t = { 0 };
	double rates[] = { 4000, 2000, 0 };

	for (int i = 0; i < 10; i++)
		assert_true(!look_for(&t, rates, NULL, BUDGET, 0.01));
	for (int i = 0; i < HOT_TICKS; i++)
		look_for(&t, rates, NULL, 0.01, 0.01);
	assert_true(t.function[0].hot && !t.function[1].hot);
	for (int i = 0; i < 10; i++)
		assert_true(!look_for(&t, rates, NULL, BUDGET, 0.03));
	for (int i = 0; i < HOT_TICKS; i++)
		look_for(&t, rates, NULL, BUDGET, 0.04);
	assert_true(!t.function[0].hot);
	/* No budget is left. */
	for (int i = 0; i < HOT_TICKS; i++)
		look_for(&t, rates, NULL, 0, 0);
	assert_true(t.function[0].hot && t.function[1].hot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts_do_not_count),
		cmocka_unit_test(test_only_the_costliest),
		cmocka_unit_test(test_many_small_ones),
		cmocka_unit_test(test_cools),
		cmocka_unit_test(test_no_price_no_change),
		cmocka_unit_test(test_each_its_price),
		cmocka_unit_test(test_what_the_rest_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
