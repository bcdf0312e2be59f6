/* SPDX-License-Identifier: Apache-2.0 */
/* A map has what was put into it and not removed, whatever the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "lib/base/map.h"

#define KEYS 300
#define STEPS 200000

static uint64_t key_of(unsigned int i)
{
	return (uint64_t)i << (i % 3 * 20);
}

static void check_all(const struct map *map, const uint32_t *expected)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < KEYS; i++) {
		assert_int_equal(map_get(map, key_of(i)), expected[i]);
		count += expected[i] != MAP_NONE;
	}
	assert_int_equal(map->count, count);
}

/* The number of keys rises and falls, so that the map is nearly full at times. */
static void keys_come_and_go(void **state)
{
	uint32_t expected[KEYS];
	struct map map = { 0 };

	srandom(1);
	for (unsigned int i = 0; i < KEYS; i++)
		expected[i] = MAP_NONE;
	for (uint32_t step = 0; step < STEPS; step++) {
		unsigned int i = (unsigned int)random() % KEYS;

		if ((unsigned int)random() % 1000 < (step / 1000 % 2 ? 300 : 700)) {
			assert_true(map_put(&map, key_of(i), step));
			expected[i] = step;
		} else {
			map_remove(&map, key_of(i));
			expected[i] = MAP_NONE;
		}
		if (step % 100 == 0)
			check_all(&map, expected);
	}
	for (unsigned int i = 0; i < KEYS; i++)
		map_remove(&map, key_of(i));
	assert_int_equal(map.count, 0);
	map_free(&map);
}

static void an_empty_one_has_nothing(void **state)
{
	struct map map = { 0 };

	map_remove(&map, 1);
	assert_int_equal(map_get(&map, 1), MAP_NONE);
	map_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_come_and_go),
		cmocka_unit_test(an_empty_one_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
