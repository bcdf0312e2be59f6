/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs: the meaning of a line, which line wins, and which files are read. */
#include <errno.h>
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

#include "daemon/catalog/catalog.h"
#include "tests/unit/catalog_slot.h"

static void commands_of_drivers(void **state)
{
	static const char text[] =
		"runtime d\ndriver one two*\nioctl 'F' 0x2a CONTROL\n"
		"ioctl 0x30000001 START\nioctl 123 THIRD\ndriver /dev/dri/*\nioctl 'd' 1 OTHER\n";
	const char *names[] = { "nobody", "", "/dev/two" }, *two[] = { "x", "two-uvm" };
	const struct catalog_command *commands[4];
	struct catalogs *catalogs = catalogs_new();
	char *error;

	assert_int_equal(catalogs_add_text(catalogs, "d.catalog", text, sizeof(text) - 1, &error),
			 0);
	assert_int_equal(catalogs_commands(catalogs, names, 3, commands, 4), 0);
	assert_int_equal(catalogs_commands(catalogs, two, 2, commands, 4), 3);
	assert_string_equal(commands[0]->name, "CONTROL");
	assert_int_equal(commands[0]->value, 0x462a);
	/* The command matches with any direction and size. */
	assert_int_equal(0xc020462au & commands[0]->mask, commands[0]->value);
	assert_int_equal(commands[1]->value, 0x30000001);
	assert_int_equal(commands[1]->mask, 0xffffffff);
	/* Equally long as a quoted letter. */
	assert_string_equal(commands[2]->name, "THIRD");
	assert_int_equal(commands[2]->value, 123);
	assert_int_equal(commands[2]->mask, 0xffffffff);
	names[2] = "/dev/dri/renderD128";
	assert_int_equal(catalogs_commands(catalogs, names, 3, commands, 4), 1);
	assert_string_equal(commands[0]->name, "OTHER");
	catalogs_free(catalogs);
}

static void operators(void **state)
{
	static const char text[] =
		"runtime t\naclnn* launch 1 name=aclnn*\n"
		"aclnn*GetWorkspaceSize compile 1 name=aclnn*GetWorkspaceSize correlation=*9\n"
		"clCreateKernel compile 1 name=2 out_handle=return handle=1\n"
		"register load 1 code=2 name=4\nlaunch launch 1 code=1 stream=2\n"
		"through other 1 handle=1[8]\nstack other 1 value=9\nout other 1 out_handle=*2\n"
		"kept other 1 name=1[8] names=kept\nfar other 1 names=kept name=9[8]\n"
		"near other 1 names=kept name=1[8] value=2[8]\nmade other 2 names=changed\n";
	struct catalogs *catalogs = catalogs_new();
	const struct catalog_function *f;
	struct probe_conf conf;
	char *error, *name;

	assert_int_equal(catalogs_add_text(catalogs, "t.catalog", text, sizeof(text) - 1, &error),
			 0);
	f = catalog_match(catalogs, "aclnnAdd", 8);
	name = catalog_operator(f, "aclnnAdd");
	assert_string_equal(name, "Add");
	free(name);
	assert_null(catalog_operator(f, "aclnn"));
	f = catalog_match(catalogs, "aclnnAddGetWorkspaceSize", 24);
	assert_int_equal(f->kind, PROFBPF__FUNCTION__KIND__COMPILE);
	name = catalog_operator(f, "aclnnAddGetWorkspaceSize");
	assert_string_equal(name, "Add");
	free(name);
	f = catalog_match(catalogs, "clCreateKernel", 14);
	catalog_probe_conf(f, &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_RETURN | PROBE_KEEP | PROBE_VALUE);
	assert_int_equal(f->roles[2], PROFBPF__FUNCTION__ROLE__OUT_HANDLE);
	assert_int_equal(f->roles[0], PROFBPF__FUNCTION__ROLE__HANDLE);
	catalog_probe_conf(catalog_match(catalogs, "register", 8), &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_KEEP);
	catalog_probe_conf(catalog_match(catalogs, "launch", 6), &conf);
	assert_int_equal(conf.flags, 0);
	catalog_probe_conf(catalog_match(catalogs, "through", 7), &conf);
	assert_int_equal(conf.flags, PROBE_MEMORY);
	catalog_probe_conf(catalog_match(catalogs, "stack", 5), &conf);
	assert_int_equal(conf.flags, PROBE_MEMORY);
	catalog_probe_conf(catalog_match(catalogs, "kept", 4), &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_STRING_IN | PROBE_NAME_KEPT);
	/* If some of the arguments are not in registers, the name is read, too. */
	catalog_probe_conf(catalog_match(catalogs, "far", 3), &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_STRING_IN);
	catalog_probe_conf(catalog_match(catalogs, "near", 4), &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_STRING_IN | PROBE_MEMORY);
	catalog_probe_conf(catalog_match(catalogs, "made", 4), &conf);
	assert_int_equal(conf.flags, PROBE_NAMES_CHANGED);
	/* The memory that it points to is read at return. */
	catalog_probe_conf(catalog_match(catalogs, "out", 3), &conf);
	assert_int_equal(conf.flags & (PROBE_MEMORY | PROBE_OUT), PROBE_OUT);
	catalogs_free(catalogs);
}

