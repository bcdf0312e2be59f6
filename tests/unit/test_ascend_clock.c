/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/ascend/ascend_clock.h"

static char folder[] = "/tmp/test_ascend_clock.XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_levels(void **state)
{
	assert_int_equal(ascend_clock_shift(in_folder("PROF_1/out/msprof_1.json")), 0);
	put("PROF_1/device_0/start_info.0",
	    "{\"collectionDateBegin\":\"2023-08-18 14:27:04.324979\","
	    "\"collectionTimeBegin\":\"1692340024324979\",\"clockMonotonicRaw\":"
	    "\"56579931060630\"}");
	assert_int_equal(ascend_clock_shift(in_folder("PROF_1/out/msprof_1.json")),
			 1692340024324979000 - 56579931060630);
	/* Numbers instead of texts; the host's file takes precedence. */
	put("PROF_1/host/start_info", "{\"collectionTimeBegin\":1692340024324980,"
				      "\"clockMonotonicRaw\":56579931060630}");
	assert_int_equal(ascend_clock_shift(in_folder("PROF_1/out/msprof_1.json")),
			 1692340024324980000 - 56579931060630);
	assert_int_equal(ascend_clock_shift(in_folder("PROF_1/deep/deeper/deepest/x.csv")), 0);
}

/* A profile beside this one is a different profile, but in a folder of torch_npu it is the same. */
static void test_profile_within(void **state)
{
	char from[256], to[256];

	snprintf(from, sizeof(from), "%s", in_folder("PROF_1"));
	assert_int_equal(ascend_clock_shift(in_folder("PROF_2/msprof_1.db")), 0);
	assert_int_equal(mkdir(in_folder("a_ascend_pt"), 0755), 0);
	snprintf(to, sizeof(to), "%s", in_folder("a_ascend_pt/PROF_1"));
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(ascend_clock_shift(in_folder("a_ascend_pt/ASCEND_PROFILER_OUTPUT/x.db")),
			 1692340024324980000 - 56579931060630);
	assert_int_equal(rename(to, from), 0);
	assert_int_equal(rmdir(in_folder("a_ascend_pt")), 0);
}

static void test_nonsense(void **state)
{
	static const char *const WRONG[] = {
		"",
		"{",
		"[]",
		"{\"collectionTimeBegin\":\"1692340024324979\"}",
		"{\"collectionTimeBegin\":\"1692340024\",\"clockMonotonicRaw\":\"56579931060630\"}",
		"{\"collectionTimeBegin\":\"99999999999999999999\",\"clockMonotonicRaw\":\"1\"}",
		"{\"collectionTimeBegin\":\"18446744073709551615\",\"clockMonotonicRaw\":\"1\"}",
		"{\"collectionTimeBegin\":\"1692340024324979\",\"clockMonotonicRaw\":\"-3\"}",
		/* A single string: the parentheses tell compilers that no comma is missing. */
		("{\"collectionTimeBegin\":\"1692340024324979\","
		 "\"clockMonotonicRaw\":\"1692340024324979001\"}"),
	};

	unlink(in_folder("PROF_1/device_0/start_info.0"));
	for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
		put("PROF_1/host/start_info", WRONG[i]);
		assert_int_equal(ascend_clock_shift(in_folder("PROF_1/out/msprof_1.json")), 0);
	}
	unlink(in_folder("PROF_1/host/start_info"));
	assert_int_equal(ascend_clock_shift("no_such_file"), 0);
	assert_int_equal(ascend_clock_shift(""), 0);
}

static int set_up(void **state)
{
	static const char *const FOLDERS[] = { "PROF_1", "PROF_1/host", "PROF_1/device_0" };

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++)
		assert_int_equal(mkdir(in_folder(FOLDERS[i]), 0755), 0);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const FOLDERS[] = { "PROF_1/host", "PROF_1/device_0", "PROF_1", "" };

	for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++)
		rmdir(in_folder(FOLDERS[i]));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_profile_within),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
