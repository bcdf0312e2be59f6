/* SPDX-License-Identifier: Apache-2.0 */
/* Rules are found by their number as long as a table contains them, and no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/rule_numbers.h"

#define ALICE 1000
#define BOB 1001
#define RULES 3000

static struct unwind_rule rules[UNWIND_RULES];

static struct unwind_rule rule(int32_t i)
{
	return (struct unwind_rule){ .kind = UNWIND_STACK, .cfa = 8 * i, .back = (int16_t)(i % 7) };
}

static uint16_t add(struct rule_numbers *numbers, int32_t i, uid_t payer)
{
	const struct unwind_rule wanted = rule(i);
	uint16_t number = rule_numbers_add(numbers, &wanted, payer);

	assert_true(number);
	rule_numbers_have(numbers, number);
	assert_memory_equal(&rules[number], &wanted, sizeof(wanted));
	return number;
}

static uint16_t find(const struct rule_numbers *numbers, int32_t i)
{
	const struct unwind_rule wanted = rule(i);

	return rule_numbers_find(numbers, &wanted);
}

static void the_last_table_gives_it_back(void **state)
{
	struct rule_numbers *numbers = rule_numbers_new(rules);
	uint16_t number = add(numbers, 1, ALICE);
	uid_t payer = 0;

	rule_numbers_have(numbers, number);
	assert_false(rule_numbers_drop(numbers, number, &payer));
	assert_int_equal(find(numbers, 1), number);
	assert_true(rule_numbers_drop(numbers, number, &payer));
	assert_int_equal(payer, ALICE);
	assert_int_equal(find(numbers, 1), 0);
	assert_int_equal(add(numbers, 2, BOB), number);
	rule_numbers_free(numbers);
}

static void another_one_pays(void **state)
{
	struct rule_numbers *numbers = rule_numbers_new(rules);
	uint16_t number = add(numbers, 1, ALICE);
	uid_t payer = 0;

	assert_false(rule_numbers_move(numbers, number, BOB, ALICE));
	assert_true(rule_numbers_move(numbers, number, ALICE, BOB));
	assert_true(rule_numbers_drop(numbers, number, &payer));
	assert_int_equal(payer, BOB);
	rule_numbers_free(numbers);
}

/* All others are still found after one between them was removed. */
static void each_is_found(void **state)
{
	struct rule_numbers *numbers = rule_numbers_new(rules);
	uint16_t number[RULES] = { 0 };
	uid_t payer;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		int32_t which = rand() % RULES;

		assert_int_equal(find(numbers, which), number[which]);
		if (number[which])
			assert_true(rule_numbers_drop(numbers, number[which], &payer));
		number[which] = number[which] ? 0 : add(numbers, which, ALICE);
	}
	for (int32_t i = 0; i < RULES; i++)
		assert_int_equal(find(numbers, i), number[i]);
	rule_numbers_free(numbers);
}

static void there_are_only_so_many(void **state)
{
	struct rule_numbers *numbers = rule_numbers_new(rules);
	const struct unwind_rule more = rule(UNWIND_RULES);
	uid_t payer;

	for (int32_t i = 1; i < UNWIND_RULES; i++) {
		assert_false(rule_numbers_full(numbers));
		add(numbers, i, ALICE);
	}
	assert_true(rule_numbers_full(numbers));
	assert_int_equal(rule_numbers_add(numbers, &more, ALICE), 0);
	assert_true(rule_numbers_drop(numbers, 77, &payer));
	assert_int_equal(rule_numbers_add(numbers, &more, ALICE), 77);
	rule_numbers_free(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_table_gives_it_back),
		cmocka_unit_test(another_one_pays),
		cmocka_unit_test(each_is_found),
		cmocka_unit_test(there_are_only_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