static struct catalog *parse(const char *text)
{
	struct catalog_errors errors;
	struct catalog *catalog = catalog_parse("t.catalog", text, strlen(text), &errors);

	if (!catalog)
		fail_msg("%s", catalog_errors_text(&errors, "t.catalog"));
	catalog_errors_free(&errors);
	return catalog;
}

static void directives(void **state)
{
	struct catalog *catalog =
		parse("# comment\r\n\r\n  runtime cuda_rt # more\r\n"
		      "library libcudart.so* /opt/*/lib.so\r\nlibrary libx.so\r\n"
		      "a sync 1\nerror null\nb sync 2\nc sync 255 error=negative\n"
		      "error nonzero\nd sync 1");

	assert_string_equal(catalog->name, "t.catalog");
	assert_string_equal(catalog->runtime, "cuda_rt");
	assert_string_equal(catalog->family, "cuda_rt");
	assert_int_equal(catalog->library_count, 3);
	assert_string_equal(catalog->libraries[0], "libcudart.so*");
	assert_string_equal(catalog->libraries[1], "/opt/*/lib.so");
	assert_string_equal(catalog->libraries[2], "libx.so");
	assert_int_equal(catalog->function_count, 4);
	assert_int_equal(catalog->functions[0].error, PROFBPF__FUNCTION__ERROR__NEVER);
	assert_int_equal(catalog->functions[1].error, PROFBPF__FUNCTION__ERROR__NULL_);
	assert_int_equal(catalog->functions[1].layer, 2);
	assert_int_equal(catalog->functions[2].error, PROFBPF__FUNCTION__ERROR__NEGATIVE);
	assert_int_equal(catalog->functions[2].layer, 255);
	assert_int_equal(catalog->functions[3].error, PROFBPF__FUNCTION__ERROR__NONZERO);
	assert_int_equal(catalog->functions[3].line, 11);
	catalog_free(catalog);
	catalog = parse("runtime hip\nfamily rocm\n");
	assert_string_equal(catalog->family, "rocm");
	assert_int_equal(catalog->function_count, 0);
	catalog_free(catalog);
}

