/* SPDX-License-Identifier: Apache-2.0 */
/* Names are kept only if all functions that can change them are probed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "daemon/profbpfd/probe/kept_names.h"

static const struct catalog ours, others;
static const struct catalog_function kept = { .names = NAMES_KEPT, .catalog = &ours };
static const struct catalog_function first = { .names = NAMES_CHANGED, .catalog = &ours };
static const struct catalog_function second = { .names = NAMES_CHANGED, .catalog = &ours };
static const struct catalog_function elsewhere = { .names = NAMES_CHANGED, .catalog = &others };

static bool hold(const struct catalog_function *probed, const struct catalog_function *not_probed)
{
	struct probed_function functions[] = { { .entry = &kept }, { .entry = probed } };
	struct refused_function refused[] = { { .entry = not_probed } };
	const struct probed_file file = { .functions = functions,
					  .count = probed ? 2 : 1,
					  .refused = refused,
					  .refused_count = not_probed ? 1 : 0 };

	return kept_names_hold(&file, &kept);
}

/* Its callers may contain inlined copies of it. */
static void does_not_trust_inline_functions(void **state)
{
	struct probed_function functions[] = { { .entry = &kept },
					       { .entry = &first },
					       { .entry = &second, .weak = true } };
	struct probed_file file = { .functions = functions, .count = 3 };

	assert_false(kept_names_hold(&file, &kept));
	functions[2].entry = &elsewhere;
	assert_true(kept_names_hold(&file, &kept));
}

static void knows_what_changes_them(void **state)
{
	assert_true(hold(&first, NULL));
	assert_true(hold(&first, &kept));
	assert_true(hold(&first, &elsewhere));
	assert_false(hold(NULL, NULL));
	assert_false(hold(&elsewhere, NULL));
	assert_false(hold(&first, &second));
	assert_false(hold(NULL, &first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_changes_them),
		cmocka_unit_test(does_not_trust_inline_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
