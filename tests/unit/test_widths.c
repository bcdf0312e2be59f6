/* SPDX-License-Identifier: Apache-2.0 */
/* On a terminal no line of the text report is wider than the terminal; columns without room are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/view/render/table.h"
#include "analyzer/view/render/wrap.h"
#include "tests/unit/report_of.h"

/* view/overview.h has a name that report_of.h has, too. */
report_writer overview_text;

static void check_lines(const char *text, unsigned int width)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		size_t word = strspn(text, " ");

		word += strcspn(text + word, " \n");
		/* A single word is not cut. */
		if (wrap_columns(text, length) > width && word < length)
			fail_msg("%u columns: %.*s", width, (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static void check_report(report_writer *write, unsigned int width)
{
	const struct analysis_options wanted = { .top = 10 };
	const struct report_options options = { .sections = SECTION_ALL, .top = 10, .width = width };
	char *plain = report_of(sample_trace(0), &wanted, &options, write), *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(wrap_text(out, plain, width), 0);
	fclose(out);
	assert_in_range(strlen(text), 500, 1000000);
	check_lines(text, width);
	free(text);
	free(plain);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	static const unsigned int WIDTHS[] = { 60, 80, 120 };

	(void)state;
	for (size_t i = 0; i < sizeof(WIDTHS) / sizeof(WIDTHS[0]); i++) {
		check_report(report_text, WIDTHS[i]);
		check_report(overview_text, WIDTHS[i]);
	}
}

/* Returns a table of five columns, the third of them empty; the fourth may be shortened. */
static char *table_of(unsigned int width)
{
	const struct report_options options = { .width = width };
	struct table *table = table_new(&options);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	table_column(table, "name", TABLE_LEFT);
	table_column(table, "count", TABLE_RIGHT);
	table_column(table, "nothing", TABLE_LEFT);
	table_column(table, "where", TABLE_LEFT | TABLE_SHRINK);
	table_column(table, "time ms", TABLE_RIGHT);
	table_row(table);
	table_text(table, "first");
	table_count(table, 7);
	table_text(table, "");
	table_text(table, "a long place that may be cut");
	table_ms(table, 1234567);
	assert_int_equal(table_print(table, out), 0);
	table_free(table);
	fclose(out);
	return text;
}

static void expect_table(unsigned int width, const char *wanted)
{
	char *text = table_of(width);

	assert_string_equal(text, wanted);
	free(text);
}

static void columns_without_room_are_named(void **state)
{
	(void)state;
	expect_table(0, "name  count nothing where                        time ms\n"
			"first     7         a long place that may be cut   1.235\n");
	expect_table(36, "name  count where            time ms\n"
			 "first     7 a long ...be cut   1.235\n");
	expect_table(30, "name  count where\n"
			 "first     7 a long p... be cut\n"
			 "    no room for time ms\n");
	expect_table(9, "name  count\n"
			"first     7\n"
			"    no room for where, time ms\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(columns_without_room_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
