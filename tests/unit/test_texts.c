/* SPDX-License-Identifier: Apache-2.0 */
/* Each key keeps its string, as long as calls refer to it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/events.h"
#include "daemon/profbpfd/session/texts.h"

#define HALF (TEXTS_MAX / 2)

static bool put(struct texts *texts, uint64_t key)
{
	char text[REC_STRING_LEN];
	int length = snprintf(text, sizeof(text), "text of %llu", (unsigned long long)key);

	return texts_put(texts, key, text, (size_t)length);
}

static void expect(struct texts *texts, uint64_t key, bool there)
{
	char text[REC_STRING_LEN], expected[REC_STRING_LEN] = "";

	if (there)
		snprintf(expected, sizeof(expected), "text of %llu", (unsigned long long)key);
	assert_int_equal(texts_get(texts, key, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

/* Any number of times, by any number of calls. */
static void gives_each_key_its_own(void **state)
{
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	expect(texts, 7, false);
	assert_false(texts_has(texts, 7));
	for (uint64_t key = 0; key < 100000; key++)
		assert_false(put(texts, key << 40 | key));
	for (int round = 0; round < 2; round++)
		for (uint64_t key = 0; key < 100000; key++)
			expect(texts, key << 40 | key, true);
	assert_true(texts_has(texts, 7ull << 40 | 7));
	expect(texts, 7, false);
	texts_free(texts);
}

/* Keys in use stay; the others are dropped when there are too many, which the result reports. */
static void forgets_what_nobody_names(void **state)
{
	struct texts *texts = texts_new();
	int forgot = 0;

	(void)state;
	assert_non_null(texts);
	put(texts, 1);
	put(texts, 2);
	for (uint64_t i = 0; i < 2 * (uint64_t)TEXTS_MAX; i++) {
		forgot += put(texts, 10 + i);
		if (i % 1000 == 0)
			assert_true(texts_has(texts, 1));
	}
	assert_int_equal(forgot, 3);
	expect(texts, 1, true);
	expect(texts, 2, false);
	assert_false(texts_has(texts, 2));
	expect(texts, 10, false);
	expect(texts, 9 + 2 * (uint64_t)TEXTS_MAX, true);
	/* The half that was added last always stays. */
	for (uint64_t i = 0; i < HALF; i++)
		expect(texts, 9 + 2 * (uint64_t)TEXTS_MAX - i, true);
	texts_free(texts);
}

static void puts_again(void **state)
{
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	for (int i = 0; i < 3 * TEXTS_MAX; i++)
		assert_false(put(texts, (uint64_t)i % 5));
	expect(texts, 4, true);
	texts_free(texts);
}

static void cuts_what_is_long(void **state)
{
	char text[8], letters[2 * REC_STRING_LEN];
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	memset(letters, 'x', sizeof(letters));
	texts_put(texts, 1, letters, sizeof(letters));
	assert_int_equal(texts_get(texts, 1, text, sizeof(text)), sizeof(text) - 1);
	assert_string_equal(text, "xxxxxxx");
	texts_put(texts, 2, "", 0);
	assert_int_equal(texts_get(texts, 2, text, sizeof(text)), 0);
	texts_free(texts);
	texts_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_each_key_its_own),
		cmocka_unit_test(forgets_what_nobody_names),
		cmocka_unit_test(puts_again),
		cmocka_unit_test(cuts_what_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
