/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings in which a process was seen running come first, each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/profbpfd/stacks/seen_code.h"

static struct code_map map[4] = { { .map = { .start = 0x1000, .end = 0x2000 } },
				  { .map = { .start = 0x2000, .end = 0x3000 } },
				  { .map = { .start = 0x5000, .end = 0x6000 } },
				  { .map = { .start = 0x7000, .end = 0x8000 } } };
static const struct code_maps maps = { map, 4 };

static void test_order(void **state)
{
	struct seen_code seen = { .count = 0 };
	uint32_t places[] = { 3, 0, 1, 2 };
	static const uint32_t want[] = { 2, 1, 0, 3 };

	(void)state;
	seen_code_add(&seen, 0x5fff);
	seen_code_add(&seen, 0x4000); /* no code */
	seen_code_add(&seen, 0x2000);
	seen_code_add(&seen, 0x5000);
	seen_code_first(&seen, &maps, places, 4);
	assert_memory_equal(places, want, sizeof(want));
	/* The list is cleared. */
	seen_code_first(&seen, &maps, places, 4);
	assert_memory_equal(places, want, sizeof(want));
}

static void test_missing(void **state)
{
	struct seen_code seen = { .count = 0 };
	uint32_t places[] = { 3, 1 };
	static const uint32_t want[] = { 1, 3 };

	(void)state;
	for (int i = 0; i < 3 * SEEN_CODE_MAX; i++)
		seen_code_add(&seen, 0x1000);
	seen_code_add(&seen, 0x2010);
	seen_code_first(&seen, &maps, places, 2);
	assert_memory_equal(places, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_missing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
