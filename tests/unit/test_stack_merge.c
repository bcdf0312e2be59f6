/* SPDX-License-Identifier: Apache-2.0 */
/* Python functions merged into native frames: stacks as text, innermost first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/stack_merge.h"

#define TRUNCATED '~'

/*
 * merged - of @native, a letter per frame, "*" being the interpreter's loop; and @python, a letter per function, "|"
 * after the functions of one entry. A "~" at the end: there are more. Writes letters into @into.
 */
static void merged(const char *native, const char *python, char *into)
{
	struct native_frame frames[64];
	struct interpreted_frame functions[64];
	struct stack_parts parts = { .native = frames,
				     .native_whole = true,
				     .python = functions,
				     .python_whole = true };
	uint32_t ids[128], count;

	for (; *native; native++) {
		if (*native == TRUNCATED)
			parts.native_whole = false;
		else
			frames[parts.native_count++] = (struct native_frame){ (uint8_t)*native, *native == '*' };
	}
	for (; *python; python++) {
		if (*python == TRUNCATED)
			parts.python_whole = false;
		else if (*python == '|')
			functions[parts.python_count - 1].entry = true;
		else
			functions[parts.python_count++] =
				(struct interpreted_frame){ *python == '0' ? 0 : (uint8_t)*python, false };
	}
	count = stack_merge(&parts, ids);
	assert_in_range(count, 0, parts.native_count + parts.python_count);
	for (uint32_t i = 0; i < count; i++)
		into[i] = (char)ids[i];
	into[count] = '\0';
}

static const struct {
	const char *native, *python, *expected;
} scenes[] = {
	/* Without Python. */
	{ "abc", "", "abc" },
	{ "a*c", "", "a*c" },
	{ "", "", "" },
	/* Each entry's functions replace its frame of the loop. */
	{ "a*b", "X|", "aXb" },
	{ "a*b*c", "XY|Z|", "aXYbZc" },
	{ "**", "X|Y|", "XY" },
	/* The loop has just been entered, for the first time or again. */
	{ "*b", "", "*b" },
	{ "*a*b", "X|", "*aXb" },
	{ "*a*b", "0|X|", "*aXb" },
	/* Functions that could not be read are left out. */
	{ "a*b", "X0Y|", "aXYb" },
	/* No function could be read: the process has ended. */
	{ "a*b", "0|", "a*b" },
	{ "a*b*c", "0|00|", "a*b*c" },
	{ "a*b", "0|0|", "a*b" },
	/* The native stack is truncated: matched from the innermost frame. */
	{ "a*b*~", "X|Y|Z|", "aXbYZ" },
	{ "a~", "X|Y|", "aXY" },
	{ "~", "XY|", "XY" },
	/* There are more functions than were read: the caller of the last one is unknown. */
	{ "a*b*c*d", "X|YZ~", "aXbYZ" },
	{ "a*b", "XYZ~", "aXYZ" },
	/* A frame of the loop that is not recognized. */
	{ "a*b*c", "X|Y|Z|", "aXYZc" },
	{ "a*c", "X|Y|", "aXYc" },
};

static void parts_put_together(void **state)
{
	char text[256];

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		merged(scenes[i].native, scenes[i].python, text);
		assert_string_equal(text, scenes[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parts_put_together) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
