/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas of an ordinary user: each limit separately, and changes of limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/control/quotas.h"

#define GIB (1ull << 30)

static const struct quotas small = {
	.sessions = 2, .memory_bytes = GIB, .processes = 10, .functions = 5, .catalog_bytes = 1000
};

/* Returns the message for a user, NULL if the wish is allowed. */
static const char *refused(struct quota_use use, struct quota_wish wish)
{
	static char error[512];

	error[0] = '\0';
	if (!quotas_check(&small, &use, &wish, error, sizeof(error))) {
		assert_string_equal(error, "");
		return NULL;
	}
	assert_string_not_equal(error, "");
	return error;
}

static void says(const char *message, const char *limit, const char *option, const char *remedy)
{
	assert_non_null(message);
	assert_non_null(strstr(message, limit));
	assert_non_null(strstr(message, option));
	assert_non_null(strstr(message, remedy));
}

static void test_limits(void **state)
{
	const struct quota_use one = { .sessions = 1, .memory_bytes = GIB / 2 },
			       both = { .sessions = 2 };
	const struct quota_wish most = { .memory_bytes = GIB / 2,
					 .processes = 10,
					 .catalog_bytes = 1000 };
	struct quota_wish wish = most;

	assert_null(refused(one, most));
	says(refused(both, (struct quota_wish){ 0 }), "may have 2", "profbpfd --user-sessions",
	     "profctl stop");
	wish.memory_bytes++;
	says(refused(one, wish), "1.00 GiB", "profbpfd --user-memory", "--buffer");
	says(refused((struct quota_use){ .memory_bytes = 2 * GIB }, most), "yours use 2.00 GiB",
	     "profbpfd --user-memory", "profctl stop");
	wish = most;
	wish.processes++;
	says(refused(one, wish), "10 at most", "profbpfd --user-processes", "fewer");
	wish = most;
	wish.catalog_bytes++;
	says(refused(one, wish), "1000", "profbpfd --user-catalog", "--catalog");
}

static void test_defaults(void **state)
{
	const struct quotas quotas = QUOTAS_DEFAULT;
	/* The maximum of sessions, each with the default buffer. */
	struct quota_use use = { .sessions = 3, .memory_bytes = 3 * (192ull << 20) };
	struct quota_wish wish = { .memory_bytes = 192ull << 20, .processes = 1 };
	char error[512];

	assert_int_equal(quotas_check(&quotas, &use, &wish, error, sizeof(error)), 0);
	use.sessions++;
	assert_int_equal(quotas_check(&quotas, &use, &wish, error, sizeof(error)), -EDQUOT);
}

static void set(struct quotas *quotas, const char *option, const char *value, int expected)
{
	struct quotas before = *quotas;
	char error[512] = "";
	int err = quotas_set(quotas, option, value, error, sizeof(error));

	assert_int_equal(err, expected);
	if (!err)
		return;
	assert_memory_equal(&before, quotas, sizeof(before));
	if (err == -EINVAL)
		assert_non_null(strstr(error, value));
}

static void test_options(void **state)
{
	struct quotas quotas = QUOTAS_DEFAULT;

	set(&quotas, "user-sessions", "7", 0);
	assert_int_equal(quotas.sessions, 7);
	set(&quotas, "user-sessions", "0", 0);
	assert_int_equal(quotas.sessions, 0);
	set(&quotas, "user-memory", "2G", 0);
	assert_int_equal(quotas.memory_bytes, 2 * GIB);
	set(&quotas, "user-processes", "1", 0);
	assert_int_equal(quotas.processes, 1);
	set(&quotas, "user-functions", "12", 0);
	assert_int_equal(quotas.functions, 12);
	set(&quotas, "user-catalog", "16K", 0);
	assert_int_equal(quotas.catalog_bytes, 16384);

	set(&quotas, "user-processes", "0", -EINVAL);
	set(&quotas, "user-functions", "0", -EINVAL);
	set(&quotas, "user-sessions", "-1", -EINVAL);
	set(&quotas, "user-sessions", "many", -EINVAL);
	set(&quotas, "user-sessions", "99999999999999999999", -EINVAL);
	set(&quotas, "user-memory", "2 GB", -EINVAL);
	set(&quotas, "user-everything", "1", -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
