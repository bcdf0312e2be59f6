/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about a file come from the cache without another read, as long as the file is the same. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/probe/file_cache.h"

static const char some[] = "runtime libc\nerror never\nqsort other 1\nqs* other 1\nfopen* load 1\n";
static const char more[] = "runtime libc\nerror never\nqsort other 1\n";

static struct catalogs *parse(const char *text)
{
	struct catalogs *catalogs = catalogs_new();
	char *error;

	assert_non_null(catalogs);
	assert_int_equal(catalogs_add_text(catalogs, "test", text, strlen(text), &error), 0);
	return catalogs;
}

/* Opens a file that has not changed for long: the C library. */
static int open_library(void)
{
	Dl_info info;
	int fd;

	assert_true(dladdr((void *)qsort, &info));
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void read_file(struct file_view *view, int fd, struct probed_file *file)
{
	char error[256];

	assert_int_equal(file_view_read(view, file, fd, "file", error, sizeof(error)), 0);
}

static void assert_counts(struct file_cache *cache, uint64_t hits, uint64_t misses, size_t files)
{
	struct file_cache_stats stats;

	file_cache_stats(cache, &stats);
	assert_int_equal(stats.hits, hits);
	assert_int_equal(stats.misses, misses);
	assert_int_equal(stats.files, files);
	assert_int_equal(!stats.bytes, !files);
}

static const struct probed_function *find(const struct probed_file *file, const char *name)
{
	for (size_t i = 0; i < file->count; i++)
		if (!strcmp(file->functions[i].name, name))
			return &file->functions[i];
	return NULL;
}

static void assert_same(const struct probed_file *a, const struct probed_file *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->refused_count, b->refused_count);
	assert_int_equal(a->build_id_size, b->build_id_size);
	assert_memory_equal(a->build_id, b->build_id, a->build_id_size);
	for (size_t i = 0; i < a->count; i++) {
		assert_string_equal(a->functions[i].name, b->functions[i].name);
		assert_int_equal(a->functions[i].offset, b->functions[i].offset);
		assert_int_equal(a->functions[i].choice.class, b->functions[i].choice.class);
		assert_string_equal(a->functions[i].entry->pattern, b->functions[i].entry->pattern);
	}
}

/* The second session's functions belong to its own catalogs, though the file was not read for it. */
static void test_second_session(void **state)
{
	struct file_cache *cache = file_cache_new(FILE_CACHE_BYTES);
	struct catalogs *catalogs[2] = { parse(some), parse(some) };
	struct probed_file file[2];
	int fd = open_library();

	for (int i = 0; i < 2; i++) {
		struct file_view *view = file_view_new(cache, catalogs[i], true);

		assert_non_null(view);
		read_file(view, fd, &file[i]);
		assert_non_null(find(&file[i], "qsort"));
		assert_false(find(&file[i], "qsort")->entry->wildcard);
		assert_ptr_equal(find(&file[i], "qsort")->entry->catalog,
				 catalogs_get(catalogs[i], 0));
		file_view_free(view);
	}
	assert_counts(cache, 1, 1, 1);
	assert_same(&file[0], &file[1]);
	for (int i = 0; i < 2; i++) {
		probed_file_free(&file[i]);
		catalogs_free(catalogs[i]);
	}
	close(fd);
	file_cache_free(cache);
}

/* Other catalogs need other functions, other kernels need other instructions. */
static void test_other_wants(void **state)
{
	struct file_cache *cache = file_cache_new(FILE_CACHE_BYTES);
	struct catalogs *first = parse(some), *second = parse(more);
	struct file_view *views[] = { file_view_new(cache, first, true),
				      file_view_new(cache, second, true),
				      file_view_new(cache, first, false) };
	size_t counts[3];
	int fd = open_library();

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			struct probed_file file;

			read_file(views[i], fd, &file);
			assert_true(!round || counts[i] == file.count);
			counts[i] = file.count;
			probed_file_free(&file);
		}
	}
	assert_true(counts[0] > counts[1]);
	assert_int_equal(counts[1], 1);
	assert_counts(cache, 3, 3, 3);
	for (int i = 0; i < 3; i++)
		file_view_free(views[i]);
	catalogs_free(first);
	catalogs_free(second);
	close(fd);
	file_cache_free(cache);
}