static void roles_and_slots(void **state)
{
	struct catalog *catalog = parse("runtime t\n"
					"plain copy 1 stream=1 bytes=12 blocking=3:4 name=2\n"
					"through launch 1 stream=1[32] count=2[0]:2\n"
					"out alloc 1 out_handle=*1 bytes=2\n"
					"only alloc 1 value=*4:4\n"
					"none sync 1\n"
					"named load 1 name=4\n"
					"inside load 1 name=1[104]\n"
					"twice launch 1 task=2[16][4]:4 count=2[24]:4 value=*3\n");
	const struct catalog_function *f = catalog->functions;
	struct probe_conf conf;

	expect_slot(&f[0], 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, -1);
	expect_slot(&f[0], 1, PROFBPF__FUNCTION__ROLE__BYTES, 12, 8, -1);
	expect_slot(&f[0], 2, PROFBPF__FUNCTION__ROLE__BLOCKING, 3, 4, -1);
	catalog_probe_conf(&f[0], &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_MEMORY); /* argument 12 */
	assert_int_equal(conf.string_position, 2);

	expect_slot(&f[1], 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, 32);
	expect_slot(&f[1], 1, PROFBPF__FUNCTION__ROLE__COUNT, 2, 2, 0);
	expect_slot(&f[1], 2, PROFBPF__FUNCTION__ROLE__NOTHING, 0, 0, 0);

	/* The value that is read at return is always the last one; the others keep their order. */
	expect_slot(&f[2], 0, PROFBPF__FUNCTION__ROLE__BYTES, 2, 8, -1);
	expect_slot(&f[2], 1, PROFBPF__FUNCTION__ROLE__NOTHING, 0, 0, 0);
	expect_slot(&f[2], 2, PROFBPF__FUNCTION__ROLE__OUT_HANDLE, 1, 8, -1);
	catalog_probe_conf(&f[2], &conf);
	assert_int_equal(conf.flags, PROBE_OUT);
	expect_slot(&f[3], 2, PROFBPF__FUNCTION__ROLE__VALUE, 4, 4, -1);

	catalog_probe_conf(&f[4], &conf);
	assert_int_equal(conf.flags, 0);
	assert_int_equal(conf.args[0].position, 0);
	catalog_probe_conf(&f[5], &conf);
	assert_int_equal(conf.flags, PROBE_STRING);
	assert_int_equal(conf.string_position, 4);
	catalog_probe_conf(&f[6], &conf);
	assert_int_equal(conf.flags, PROBE_STRING | PROBE_STRING_IN);
	assert_int_equal(conf.string_position, 1);
	assert_int_equal(conf.string_offset, 104);
	expect_slot(&f[7], 0, PROFBPF__FUNCTION__ROLE__TASK, 2, 4, 16);
	catalog_probe_conf(&f[7], &conf);
	assert_int_equal(conf.args[0].inner, 4);
	assert_int_equal(conf.args[1].inner, -1);
	assert_int_equal(conf.args[2].inner, -1);
	catalog_free(catalog);
}

static void add(struct catalogs *catalogs, const char *text)
{
	char *error;
	int err = catalogs_add_text(catalogs, "t.catalog", text, strlen(text), &error);

	if (err)
		fail_msg("%s", error);
}

/* A reason belongs to the catalog: every line that refers to it has the same text. */
static void reasons(void **state)
{
	static const char text[] =
		"runtime t\nvouch at_once \t queues it,\tand returns \r\n"
		"a launch 1 plain=at_once stream=1\nb copy 1\nvouch mark2 writes # a comment\n"
		"_ZN3foo*E marker 1 plain=mark2 error=null\nc event 2 name=1 plain=at_once\n!x\n"
		"_Z3fo* other 1 plain=mark2\n_RNvC3foo* other 1 plain=mark2\n*a other 1 "
		"plain=mark2\n"
		"_Z*foo other 1 plain=mark2\n";
	struct catalogs *catalogs = catalogs_new();
	struct catalog *catalog = parse(text);
	const struct catalog_function *f = catalog->functions;

	assert_int_equal(catalog->vouch_count, 2);
	assert_string_equal(catalog->vouches[0].name, "at_once");
	assert_string_equal(catalog->vouches[0].text, "queues it, and returns");
	assert_int_equal(catalog->vouches[0].line, 2);
	assert_string_equal(catalog->vouches[1].text, "writes");
	assert_int_equal(catalog->function_count, 9);
	assert_ptr_equal(f[0].plain, catalog->vouches[0].text);
	assert_string_equal(f[0].plain_name, "at_once");
	expect_slot(&f[0], 0, PROFBPF__FUNCTION__ROLE__STREAM, 1, 8, -1);
	assert_null(f[1].plain);
	assert_null(f[1].plain_name);
	assert_string_equal(f[2].plain, "writes");
	assert_int_equal(f[2].error, PROFBPF__FUNCTION__ERROR__NULL_);
	assert_ptr_equal(f[3].plain, f[0].plain);
	assert_int_equal(f[3].string_position, 1);
	assert_null(f[4].plain);
	for (int i = 5; i < 9; i++)
		assert_ptr_equal(f[i].plain, f[2].plain);
	catalog_free(catalog);

	/* A line of a later catalog without the word withdraws the promise. */
	add(catalogs, "runtime a\nvouch r it returns\nx other 1 plain=r\ny other 1 plain=r\n");
	add(catalogs, "runtime b\nx other 1\nvouch r another\nz other 1 plain=r\n");
	assert_null(catalog_match(catalogs, "x", 1)->plain);
	assert_string_equal(catalog_match(catalogs, "y", 1)->plain, "it returns");
	assert_string_equal(catalog_match(catalogs, "z", 1)->plain, "another");
	catalogs_free(catalogs);
}

