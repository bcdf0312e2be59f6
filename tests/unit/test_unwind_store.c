/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of much code: they are used while they are made, and taken back if they cannot be made after all. Needs root. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/unwind_store.h"

#define OWNER 0
#define PAGE (1ull << UNWIND_PAGE_SHIFT)
#define FIRST (3 * PAGE + 16) /* address of the first rule */
#define PAGES 40ull

static const struct table_room ROOM = { .words = UNWIND_WORDS, .rules = UNWIND_RULES, .files = 64 };
static const struct table_room NONE = { 0 };

/* Code with a rule in each page, and the mapping by which programs use its table. */
struct code {
	struct unwind_store *store;
	struct table_shares *shares;
	uint64_t pages; /* with rules */
	uint64_t bad; /* page at which reading fails; 0: none */
	struct unwind_mapping mapping;
	int begun, failed;
	bool checked;
};

static void start(struct code *c)
{
	*c = (struct code){ .store = unwind_store_new(), .pages = PAGES };
	if (!c->store && errno == EPERM)
		skip();
	assert_non_null(c->store);
	c->shares = table_shares_new(&ROOM);
	assert_non_null(c->shares);
	assert_int_equal(table_shares_take(c->shares, OWNER, &NONE), 0);
}

static void stop(struct code *c)
{
	table_shares_free(c->shares);
	unwind_store_free(c->store);
}

static void begun(void *context, const struct unwind_table *table)
{
	struct code *c = context;

	c->begun++;
	c->mapping = (struct unwind_mapping){ .start = 0, .end = 2 * PAGES * PAGE };
	c->mapping.pages = table->pages;
	c->mapping.list = table->list;
	c->mapping.base = table->first;
}

static void failed(void *context)
{
	struct code *c = context;

	c->failed++;
}

/* Returns the number of bytes in the rule of page @page; 0: none. */
static int cfa_in(const struct code *c, uint64_t page)
{
	struct unwind_rule rule;
	uint64_t address = FIRST + page * PAGE;

	return unwind_store_rule(c->store, &c->mapping, address, &rule) && rule.kind == UNWIND_STACK ? rule.cfa : 0;
}

/* While page @page is made, the ones before it are there. */
static void check(struct code *c, uint64_t page)
{
	if (!c->begun)
		return;
	c->checked = true;
	for (uint64_t i = 0; i + 1 < page && i < c->mapping.pages; i++)
		assert_int_equal(cfa_in(c, i), 8 * (i + 1));
	for (uint64_t i = page; i < 2 * PAGES; i++)
		assert_int_equal(cfa_in(c, i), 0);
}

static int read_code(const void *code, frame_rule_taker *take, void *context)
{
	const struct code *c = code;
	int err = 0;

	for (uint64_t i = 0; !err && i < c->pages; i++) {
		const struct frame_rule rule = { .kind = FRAME_RULE_STACK, .back = -1, .cfa = 8 * ((int32_t)i + 1) };

		check((struct code *)code, i);
		err = c->bad && i == c->bad ? -ENOENT : take(context, FIRST + i * PAGE, &rule);
	}
	return err;
}

static int add(struct code *c, uint64_t end, struct unwind_table *table)
{
	const struct unwind_source source = { read_code, c, end, begun, failed, c };

	return unwind_store_add(c->store, &source, c->shares, OWNER, table);
}

static void a_large_table_is_used_while_it_is_made(void **state)
{
	struct code c;
	struct unwind_table table;

	start(&c);
	assert_int_equal(add(&c, FIRST + PAGES * PAGE, &table), 0);
	assert_true(c.checked && c.begun == 1 && !c.failed);
	assert_int_equal(table.list, c.mapping.list);
	assert_int_equal(table.pages, c.mapping.pages);
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(cfa_in(&c, i), 8 * (i + 1));
	unwind_store_remove(c.store, c.shares, OWNER, &table);
	stop(&c);
}

static void a_small_one_is_not(void **state)
{
	struct code c;
	struct unwind_table table;

	start(&c);
	c.pages = UNWIND_SOON_PAGES / 2;
	assert_int_equal(add(&c, FIRST + c.pages * PAGE, &table), 0);
	assert_int_equal(c.begun, 0);
	assert_int_equal(table.pages, c.pages);
	unwind_store_remove(c.store, c.shares, OWNER, &table);
	stop(&c);
}

static void one_that_fails_is_taken_back(void **state)
{
	struct code c;
	struct unwind_table table;

	start(&c);
	c.bad = PAGES / 2;
	assert_int_equal(add(&c, FIRST + PAGES * PAGE, &table), -ENOENT);
	assert_true(c.begun == 1 && c.failed == 1);
	assert_int_equal(table_shares_left(c.shares, OWNER).words, ROOM.words);
	assert_int_equal(table_shares_left(c.shares, OWNER).rules, ROOM.rules);
	stop(&c);
}

/* A hostile file may have entries for addresses behind its code. */
static void rules_behind_the_code_are_left_out(void **state)
{
	struct code c;
	struct unwind_table table;
	uint64_t within = PAGES * 9 / 10;

	start(&c);
	assert_int_equal(add(&c, FIRST + (within - 1) * PAGE, &table), 0);
	assert_int_equal(table.pages, within);
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(cfa_in(&c, i), i < within ? 8 * (i + 1) : 0);
	unwind_store_remove(c.store, c.shares, OWNER, &table);
	stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_table_is_used_while_it_is_made),
		cmocka_unit_test(a_small_one_is_not),
		cmocka_unit_test(one_that_fails_is_taken_back),
		cmocka_unit_test(rules_behind_the_code_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
