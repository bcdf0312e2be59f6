/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a process, whatever the owner of its folder in /proc is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/process_owner.h"

static void test_own(void **state)
{
	(void)state;
	assert_int_equal(process_owner(getpid()), getuid());
}

/* Its folder in /proc then belongs to root. */
static void test_not_dumpable(void **state)
{
	(void)state;
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
	assert_int_equal(process_owner(getpid()), getuid());
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
}

static void test_gone(void **state)
{
	(void)state;
	assert_int_equal(process_owner(0x7fffffff), (uid_t)-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_not_dumpable),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
