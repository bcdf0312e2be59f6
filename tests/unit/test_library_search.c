/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library search in a root made for the test, like a container's: its absolute links must lead to its own files,
 * never to the host's.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/elf/library_search.h"

struct root {
	char path[64];
	int fd;
};

static const char *in_root(const struct root *root, const char *path)
{
	static char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", root->path, path);
	return whole;
}

/* Creates a file with its directories. */
static void make(const struct root *root, const char *path, const char *content)
{
	char whole[PATH_MAX];
	FILE *file;

	strcpy(whole, in_root(root, path));
	for (char *p = whole + strlen(root->path) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		assert_true(mkdir(whole, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
	file = fopen(whole, "we");
	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_link(const struct root *root, const char *path, const char *target)
{
	assert_int_equal(symlink(target, in_root(root, path)), 0);
}

static int set_up(void **state)
{
	struct root *root = calloc(1, sizeof(*root));

	strcpy(root->path, "/tmp/test_library_search.XXXXXX");
	if (!mkdtemp(root->path))
		return -1;
	root->fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = root;
	return root->fd < 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int tear_down(void **state)
{
	struct root *root = *state;

	close(root->fd);
	nftw(root->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(root);
	return 0;
}

static void search(const struct root *root, const char *library_path, const char *glob,
		   struct library_files *found)
{
	const char *const globs[] = { "libnothing.so*", glob };

	assert_int_equal(library_search(root->fd, library_path, globs, 2, found), 0);
}

static void expect_found(const struct root *root, const char *library_path, const char *glob,
			 const char *path)
{
	struct library_files found;
	char content[PATH_MAX] = "";
	int fd;

	search(root, library_path, glob, &found);
	if (!path) {
		assert_int_equal(found.count, 0);
		return;
	}
	assert_int_equal(found.count, 1);
	assert_string_equal(found.file[0].path, path);
	fd = library_open(root->fd, &found.file[0]);
	assert_true(fd >= 0);
	assert_true(read(fd, content, sizeof(content) - 1) > 0);
	assert_string_equal(content, "library");
	close(fd);
	library_files_free(&found);
}

static void usual_places(void **state)
{
	static const char *const paths[] = {
		"/lib64/libone.so.1",	"/usr/lib64/libone.so.1",     "/lib/libone.so.1",
		"/usr/lib/libone.so.1", "/usr/local/lib/libone.so.1",
	};
	struct root *root = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		make(root, paths[i], "library");
		expect_found(root, NULL, "libone.so*", paths[i]);
		assert_int_equal(unlink(in_root(root, paths[i])), 0);
	}
	expect_found(root, NULL, "libone.so*", NULL);
}

static void configured_places(void **state)
{
	struct root *root = *state;

	make(root, "/etc/ld.so.conf",
	     "# a comment\n  include /etc/ld.so.conf.d/*.conf  \n"
	     "include more.conf\n/opt/direct   # why\nrelative/dir\n");
	make(root, "/etc/ld.so.conf.d/ascend.conf", "/opt/ascend/lib64/\n");
	make(root, "/etc/ld.so.conf.d/ignored.txt", "/opt/ignored\n");
	make(root, "/etc/more.conf", "/opt/more\ninclude more.conf\n");
	make(root, "/opt/ascend/lib64/libascendcl.so", "library");
	make(root, "/opt/direct/libdirect.so", "library");
	make(root, "/opt/more/libmore.so", "library");
	make(root, "/opt/ignored/libignored.so", "library");
	expect_found(root, NULL, "libascendcl.so*", "/opt/ascend/lib64/libascendcl.so");
	expect_found(root, NULL, "libdirect.so*", "/opt/direct/libdirect.so");
	expect_found(root, NULL, "libmore.so*", "/opt/more/libmore.so");
	expect_found(root, NULL, "libignored.so*", NULL);
}

static void library_path(void **state)
{
	struct root *root = *state;

	make(root, "/home/me/lib/libmine.so", "library");
	make(root, "/home/me/more/libmine.so", "library");
	expect_found(root, NULL, "libmine.so", NULL);
	expect_found(root, "/home/me/lib", "libmine.so", "/home/me/lib/libmine.so");
	expect_found(root, ":home/me/lib:$ORIGIN/../more:/nowhere:/home/me/more///:", "libmine.so",
		     "/home/me/more/libmine.so");
}

static void whole_paths(void **state)
{
	struct root *root = *state;

	make(root, "/usr/local/cuda-13.0/lib64/libcudart.so.13", "library");
	make(root, "/usr/local/cuda-13.0/doc/libcudart.so.txt", "text");
	expect_found(root, NULL, "/usr/local/cuda-*/lib64/libcudart.so*",
		     "/usr/local/cuda-13.0/lib64/libcudart.so.13");
	expect_found(root, NULL, "/usr/local/cuda-13.0/lib64/libcudart.so.13",
		     "/usr/local/cuda-13.0/lib64/libcudart.so.13");
	expect_found(root, NULL, "/usr/*/*/lib64/libcudart.so.1[0-9]",
		     "/usr/local/cuda-13.0/lib64/libcudart.so.13");
	expect_found(root, NULL, "/usr/local/cuda-12*/lib64/libcudart.so*", NULL);
	expect_found(root, NULL, "/usr/local/cuda-*/lib64", NULL);
}

/* libx.so -> libx.so.1 -> libx.so.1.2, and /lib -> /usr/lib as in merged systems */
static void one_entry_per_file(void **state)
{
	struct root *root = *state;
	struct library_files found;

	make(root, "/usr/lib/libx.so.1.2", "library");
	make_link(root, "/usr/lib/libx.so.1", "libx.so.1.2");
	make_link(root, "/usr/lib/libx.so", "/usr/lib/libx.so.1");
	make_link(root, "/lib", "usr/lib");
	search(root, NULL, "libx.so*", &found);
	assert_int_equal(found.count, 1);
	library_files_free(&found);
	make(root, "/usr/local/lib/libx.so.2", "library");
	search(root, NULL, "libx.so*", &found);
	assert_int_equal(found.count, 2);
	library_files_free(&found);
}

static void links_stay_inside(void **state)
{
	struct root *root = *state;

	make(root, "/usr/lib/present", "");
	/* The host has this file, the root does not. */
	make_link(root, "/usr/lib/libout.so", "/etc/passwd");
	expect_found(root, NULL, "libout.so", NULL);
	make_link(root, "/usr/lib/libup.so", "../../../../../../../etc/passwd");
	expect_found(root, NULL, "libup.so", NULL);
	make_link(root, "/usr/lib/libproc.so", "/proc/self/exe");
	expect_found(root, NULL, "libproc.so", NULL);
	make(root, "/etc/passwd", "library");
	expect_found(root, NULL, "libout.so", "/usr/lib/libout.so");
	make_link(root, "/usr/lib/libloop.so", "libloop.so");
	expect_found(root, NULL, "libloop.so", NULL);
}

static void only_regular_files(void **state)
{
	struct root *root = *state;

	make(root, "/usr/lib/libdir.so/inside", "");
	expect_found(root, NULL, "libdir.so", NULL);
	assert_int_equal(mkfifo(in_root(root, "/usr/lib/libfifo.so"), 0600), 0);
	expect_found(root, NULL, "libfifo.so", NULL); /* must not wait for a writer */
}

static void replaced_file_is_noticed(void **state)
{
	struct root *root = *state;
	struct library_files found;
	char new[PATH_MAX];

	make(root, "/usr/lib/liby.so", "library");
	search(root, NULL, "liby.so", &found);
	assert_int_equal(found.count, 1);
	make(root, "/usr/lib/new", "other");
	strcpy(new, in_root(root, "/usr/lib/new"));
	assert_int_equal(rename(new, in_root(root, "/usr/lib/liby.so")), 0);
	assert_int_equal(library_open(root->fd, &found.file[0]), -ESTALE);
	assert_int_equal(unlink(in_root(root, "/usr/lib/liby.so")), 0);
	assert_int_equal(library_open(root->fd, &found.file[0]), -ENOENT);
	library_files_free(&found);
}

static void hostile_configuration(void **state)
{
	struct root *root = *state;
	char *text = malloc(2 << 20);

	assert_non_null(text);
	memset(text, '/', 2 << 20);
	text[(2 << 20) - 1] = 0;
	make(root, "/etc/ld.so.conf", text);
	make(root, "/usr/lib/libz.so", "library");
	expect_found(root, text, "libz.so", "/usr/lib/libz.so");
	make(root, "/etc/ld.so.conf", "include\ninclude \ninclude *\ninclude ../etc/ld.so.conf\n");
	expect_found(root, NULL, "libz.so", "/usr/lib/libz.so");
	assert_int_equal(unlink(in_root(root, "/etc/ld.so.conf")), 0);
	assert_int_equal(mkfifo(in_root(root, "/etc/ld.so.conf"), 0600), 0);
	expect_found(root, NULL, "libz.so", "/usr/lib/libz.so");
	free(text);
}

/* Files that include themselves: 40 times each, four levels deep, would be millions, with thousands of folders each. */
static void endless_configuration(void **state)
{
	const struct root *root = *state;
	size_t size = 200 << 10, used = 0;
	char *text = malloc(size);

	assert_non_null(text);
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(text + used, size - used, "include ld.so.conf\n");
	while (size - used > 32)
		used += (size_t)snprintf(text + used, size - used, "include /absent/x\n");
	make(root, "/etc/ld.so.conf", text);
	make(root, "/usr/lib/liba.so", "library");
	expect_found(root, NULL, "liba.so", "/usr/lib/liba.so");
	free(text);
}

static void gone_root(void **state)
{
	const char *const globs[] = { "*.so" };
	struct library_files found;

	assert_int_equal(library_search(-1, NULL, globs, 1, &found), 0);
	assert_int_equal(found.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(usual_places),	     TEST(configured_places),
		TEST(library_path),	     TEST(whole_paths),
		TEST(one_entry_per_file),    TEST(links_stay_inside),
		TEST(only_regular_files),    TEST(replaced_file_is_noticed),
		TEST(hostile_configuration), TEST(endless_configuration),
		cmocka_unit_test(gone_root),
	};

	return cmocka_run_group_tests_name("library_search", tests, NULL, NULL);
}
