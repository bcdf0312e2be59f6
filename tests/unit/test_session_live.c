/* SPDX-License-Identifier: Apache-2.0 */
/* The instant at which a session's starter learns that it is live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/profbpfd/session/session.h"

static void not_before_targets_are_in_their_table(void **state)
{
	struct session_info info = { .state = SESSION_STARTING };

	assert_false(session_was_live(&info));
	info.start_ns = 1;
	assert_false(session_was_live(&info));
	info.state = SESSION_LIVE;
	assert_true(session_was_live(&info));
}

static void also_where_it_ended_at_once(void **state)
{
	struct session_info info = { .state = SESSION_ENDED, .start_ns = 1 };

	assert_true(session_was_live(&info));
	info.failed = true;
	assert_false(session_was_live(&info));
	info = (struct session_info){ .state = SESSION_ENDED };
	assert_false(session_was_live(&info));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_before_targets_are_in_their_table),
		cmocka_unit_test(also_where_it_ended_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
