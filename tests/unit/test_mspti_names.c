/* SPDX-License-Identifier: Apache-2.0 */
/* Directions of copies, as MSPTI numbers them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/mspti.h"

/* msptiActivityMemcpyKind of mspti_activity.h, CANN 8.0 to 9: UNKNOWN, HTOH, HTOD, DTOH, DTOD, DEFAULT. */
static void copies(void **state)
{
	static const char *const NAMES[] = { "Memcpy",	    "Memcpy HtoH", "Memcpy HtoD",
					     "Memcpy DtoH", "Memcpy DtoD", "Memcpy" };

	(void)state;
	for (int32_t kind = 0; kind < 6; kind++)
		assert_string_equal(mspti_copy_name(kind), NAMES[kind]);
	assert_string_equal(mspti_copy_name(-1), "Memcpy");
	assert_string_equal(mspti_copy_name(6), "Memcpy");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(copies) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
