/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks in files: what they hold stays while pages are dropped and blocks grow; small ones are malloc()'s. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/cli/spill.h"

#define LARGE (512u << 20)

static const char *const FOLDERS[] = { "", "/nonexistent", "/dev/shm", "/var/tmp", "/tmp", NULL };

/* Bytes of files' pages that are in this process at most, as far as looked at. */
static size_t in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long shared = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %*u %lu", &shared), 1);
	fclose(file);
	return shared * 4096;
}

static void before(void **state)
{
	(void)state;
	assert_null(spill_new(SPILL_FROM));
	assert_false(spill_free(NULL));
}

static void keeps(void **state)
{
	char *block, *grown;

	(void)state;
	spill_into(FOLDERS, 0);
	assert_null(spill_new(SPILL_FROM - 1));
	assert_null(spill_new(SIZE_MAX));
	block = spill_new(SPILL_FROM + 1);
	if (!block)
		skip();
	assert_true(spill_size(block) > SPILL_FROM);
	assert_int_equal(spill_size(block + 4096), 0);
	for (size_t i = 0; i <= SPILL_FROM; i++)
		assert_int_equal(block[i], 0);
	memset(block, 7, SPILL_FROM + 1);
	assert_ptr_equal(spill_grow(block, 1), block);
	grown = spill_grow(block, 4u * SPILL_FROM);
	assert_non_null(grown);
	assert_int_equal(spill_size(grown), 4u * SPILL_FROM);
	assert_int_equal(grown[SPILL_FROM], 7);
	assert_int_equal(grown[4u * SPILL_FROM - 1], 0);
	assert_true(spill_free(grown));
	assert_false(spill_free(grown));
}

/* Far more is written and read than may be in use. */
static void bounded(void **state)
{
	uint64_t *block, most = 0;
	const size_t count = LARGE / sizeof(*block);

	(void)state;
	spill_into(FOLDERS, 0);
	block = spill_new(LARGE);
	if (!block)
		skip();
	for (size_t i = 0; i < count; i++) {
		block[i] = i * 3;
		if (i % (1u << 20) == 0 && in_use() > most)
			most = in_use();
	}
	for (size_t i = 0; i < count; i++)
		if (block[i] != i * 3)
			fail_msg("number %zu is %lu", i, (unsigned long)block[i]);
	assert_true(most < LARGE * 3ull / 4);
	assert_true(spill_free(block));
}

/* The first blocks are malloc()'s, until enough of them are in use. */
static void kept(void **state)
{
	void *block;

	(void)state;
	spill_into(FOLDERS, 2 * SPILL_FROM);
	assert_null(spill_new(SPILL_FROM));
	spill_note(SPILL_FROM, 0);
	spill_note(SPILL_FROM - 1, 0);
	assert_null(spill_new(SPILL_FROM));
	spill_note(SPILL_FROM, 0);
	block = spill_new(SPILL_FROM);
	if (!block)
		skip();
	assert_true(spill_free(block));
	spill_note(0, SPILL_FROM);
	assert_null(spill_new(SPILL_FROM));
	spill_note(0, SPILL_FROM);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(before), cmocka_unit_test(keeps),
					    cmocka_unit_test(bounded), cmocka_unit_test(kept) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
