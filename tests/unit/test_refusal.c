/* SPDX-License-Identifier: Apache-2.0 */
/* From libbpf's output the name of the refused program and the verifier's reason are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/capture/refusal.h"

static void test_reason_is_the_last_line_but_the_account(void **state)
{
	struct refusal refusal = { 0 };

	(void)state;
	assert_true(refusal_read(
		"libbpf: prog 'on_sample': BPF program load failed: Permission denied\n",
		&refusal));
	assert_string_equal(refusal.program, "on_sample");
	assert_string_equal(refusal.reason, "");
	assert_true(refusal_read("libbpf: prog 'on_sample': -- BEGIN PROG LOAD LOG --\n"
				 "704: (79) r0 = *(u64 *)(r2 +8)\n"
				 "R2 max value is outside of the allowed memory range\n"
				 "processed 14299 insns (limit 1000000)\n"
				 "-- END PROG LOAD LOG --\n",
				 &refusal));
	assert_string_equal(refusal.program, "on_sample");
	assert_string_equal(refusal.reason, "R2 max value is outside of the allowed memory range");
}

static void test_log_without_a_reason(void **state)
{
	struct refusal refusal = { .reason = "of another" };

	(void)state;
	assert_true(refusal_read("prog 'p': -- BEGIN PROG LOAD LOG --\n"
				 "processed 1 insns\n-- END PROG LOAD LOG --\n",
				 &refusal));
	assert_string_equal(refusal.reason, "");
	assert_true(refusal_read("prog 'p': -- BEGIN PROG LOAD LOG --\ncut off", &refusal));
	assert_string_equal(refusal.reason, "");
}

static void test_other_messages_change_nothing(void **state)
{
	struct refusal refusal = { .program = "kept" };

	(void)state;
	assert_false(refusal_read("libbpf: prog 'p': failed to create tracepoint\n", &refusal));
	assert_false(refusal_read("libbpf: failed to load object 'profbpf'\n", &refusal));
	assert_false(refusal_read("libbpf: prog 'without an end", &refusal));
	assert_string_equal(refusal.program, "kept");
}

static void test_long_texts_are_cut(void **state)
{
	struct refusal refusal = { 0 };
	char message[2048];
	size_t at = 0;

	(void)state;
	at += (size_t)sprintf(message, "prog '");
	memset(message + at, 'n', 500);
	at += 500;
	at += (size_t)sprintf(message + at, "': -- BEGIN PROG LOAD LOG --\n");
	memset(message + at, 'r', 500);
	sprintf(message + at + 500, "\n-- END PROG LOAD LOG --\n");
	assert_true(refusal_read(message, &refusal));
	assert_int_equal(strlen(refusal.program), sizeof(refusal.program) - 1);
	assert_int_equal(strlen(refusal.reason), sizeof(refusal.reason) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reason_is_the_last_line_but_the_account),
		cmocka_unit_test(test_log_without_a_reason),
		cmocka_unit_test(test_other_messages_change_nothing),
		cmocka_unit_test(test_long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
