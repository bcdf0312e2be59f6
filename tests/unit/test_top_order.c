/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that profctl top lists, and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/profctl/top/top_order.h"

static struct top_process processes[] = {
	{ .pid = 10, .parent = 1, .run_ns = 5, .rss_bytes = 70, .name = "sh", .cmdline = "sh run.sh" },
	{ .pid = 11, .parent = 10, .run_ns = 50, .rss_bytes = 10, .name = "python3", .target = true,
	  .cmdline = "python3 Train.py" },
	{ .pid = 12, .parent = 11, .run_ns = 1, .name = "pt_data_worker" },
	{ .pid = 13, .parent = 11, .run_ns = 9, .name = "pt_data_worker", .target = true },
	{ .pid = 20, .parent = 2, .run_ns = 30, .rss_bytes = 90, .name = "kworker" },
};

#define COUNT (sizeof(processes) / sizeof(processes[0]))

/* "11 13.1 12.1": pids, with their depth in a tree. */
static void expect(const char *wanted, const struct top_choice *choice)
{
	struct top_frame frame = { .processes = processes, .process_count = COUNT };
	struct top_row *rows;
	size_t count = top_order_rows(&frame, choice, &rows);
	char text[128] = "";

	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "", rows[i].process->pid);
		used = strlen(text);
		if (rows[i].depth)
			snprintf(text + used, sizeof(text) - used, ".%u", rows[i].depth);
	}
	free(rows);
	assert_string_equal(text, wanted);
}

static void sorts(void **state)
{
	expect("11 20 13 10 12", &(struct top_choice){ .order = TOP_BY_CPU });
	expect("20 10 11 12 13", &(struct top_choice){ .order = TOP_BY_MEMORY });
	expect("10 11 12 13 20", &(struct top_choice){ .order = TOP_BY_PID });
	expect("11 13", &(struct top_choice){ .targets_only = true });
}

static void filters(void **state)
{
	expect("11", &(struct top_choice){ .filter = "train" });
	expect("13 12", &(struct top_choice){ .filter = "DATA_" });
	expect("12", &(struct top_choice){ .filter = "12" });
	expect("", &(struct top_choice){ .filter = "1" });
	expect("", &(struct top_choice){ .filter = "nobody" });
}

static void puts_children_below_their_parents(void **state)
{
	expect("20 10 11.1 13.2 12.2", &(struct top_choice){ .tree = true });
	expect("10 11.1 12.2 13.2 20", &(struct top_choice){ .tree = true, .order = TOP_BY_PID });
	/* A process whose parent is not listed begins a tree. */
	expect("13 12", &(struct top_choice){ .tree = true, .filter = "data_" });
}

static void a_circle_of_parents_loses_nobody(void **state)
{
	processes[0].parent = 13;
	expect("20 11 13 10 12", &(struct top_choice){ .tree = true });
	processes[0].parent = 10;
	expect("20 10 11.1 13.2 12.2", &(struct top_choice){ .tree = true });
	processes[0].parent = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts),
		cmocka_unit_test(filters),
		cmocka_unit_test(puts_children_below_their_parents),
		cmocka_unit_test(a_circle_of_parents_loses_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