static void expect_match(const struct catalogs *catalogs, const char *symbol, const char *runtime,
			 const char *pattern)
{
	const struct catalog_function *function = catalog_match(catalogs, symbol, strlen(symbol));

	if (!pattern) {
		assert_null(function);
		return;
	}
	assert_non_null(function);
	assert_string_equal(function->pattern, pattern);
	assert_string_equal(function->catalog->runtime, runtime);
}

static void priorities(void **state)
{
	struct catalogs *catalogs = catalogs_new();

	assert_non_null(catalogs);
	expect_match(catalogs, "anything", NULL, NULL);
	add(catalogs, "runtime a\nexact copy 1\nex* sync 1\n!ex*t\nexit sync 1\nexhaust* load 1\n"
		      "*Size compile 1\na*b*c event 1\n");
	expect_match(catalogs, "exact", "a", "exact"); /* exact before pattern and exclusion */
	expect_match(catalogs, "exit", "a", "exit");
	expect_match(catalogs, "extent", NULL, NULL); /* the later exclusion */
	expect_match(catalogs, "extra", "a", "ex*");
	expect_match(catalogs, "ex", "a", "ex*");
	expect_match(catalogs, "exhaust", "a", "exhaust*"); /* a pattern after the exclusion */
	expect_match(catalogs, "extraSize", "a", "*Size");
	expect_match(catalogs, "Size", "a", "*Size");
	expect_match(catalogs, "abc", "a", "a*b*c");
	expect_match(catalogs, "axxbxbxxc", "a", "a*b*c");
	expect_match(catalogs, "abcd", NULL, NULL);
	expect_match(catalogs, "ab", NULL, NULL);
	expect_match(catalogs, "exac", "a", "ex*");
	/* The length is used: the symbol's storage need not end where the symbol does. */
	assert_string_equal(catalog_match(catalogs, "exactly", 5)->pattern, "exact");

	add(catalogs, "runtime b\n!exact\nextent copy 1\nexit copy 1\n!*Size\nfree* free 1\n");
	expect_match(catalogs, "exact", NULL, NULL); /* a later catalog overrides */
	expect_match(catalogs, "extent", "b", "extent");
	expect_match(catalogs, "exit", "b", "exit");
	expect_match(catalogs, "extraSize", NULL, NULL);
	expect_match(catalogs, "extra", "a", "ex*");

	add(catalogs, "runtime c\n*Size compile 1\n");
	expect_match(catalogs, "extraSize", "c", "*Size");
	assert_int_equal(catalogs_count(catalogs), 3);
	assert_string_equal(catalogs_get(catalogs, 1)->runtime, "b");
	assert_null(catalogs_get(catalogs, 3));
	catalogs_free(catalogs);
}

