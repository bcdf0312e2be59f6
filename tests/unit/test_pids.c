/* SPDX-License-Identifier: Apache-2.0 */
/* Process ids in lists and files, each once, and error messages for invalid ones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profctl/pids.h"

#define MANY 5000

static char path[] = "/tmp/profbpf-test-pids.XXXXXX";

/* Writes @text into the file, and adds the ids of "@FILE". */
static int add_file(struct pids *pids, const char *text, size_t size, char *error,
		    size_t error_size)
{
	FILE *file = fopen(path, "w");
	char argument[64];

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	snprintf(argument, sizeof(argument), "@%s", path);
	return pids_add(pids, argument, error, error_size);
}

static void assert_pids(const struct pids *pids, size_t count, const uint32_t *expected)
{
	assert_int_equal(pids->count, count);
	assert_memory_equal(pids->pid, expected, count * sizeof(*expected));
}

static void lists_are_added_each_id_once(void **state)
{
	struct pids pids = { 0 };
	char error[128] = "";

	(void)state;
	assert_int_equal(pids_add(&pids, "17", error, sizeof(error)), 0);
	assert_int_equal(pids_add(&pids, "4,17,3,4", error, sizeof(error)), 0);
	assert_pids(&pids, 3, (const uint32_t[]){ 17, 4, 3 });
	pids_free(&pids);
}

static void files_are_added(void **state)
{
	static const char *const texts[] = { "17\n4\n3\n", "17 4 3", "17,4,3\n",
					     "\n\t17, 4\r\n\n3" };
	char error[128] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct pids pids = { 0 };

		assert_int_equal(add_file(&pids, texts[i], strlen(texts[i]), error, sizeof(error)),
				 0);
		assert_pids(&pids, 3, (const uint32_t[]){ 17, 4, 3 });
		pids_free(&pids);
	}
}

static void many_are_added(void **state)
{
	struct pids pids = { 0 };
	char error[128] = "", *text = malloc(MANY * 8);
	size_t size = 0;

	(void)state;
	assert_non_null(text);
	for (int i = 1; i <= MANY; i++)
		size += (size_t)sprintf(text + size, "%d\n", i);
	assert_int_equal(add_file(&pids, text, size, error, sizeof(error)), 0);
	assert_int_equal(add_file(&pids, text, size, error, sizeof(error)), 0);
	assert_int_equal(pids.count, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(pids.pid[i], i + 1);
	free(text);
	pids_free(&pids);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *message;
	} cases[] = {
		{ "17\n4 x\n", 7, ":2: 'x' is not a process id" },
		{ "17 0\n", 5, ":1: '0' is not a process id" },
		{ "17 -4\n", 6, ":1: '-4' is not a process id" },
		{ "17 4294967297\n", 14, ":1: '4294967297' is not a process id" },
		{ "17 \0 4\n", 7, ":1: '' is not a process id" },
		{ " ,\n", 3, "contains no process id" },
		{ "", 0, "contains no process id" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pids pids = { 0 };
		char error[256] = "";

		assert_int_equal(add_file(&pids, cases[i].text, cases[i].size, error,
					  sizeof(error)),
				 -EINVAL);
		assert_non_null(strstr(error, cases[i].message));
		assert_non_null(strstr(error, path));
		pids_free(&pids);
	}
}

static void a_file_that_is_not_there_is_told(void **state)
{
	struct pids pids = { 0 };
	char error[256] = "";

	(void)state;
	assert_int_equal(pids_add(&pids, "@/nowhere/at/all", error, sizeof(error)), -ENOENT);
	assert_string_equal(error, "/nowhere/at/all: No such file or directory");
	assert_true(pids_add(&pids, "@/", error, sizeof(error)) < 0);
	pids_free(&pids);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_added_each_id_once),
		cmocka_unit_test(files_are_added),
		cmocka_unit_test(many_are_added),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(a_file_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
