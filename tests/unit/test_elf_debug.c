/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of a stripped program are found in a separate file, if that file belongs to the same program. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/elf/elf_file.h"

/* A function in no symbol table that a stripped program keeps. */
static __attribute__((noinline, used)) int known_by_symtab_only(int value)
{
	__asm__ volatile("" ::: "memory");
	return value;
}

static char dir[] = "/tmp/profbpf-debug.XXXXXX";

/* run the shell command of FORMAT, with the folder as its argument wherever it contains D */
static int run(const char *text)
{
	char command[1024];

	snprintf(command, sizeof(command), "D=%s; %s", dir, text);
	return system(command);
}

/* The test program itself: whole, stripped, and stripped with a link. */
static int setup(void **state)
{
	char self[512];

	if (!mkdtemp(dir))
		return -1;
	snprintf(self, sizeof(self), "cp /proc/%d/exe $D/whole", (int)getpid());
	if (run(self) ||
	    run("{ command -v objcopy && command -v strip; } >/dev/null") ||
	    run("objcopy --only-keep-debug $D/whole $D/whole.debug && "
		"strip --strip-all -o $D/stripped $D/whole && "
		"strip --remove-section=.note.gnu.build-id -o $D/linked $D/stripped && "
		"objcopy --add-gnu-debuglink=$D/whole.debug $D/linked"))
		*state = (void *)"no objcopy or strip, or they do not work here";
	return 0;
}

static int teardown(void **state)
{
	return run("rm -rf \"$D\"");
}

static void *by_name(void *context, const char *name, size_t length)
{
	return length == strlen(context) && !memcmp(name, context, length) ? context : NULL;
}

/* Returns the function's offset in the file; 0: unknown. */
static uint64_t find(struct elf_file *file)
{
	struct elf_symbols found;
	uint64_t offset = 0;

	assert_int_equal(elf_file_find(file, by_name, (void *)"known_by_symtab_only", &found), 0);
	if (found.count) {
		assert_int_equal(found.count, 1);
		assert_int_equal(found.symbol[0].flags, ELF_SYMBOL_LOCAL);
		offset = found.symbol[0].offset;
	}
	elf_symbols_free(&found);
	return offset;
}

static struct elf_file *open_file(const char *name)
{
	char path[512], error[256];
	struct elf_file *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = elf_file_open(path, error, sizeof(error));
	assert_non_null(file);
	return file;
}

static uint64_t whole_offset(void)
{
	struct elf_file *file = open_file("whole");
	uint64_t offset = find(file);

	assert_true(offset);
	assert_false(elf_file_add_debug(file, dir));
	elf_file_close(file);
	return offset;
}

/* @expected: 0 if no symbol must be found. */
static void expect(const char *name, uint64_t expected)
{
	struct elf_file *file = open_file(name);
	char root[512];

	snprintf(root, sizeof(root), "%s/root", dir);
	assert_int_equal(find(file), 0);
	assert_int_equal(elf_file_add_debug(file, root), expected != 0);
	assert_int_equal(find(file), expected);
	elf_file_close(file);
}

#define NEED_TOOLS(state) \
	do { \
		if (*(state)) { \
			print_message("%s\n", (const char *)*(state)); \
			skip(); \
		} \
	} while (0)

static void test_by_build_id(void **state)
{
	const uint8_t *id;
	struct elf_file *file;
	char command[512], hex[2 * ELF_FILE_BUILD_ID_MAX + 1] = "";
	size_t size;

	NEED_TOOLS(state);
	file = open_file("stripped");
	size = elf_file_build_id(file, &id);
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	elf_file_close(file);
	if (!size)
		skip();
	expect("stripped", 0);
	snprintf(command, sizeof(command),
		 "mkdir -p $D/root/.build-id/%.2s && cp $D/whole.debug $D/root/.build-id/%.2s/%s.debug",
		 hex, hex, hex + 2);
	assert_int_equal(run(command), 0);
	expect("stripped", whole_offset());
	/* Another program's symbols under this one's build id. */
	assert_int_equal(run("for f in $D/root/.build-id/*/*.debug; do "
			     "objcopy --remove-section=.note.gnu.build-id $D/whole $f; done"), 0);
	expect("stripped", 0);
	assert_int_equal(run("rm -r $D/root"), 0);
}

static void test_by_link(void **state)
{
	NEED_TOOLS(state);
	expect("linked", 0);
	assert_int_equal(run("mkdir -p $D/root$D && cp $D/whole.debug $D/root$D/"), 0);
	expect("linked", whole_offset());
	/* A different file with that name. */
	assert_int_equal(run("printf x >>$D/root$D/whole.debug"), 0);
	expect("linked", 0);
	/* The right file, but without symbols. */
	assert_int_equal(run("cp $D/stripped $D/root$D/whole.debug && "
			     "objcopy --remove-section=.gnu_debuglink $D/linked $D/relinked && "
			     "cp $D/stripped $D/whole.debug && "
			     "objcopy --add-gnu-debuglink=$D/whole.debug $D/relinked"), 0);
	expect("relinked", 0);
	assert_int_equal(run("rm -r $D/root"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),
		cmocka_unit_test(test_by_link),
	};

	return known_by_symtab_only(0) + cmocka_run_group_tests(tests, setup, teardown);
}
