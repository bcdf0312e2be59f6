/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the analyzer's options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyzer/cli/command_line.h"
#include "analyzer/view/report.h"

static void option_values(void **state)
{
	uint32_t *pids_given = NULL, count = 0, chosen = 0;

	assert_true(parse_numbers("1,22,333", &pids_given, &count));
	assert_int_equal(count, 3);
	assert_int_equal(pids_given[2], 333);
	free(pids_given);
	assert_false(parse_numbers("", &pids_given, &count));
	assert_false(parse_numbers("1,", &pids_given, &count));
	assert_false(parse_numbers("1;2", &pids_given, &count));
	assert_false(parse_numbers("0", &pids_given, &count));
	assert_false(parse_numbers("-1", &pids_given, &count));
	assert_true(parse_sections("api,trace", &chosen));
	assert_int_equal(chosen, SECTION_API | SECTION_TRACE);
	assert_false(parse_sections("api,", &chosen));
	assert_false(parse_sections("ap", &chosen));
	assert_false(parse_sections("", &chosen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(option_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
