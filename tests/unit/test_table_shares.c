/* SPDX-License-Identifier: Apache-2.0 */
/* Each user's share of the room for unwind tables. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <setjmp.h>
#include <cmocka.h>

#include "daemon/profbpfd/stacks/table_shares.h"

#define ROOT 0
#define ALICE 1000
#define BOB 1001
#define EVERYBODY ((uid_t)-1)

static const struct table_room ALL = { .words = 8000, .rules = 800, .files = 80 };

/* Takes all words that @owner can get; returns their number. */
static uint64_t fill(struct table_shares *shares, uid_t owner)
{
	struct table_room left = table_shares_left(shares, owner);

	assert_int_equal(table_shares_take(shares, owner, &left), 0);
	return left.words;
}

static void expect_left(const struct table_shares *shares, uid_t owner, uint64_t words)
{
	struct table_room left = table_shares_left(shares, owner);

	assert_int_equal(left.words, words);
	assert_int_equal(left.rules, words / 10);
	assert_int_equal(left.files, words / 100);
}

static void one_user_leaves_room(void **state)
{
	struct table_shares *shares = table_shares_new(&ALL);

	assert_int_equal(fill(shares, ALICE), 3000);
	expect_left(shares, ALICE, 0);
	expect_left(shares, ROOT, 5000);
	assert_int_equal(table_shares_left(shares, BOB).words, 1500);
	table_shares_free(shares);
}

static void there_is_always_some_left(void **state)
{
	struct table_shares *shares = table_shares_new(&ALL);
	uint64_t sum = 0;

	for (uid_t user = ALICE; user < ALICE + 8; user++) {
		uint64_t got = fill(shares, user);

		assert_true(got > 0);
		sum += got;
	}
	assert_true(sum <= 6000);
	assert_true(fill(shares, ROOT) >= 2000);
	table_shares_free(shares);
}

static void root_may_have_all(void **state)
{
	const struct table_room half = { .words = 4000, .rules = 400, .files = 40 };
	struct table_shares *shares = table_shares_new(&ALL);

	expect_left(shares, ROOT, 8000);
	assert_int_equal(table_shares_take(shares, ROOT, &half), 0);
	expect_left(shares, ALICE, 2000);
	assert_int_equal(fill(shares, ALICE), 2000);
	assert_int_equal(fill(shares, ROOT), 2000);
	expect_left(shares, ROOT, 0);
	expect_left(shares, ALICE, 0);
	assert_int_equal(table_shares_left(shares, BOB).words, 0);
	table_shares_free(shares);
}

/* A user with a started share gets the rest of it, not another one. */
static void a_share_is_one(void **state)
{
	const struct table_room some = { .words = 2900, .rules = 290, .files = 29 };
	struct table_shares *shares = table_shares_new(&ALL);

	assert_int_equal(table_shares_take(shares, ALICE, &some), 0);
	expect_left(shares, ALICE, 100);
	assert_int_equal(fill(shares, BOB), 1550);
	expect_left(shares, ALICE, 0);
	table_shares_free(shares);
}

static void files_are_their_owners(void **state)
{
	assert_int_equal(table_payer(ALICE, ROOT), ALICE);
	assert_int_equal(table_payer(ALICE, BOB), ALICE);
	assert_int_equal(table_payer(EVERYBODY, BOB), BOB);
	assert_int_equal(table_payer(EVERYBODY, ROOT), ROOT);
}

static void what_is_given_may_be_had_again(void **state)
{
	const struct table_room some = { .words = 1000, .rules = 100, .files = 10 };
	struct table_shares *shares = table_shares_new(&ALL);

	assert_int_equal(fill(shares, ALICE), 3000);
	table_shares_give(shares, ALICE, &some);
	expect_left(shares, ALICE, 1000);
	expect_left(shares, ROOT, 6000);
	assert_int_equal(fill(shares, ALICE), 1000);
	assert_int_equal(table_shares_take(shares, ROOT, &some), 0);
	table_shares_give(shares, ROOT, &some);
	expect_left(shares, ROOT, 5000);
	table_shares_free(shares);
}

/* A user who requests endless tables may spend one nanosecond in TABLE_TIME_SHARE on them; root any number. */
static void time_is_shared(void **state)
{
	const struct table_room none = { 0 };
	const uint64_t now_ns = 1000 * TABLE_TIME_NS;
	struct table_shares *shares = table_shares_new(&ALL);

	assert_int_equal(table_shares_take(shares, ALICE, &none), 0);
	table_shares_spend(shares, ALICE, TABLE_TIME_NS - 1, now_ns);
	assert_true(table_shares_in_time(shares, ALICE, now_ns));
	table_shares_spend(shares, ALICE, 2, now_ns);
	assert_false(table_shares_in_time(shares, ALICE, now_ns));
	assert_true(table_shares_in_time(shares, BOB, now_ns));
	assert_true(table_shares_in_time(shares, ALICE, now_ns + 2 * TABLE_TIME_SHARE));
	table_shares_spend(shares, ALICE, TABLE_TIME_NS, now_ns + 2 * TABLE_TIME_SHARE * TABLE_TIME_NS);
	assert_false(table_shares_in_time(shares, ALICE, now_ns + 2 * TABLE_TIME_SHARE * TABLE_TIME_NS));
	table_shares_spend(shares, ROOT, 100 * TABLE_TIME_NS, now_ns);
	assert_true(table_shares_in_time(shares, ROOT, now_ns));
	table_shares_free(shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_user_leaves_room), cmocka_unit_test(there_is_always_some_left),
		cmocka_unit_test(root_may_have_all),	cmocka_unit_test(a_share_is_one),
		cmocka_unit_test(files_are_their_owners), cmocka_unit_test(what_is_given_may_be_had_again),
		cmocka_unit_test(time_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