/* A file that has just been written could be written again with the same time stamp: it is not cached. */
static void test_fresh_file(void **state)
{
	struct file_cache *cache = file_cache_new(FILE_CACHE_BYTES);
	struct catalogs *catalogs = parse(some);
	struct file_view *view = file_view_new(cache, catalogs, true);
	char path[] = "/tmp/profbpf-test-XXXXXX";
	int copy = mkstemp(path), fd = open_library();
	struct stat st;

	assert_true(copy >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size;)
		assert_true(sendfile(copy, fd, &at, st.st_size - at) > 0);
	for (int i = 0; i < 2; i++) {
		struct probed_file file;

		read_file(view, copy, &file);
		assert_non_null(find(&file, "qsort"));
		probed_file_free(&file);
	}
	assert_counts(cache, 0, 2, 0);
	unlink(path);
	close(copy);
	close(fd);
	file_view_free(view);
	catalogs_free(catalogs);
	file_cache_free(cache);
}

/* Too little room: an entry that is larger than the cache is not kept, and the least recently used entry is dropped. */
static void test_room(void **state)
{
	struct catalogs *catalogs[] = { parse(more), parse(some) };
	struct file_cache *cache = file_cache_new(FILE_CACHE_BYTES);
	struct file_view *view;
	struct probed_file file;
	struct file_cache_stats one;
	int fd = open_library();

	view = file_view_new(cache, catalogs[0], true);
	read_file(view, fd, &file);
	probed_file_free(&file);
	file_view_free(view);
	file_cache_stats(cache, &one);
	file_cache_free(cache);

	cache = file_cache_new(one.bytes);
	for (int i = 0; i < 2; i++) {
		view = file_view_new(cache, catalogs[i], true);
		read_file(view, fd, &file);
		probed_file_free(&file);
		file_view_free(view);
	}
	assert_counts(cache, 0, 2, 1);
	/* Together too large, because the results for another kernel are separate entries. */
	for (int i = 0; i < 3; i++) {
		view = file_view_new(cache, catalogs[0], i == 1);
		read_file(view, fd, &file);
		probed_file_free(&file);
		file_view_free(view);
	}
	assert_counts(cache, 0, 5, 1);
	for (int i = 0; i < 2; i++)
		catalogs_free(catalogs[i]);
	close(fd);
	file_cache_free(cache);
}

/* Files that are no ELF files and files without wanted functions are cached, too. */
static void test_nothing_to_find(void **state)
{
	struct file_cache *cache = file_cache_new(FILE_CACHE_BYTES);
	struct catalogs *catalogs = parse("runtime none\nerror never\nno_such_function other 1\n");
	struct file_view *view = file_view_new(cache, catalogs, true);
	int fds[] = { open_library(), open("/etc/passwd", O_RDONLY | O_CLOEXEC) };
	char error[256];

	for (int i = 0; i < 4; i++) {
		struct probed_file file;

		assert_int_equal(
			file_view_read(view, &file, fds[i % 2], "file", error, sizeof(error)), 0);
		assert_int_equal(file.count, 0);
		assert_int_equal(i % 2, error[0] != '\0');
		probed_file_free(&file);
	}
	assert_counts(cache, 2, 2, 2);
	close(fds[0]);
	close(fds[1]);
	file_view_free(view);
	catalogs_free(catalogs);
	file_cache_free(cache);
}

static void test_without_cache(void **state)
{
	struct catalogs *catalogs = parse(some);
	struct file_view *view = file_view_new(NULL, catalogs, true);
	struct probed_file file;
	int fd = open_library();

	read_file(view, fd, &file);
	assert_non_null(find(&file, "qsort"));
	probed_file_free(&file);
	close(fd);
	file_view_free(view);
	catalogs_free(catalogs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_session),	cmocka_unit_test(test_other_wants),
		cmocka_unit_test(test_fresh_file),	cmocka_unit_test(test_room),
		cmocka_unit_test(test_nothing_to_find), cmocka_unit_test(test_without_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