/* More functions than the index's initial size, in several catalogs. */
static void many_functions(void **state)
{
	struct catalogs *catalogs = catalogs_new();
	char symbol[32], expected[32];

	for (int part = 0; part < 5; part++) {
		char text[32768];
		size_t used = snprintf(text, sizeof(text), "runtime part_%d\n", part);

		for (int i = 0; i < 1000; i++)
			used += snprintf(text + used, sizeof(text) - used, "function_%d copy 1\n",
					 part * 500 + i);
		add(catalogs, text);
	}
	for (int i = 0; i < 3000; i++) {
		int part = i / 500 > 4 ? 4 : i / 500;

		snprintf(symbol, sizeof(symbol), "function_%d", i);
		snprintf(expected, sizeof(expected), "part_%d", part);
		expect_match(catalogs, symbol, expected, symbol);
	}
	expect_match(catalogs, "function_3000", NULL, NULL);
	catalogs_free(catalogs);
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(remove(path), 0);
}

static void reads_directories(void **state)
{
	char directory[] = "/tmp/test_catalog.XXXXXX", expected[1024], *error = NULL;
	struct catalogs *catalogs = catalogs_new();

	assert_non_null(mkdtemp(directory));
	write_file(directory, "20-b.catalog", "runtime b\nf copy 1\n");
	write_file(directory, "10-a.catalog", "runtime a\nf sync 1\n");
	write_file(directory, "notes.txt", "not a catalog\n");
	write_file(directory, ".hidden.catalog", "nor this\n");
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), 0);
	assert_null(error);
	assert_int_equal(catalogs_count(catalogs), 2);
	expect_match(catalogs, "f", "b", "f");
	catalogs_free(catalogs);

	/* A bad file is reported, and the valid ones are loaded all the same. */
	catalogs = catalogs_new();
	write_file(directory, "15-bad.catalog", "runtime x\nf lunch\n");
	write_file(directory, "30-bad.catalog", "nonsense\n");
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%s/15-bad.catalog:2:3: found \"lunch\", ", directory);
	assert_memory_equal(error, expected, strlen(expected));
	snprintf(expected, sizeof(expected), "\n%s/30-bad.catalog:1:1: found \"nonsense\", ",
		 directory);
	assert_non_null(strstr(error, expected));
	assert_int_equal(catalogs_count(catalogs), 2);
	free(error);
	for (int i = 0; i < 6; i++) {
		static const char *const names[] = { "20-b.catalog",   "10-a.catalog",
						     "notes.txt",      ".hidden.catalog",
						     "15-bad.catalog", "30-bad.catalog" };

		remove_file(directory, names[i]);
	}
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(catalogs_add_directory(catalogs, directory, &error), -ENOENT);
	snprintf(expected, sizeof(expected),
		 "%s: cannot read the directory: No such file or "
		 "directory\n",
		 directory);
	assert_string_equal(error, expected);
	free(error);
	catalogs_free(catalogs);
}

static void refuses_other_files(void **state)
{
	struct catalogs *catalogs = catalogs_new();
	char *error = NULL;

	assert_int_equal(catalogs_add_file(catalogs, "/nonexistent.catalog", &error), -ENOENT);
	assert_string_equal(error,
			    "/nonexistent.catalog: cannot open: No such file or directory\n");
	free(error);
	assert_int_equal(catalogs_add_file(catalogs, "/dev/zero", &error), -EINVAL);
	assert_string_equal(error, "/dev/zero: not a regular file\n");
	free(error);
	assert_int_equal(catalogs_count(catalogs), 0);
	catalogs_free(catalogs);
}

static void names(void **state)
{
	assert_string_equal(catalog_kind_name(PROFBPF__FUNCTION__KIND__OTHER), "other");
	assert_string_equal(catalog_kind_name(PROFBPF__FUNCTION__KIND__STAGE), "stage");
	assert_string_equal(catalog_kind_name(99), "?");
	assert_string_equal(catalog_role_name(PROFBPF__FUNCTION__ROLE__VALUE), "value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_of_drivers),
		cmocka_unit_test(operators),
		cmocka_unit_test(directives),
		cmocka_unit_test(roles_and_slots),
		cmocka_unit_test(reasons),
		cmocka_unit_test(priorities),
		cmocka_unit_test(many_functions),
		cmocka_unit_test(reads_directories),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
