/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that a flight recorder's writer describes in each segment: the live ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/known_tasks.h"

static void tell(struct known_tasks *known, uint32_t tid, uint32_t event)
{
	struct task_row row = { .record = { .tid = tid, .tgid = tid, .event = event }, .cmdline = strdup("a command") };
	struct item *item = item_new(ITEM_TASKS, 0);

	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	known_tasks_note(known, item);
	item_free(item);
}

static void has_figures(struct known_tasks *known, uint32_t tid)
{
	struct rec_account row = { .tid = tid };
	struct item *item = item_new(ITEM_RECORDS, 0);

	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	known_tasks_alive(known, item);
	item_free(item);
}

static uint32_t count(const struct known_tasks *known)
{
	struct item *item = known_tasks_rows(known);
	uint32_t rows = item->count;

	item->count = 0;
	item_free(item);
	return rows;
}

static void who_is_not_heard_of_is_forgotten(void **state)
{
	struct known_tasks known = { 0 };

	(void)state;
	for (uint32_t tid = 1; tid <= 1000; tid++)
		tell(&known, tid, TASK_SEEN);
	tell(&known, 7, TASK_RENAME);
	tell(&known, 8, TASK_EXIT);
	tell(&known, 9999, TASK_EXIT);
	assert_int_equal(count(&known), 999);
	for (uint32_t turn = 0; turn < 5; turn++) {
		for (uint32_t tid = 1; tid <= 100; tid++)
			has_figures(&known, tid);
		known_tasks_turn(&known);
		assert_int_equal(count(&known), turn < 2 ? 999 : 99);
	}
	/* A new thread has two turns, too. */
	tell(&known, 2000, TASK_SEEN);
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t tid = 1; tid <= 100; tid++)
			has_figures(&known, tid);
		known_tasks_turn(&known);
		assert_int_equal(count(&known), 100);
	}
	/* Turns without any figures remove no thread. */
	for (uint32_t turn = 0; turn < 5; turn++)
		known_tasks_turn(&known);
	assert_int_equal(count(&known), 100);
	known_tasks_free(&known);
	assert_int_equal(count(&known), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_not_heard_of_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
