/* SPDX-License-Identifier: Apache-2.0 */
/* test_texts.c - each call gets its own string, however many are under way. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bpf/events.h"
#include "daemon/profbpfd/texts.h"

#define CALLS 100000u

static void put(struct texts *texts, uint32_t tid, uint64_t ts_ns)
{
	char text[REC_STRING_LEN];
	int length = snprintf(text, sizeof(text), "%u at %llu", tid, (unsigned long long)ts_ns);

	texts_put(texts, tid, ts_ns, text, (size_t)length);
}

static void take(struct texts *texts, uint32_t tid, uint64_t ts_ns, bool there)
{
	char text[REC_STRING_LEN], expected[REC_STRING_LEN] = "";

	if (there)
		snprintf(expected, sizeof(expected), "%u at %llu", tid, (unsigned long long)ts_ns);
	assert_int_equal(texts_take(texts, tid, ts_ns, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

/* More than a second of a busy job, all put before the first is taken; in both orders. */
static void gives_each_call_its_own(void **state)
{
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CALLS; i++)
			put(texts, i % 7, 1000 + i / 7);
		for (uint32_t i = 0; i < CALLS; i++) {
			uint32_t call = round & 1 ? CALLS - 1 - i : i;

			take(texts, call % 7, 1000 + call / 7, true);
		}
		take(texts, 3, 1000, false);
	}
	texts_free(texts);
}

/* Calls that never return cost the room of their strings, and in the end these. */
static void drops_the_oldest(void **state)
{
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	put(texts, 1, 5);
	for (uint64_t i = 0; i < 2 * (uint64_t)TEXTS_MAX; i++) {
		put(texts, 2, 10 + i);
		take(texts, 2, 10 + i, true);
	}
	take(texts, 1, 5, true);
	put(texts, 1, 5);
	for (uint64_t i = 0; i < TEXTS_MAX; i++)
		put(texts, 2, 10 + i);
	take(texts, 1, 5, false);
	take(texts, 2, 10, false);
	take(texts, 2, 9 + (uint64_t)TEXTS_MAX, true);
	texts_free(texts);
}

static void cuts_what_is_long(void **state)
{
	char text[8], letters[2 * REC_STRING_LEN];
	struct texts *texts = texts_new();

	(void)state;
	assert_non_null(texts);
	memset(letters, 'x', sizeof(letters));
	texts_put(texts, 1, 1, letters, sizeof(letters));
	assert_int_equal(texts_take(texts, 1, 1, text, sizeof(text)), sizeof(text) - 1);
	assert_string_equal(text, "xxxxxxx");
	texts_put(texts, 1, 1, "", 0);
	assert_int_equal(texts_take(texts, 1, 1, text, sizeof(text)), 0);
	texts_free(texts);
	texts_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_each_call_its_own),
		cmocka_unit_test(drops_the_oldest),
		cmocka_unit_test(cuts_what_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
