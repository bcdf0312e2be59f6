/* SPDX-License-Identifier: Apache-2.0 */
/* Short slices of a row: which slices are merged, and that none is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/export/timeline/crowds.h"

struct slice {
	uint64_t start_ns, end_ns;
	char key;
	bool whole;
};

static void tell_done(const struct crowds *crowds, char *text, size_t size)
{
	const struct crowd *done = &crowds->done;
	size_t used = strlen(text);

	if (done->count)
		snprintf(text + used, size - used, "%c%u:%d-%d,%d ", done->alike ? (char)done->key : '?',
			 done->count, (int)done->start_ns, (int)done->end_ns, (int)done->in_ns);
}

/* Expects merged slices as KEY COUNT:START-END,IN and long ones as KEY, in the order in which they are written. */
static void expect(const char *wanted, uint64_t resolution_ns, const struct slice *slices)
{
	struct crowds crowds = { .resolution_ns = resolution_ns };
	char text[256] = "";

	for (; slices->key; slices++) {
		enum crowd_news news = crowd_take(&crowds, slices->start_ns, slices->end_ns,
						  (uint64_t)slices->key, slices->whole);

		tell_done(&crowds, text, sizeof(text));
		if (news == CROWD_PASSED)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c ", slices->key);
	}
	crowd_end(&crowds);
	tell_done(&crowds, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void short_neighbours_are_one(void **state)
{
	static const struct slice slices[] = { { 0, 2, 'a', false }, { 3, 5, 'a', false }, { 6, 7, 'a', false },
					       { 30, 31, 'a', false }, { 32, 33, 'b', false }, { 0 } };

	(void)state;
	expect("a3:0-7,5 ?2:30-33,2 ", 10, slices);
	expect("a a a a b ", 0, slices);
}

static void long_ones_and_what_is_whole_stand_apart(void **state)
{
	static const struct slice slices[] = { { 0, 2, 'a', false }, { 3, 33, 'L', false }, { 4, 5, 'a', false },
					       { 6, 7, 'a', false }, { 30, 33, 'a', false }, { 34, 35, 'a', false },
					       { 36, 37, 'w', true }, { 38, 39, 'a', false }, { 0 } };

	(void)state;
	/* A slice inside the long one is not merged with slices after it. */
	expect("a1:0-2,2 L a2:4-7,2 a1:30-33,3 a1:34-35,1 w a1:38-39,1 ", 10, slices);
}

static void what_is_inside_a_short_one_belongs_to_it(void **state)
{
	static const struct slice slices[] = { { 0, 8, 'a', false }, { 1, 4, 'i', false }, { 2, 3, 'j', false },
					       { 9, 12, 'a', false }, { 0 } };

	(void)state;
	expect("a4:0-12,11 ", 10, slices);
}

static void a_crowd_is_not_endless(void **state)
{
	struct slice slices[101] = { 0 };
	struct crowds crowds = { .resolution_ns = 10 };
	uint32_t count = 0, most = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		slices[i] = (struct slice){ 5 * i, 5 * i + 4, 'a', false };
		crowd_take(&crowds, slices[i].start_ns, slices[i].end_ns, 'a', false);
		count += crowds.done.count;
		most = crowds.done.count > most ? crowds.done.count : most;
		assert_true(crowds.done.count == 0 || crowds.done.end_ns - crowds.done.start_ns <= CROWD_LENGTH * 10);
	}
	crowd_end(&crowds);
	assert_int_equal(count + crowds.done.count, 100);
	assert_int_equal(most, 16);
}

static void more_is_kept_of_what_is_long(void **state)
{
	(void)state;
	assert_int_equal(crowds_kept(0), CROWDS_KEPT);
	assert_int_equal(crowds_kept(20 * UINT64_C(1000000000)), CROWDS_KEPT);
	assert_int_equal(crowds_kept(100 * UINT64_C(1000000000)), 100 * CROWDS_PER_SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_neighbours_are_one),
		cmocka_unit_test(long_ones_and_what_is_whole_stand_apart),
		cmocka_unit_test(what_is_inside_a_short_one_belongs_to_it),
		cmocka_unit_test(a_crowd_is_not_endless),
		cmocka_unit_test(more_is_kept_of_what_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
