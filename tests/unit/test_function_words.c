/* SPDX-License-Identifier: Apache-2.0 */
/* Purposes of functions: the built-in table, and invalid tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/function_words.h"

static void expect(const struct function_words *words, const char *function, const char *file,
		   const char *word)
{
	int found = function_words_find(words, function, file, false);

	if (!word) {
		assert_int_equal(found, -1);
		return;
	}
	assert_true(found >= 0);
	assert_string_equal(function_words_text(words, found), word);
	assert_true(*function_words_remedy(words, found));
}

static void test_own_table(void **state)
{
	struct function_words *words = function_words_new();

	assert_non_null(words);
	expect(words, "exc_page_fault", "", "page faults");
	expect(words, "__x64_sys_munmap", "", "giving memory back");
	expect(words, "visit_decref", "/usr/lib/libpython3.11.so.1.0", "garbage collection");
	expect(words, "dict_traverse", "/usr/lib/libpython3.11.so.1.0", "garbage collection");
	expect(words, "tree_traverse", "/usr/lib/libtree.so", NULL);
	expect(words, "save",
	       "/usr/lib/python3.11/lib-dynload/_pickle.cpython-311-x86_64-linux-gnu.so",
	       "pickling");
	expect(words, "__memmove_avx_unaligned_erms", "/lib/libc.so.6", "copies in memory");
	expect(words, "deflate", "/lib/libz.so.1", "compression");
	expect(words, "compress", "/opt/mine.so", NULL);
	expect(words, "Logger._log", "/usr/lib/python3.11/logging/__init__.py", "logging");
	expect(words, "asm_exc_debug", "", "the recorder's own probes");
	expect(words, "uprobe_notify_resume", "", "the recorder's own probes");
	expect(words, "G1EvacuateRegionsTask::work", "/usr/lib/jvm/lib/server/libjvm.so", "Java's garbage collection");
	expect(words, "G1EvacuateRegionsTask::work", "/mine/libg1.so", NULL);
	expect(words, "runtime.gcDrain", "/bin/server", "Go's garbage collection");
	expect(words, "v8::internal::ScavengerCollector::CollectGarbage", "/bin/node",
	       "JavaScript's garbage collection");
	expect(words, "__x64_sys_sched_yield", "", "giving up its CPU again and again");
	assert_true(function_words_is_over(words, function_words_find(words, "__kmp_wait_4", "/l/libomp.so.5", false)));
	expect(words, "gomp_barrier_wait_end", "/usr/lib/libgomp.so.1", "waiting for other threads by spinning");
	expect(words, "", "/usr/lib/libgomp.so.1", NULL);
	assert_true(function_words_find(words, "", "/usr/lib/libgomp.so.1", true) >= 0);
	assert_int_equal(function_words_find(words, "GOMP_parallel", "/usr/lib/libgomp.so.1", true), -1);
	expect(words, "main", "train.py", NULL);
	expect(words, "", "", NULL);
	function_words_free(words);
}

static void test_tables(void **state)
{
	struct function_words *words;
	uint32_t line;

	words = function_words_parse("# none\n\nword a b\ndo x y\nf* g@*.so\nword c\nover\nf1\n", &line);
	assert_non_null(words);
	assert_int_equal(function_words_find(words, "f1", "", false), 0);
	assert_string_equal(function_words_text(words, 0), "a b");
	assert_string_equal(function_words_remedy(words, 0), "x y");
	assert_string_equal(function_words_remedy(words, 1), "");
	assert_false(function_words_is_over(words, 0));
	assert_true(function_words_is_over(words, 1));
	assert_int_equal(function_words_find(words, "g", "/a/b.so", false), 0);
	assert_int_equal(function_words_find(words, "g", "/a.so/b", false), -1);
	function_words_free(words);
	assert_null(function_words_parse("f\nword a\n", &line));
	assert_int_equal(line, 1);
	assert_null(function_words_parse("# x\ndo this\n", &line));
	assert_int_equal(line, 2);
}

static void test_too_many(void **state)
{
	struct function_words *words;
	char text[FUNCTION_WORDS_MAX * 8 + 16] = "";
	uint32_t line;

	for (int i = 0; i < FUNCTION_WORDS_MAX; i++)
		strcat(text, "word a\n");
	words = function_words_parse(text, &line);
	assert_non_null(words);
	function_words_free(words);
	strcat(text, "word a\n");
	assert_null(function_words_parse(text, &line));
	assert_int_equal(line, FUNCTION_WORDS_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_table),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
