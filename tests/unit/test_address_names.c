/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code by address, from kallsyms and perf maps, and mappings by address: valid and hostile files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "lib/elf/address_names.h"
#include "lib/elf/code_maps.h"

static FILE *file_of(const char *text, size_t size)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	rewind(file);
	return file;
}

static struct address_names *read_names(struct address_names *(*read)(FILE *), const char *text)
{
	FILE *file = file_of(text, strlen(text));
	struct address_names *names = read(file);

	fclose(file);
	assert_non_null(names);
	return names;
}

static void expect(const struct address_names *names, uint64_t address, const char *name)
{
	const char *found = address_names_find(names, address);

	if (!name) {
		if (found)
			fail_msg("%lx: '%s'", (unsigned long)address, found);
		return;
	}
	if (!found || strcmp(found, name))
		fail_msg("%lx: expected '%s', found '%s'", (unsigned long)address, name,
			 found ? found : "nothing");
}

static void kernel_symbols(void **state)
{
	struct address_names *names = read_names(address_names_kernel,
						 "ffffffff81000000 T _text\n"
						 "ffffffff81000000 T alias\n"
						 "ffffffff81000100 t inner.isra.0\n"
						 "ffffffff82000000 D some_data\n"
						 "ffffffffc0000000 t mod_fn\t[module]\n"
						 "ffffffff81000080 W weak\n");

	assert_int_equal(address_names_count(names), 4);
	expect(names, 0xffffffff80ffffff, NULL);
	expect(names, 0xffffffff81000000, "_text");
	expect(names, 0xffffffff8100007f, "_text");
	expect(names, 0xffffffff81000080, "weak");
	expect(names, 0xffffffff81000100, "inner.isra.0");
	expect(names, 0xffffffffc0000010, "mod_fn");
	expect(names, 0xffffffffc0010000, NULL);
	expect(names, UINT64_MAX, NULL);
	address_names_free(names);
}

static void hidden_addresses(void **state)
{
	struct address_names *names = read_names(address_names_kernel,
						 "0000000000000000 T _text\n"
						 "0000000000000000 T start\n");

	assert_int_equal(address_names_count(names), 0);
	expect(names, 0, NULL);
	expect(names, 0xffffffff81000000, NULL);
	address_names_free(names);
}

static void perf_map(void **state)
{
	struct address_names *names = read_names(address_names_perf_map,
						 "7f0000001000 40 py::work:/job/a.py\n"
						 "7f0000001040 10 a name with blanks \n"
						 "0x7f0000002000 20 with prefix\n"
						 /* Overwritten code: the later line is right. */
						 "7f0000003000 100 old\n"
						 "7f0000003000 20 new\n"
						 "7f0000004000 100 outer\n"
						 "7f0000004080 100 later\n");

	expect(names, 0x7f0000000fff, NULL);
	expect(names, 0x7f0000001000, "py::work:/job/a.py");
	expect(names, 0x7f000000103f, "py::work:/job/a.py");
	expect(names, 0x7f0000001040, "a name with blanks");
	expect(names, 0x7f0000001050, NULL);
	expect(names, 0x7f000000201f, "with prefix");
	expect(names, 0x7f0000003010, "new");
	expect(names, 0x7f0000003020, NULL);
	expect(names, 0x7f0000004079, "outer");
	expect(names, 0x7f0000004090, "later");
	address_names_free(names);
}

/* Lines that are not of the format are skipped, whatever they contain. */
static void nonsense(void **state)
{
	static const char text[] = "\n \nxyz\n12\n12 \n12 0\n12 0 zero\n-5 5 negative\n"
				   "ffffffffffffffff ff wraps\nfffffffffffffffff 1 too long\n"
				   "10 fffffffffffffffffffff x\n20 5\n30 5 \n  40 5 indented\n"
				   "50 5 good\n60 5 nul\0hidden\n70 5 unfinished";
	FILE *file = file_of(text, sizeof(text) - 1);
	struct address_names *names = address_names_perf_map(file);

	fclose(file);
	assert_non_null(names);
	expect(names, 0x12, NULL);
	expect(names, 0x54, "good");
	expect(names, 0x60, "nul");
	expect(names, 0x74, "unfinished");
	assert_int_equal(address_names_count(names), 3);
	address_names_free(names);
	names = read_names(address_names_kernel, "ffff T\nffff\n T x\nffff Tx\nabc Q b\nabc T\tx\n"
						 "ffffffffffffffff T last\n");
	assert_int_equal(address_names_count(names), 1);
	expect(names, UINT64_MAX - 1, NULL);
	address_names_free(names);
}

static void long_name(void **state)
{
	char *line = malloc(100000);
	struct address_names *names;

	memset(line, 'x', 99999);
	line[99999] = '\0';
	memcpy(line, "1000 10 ", 8);
	names = read_names(address_names_perf_map, line);
	assert_int_equal(strlen(address_names_find(names, 0x1005)), ADDRESS_NAMES_LENGTH);
	address_names_free(names);
	/* The line after such a long line is read, wherever the long one ends. */
	for (size_t i = 65000; i < 66000; i++) {
		memset(line, 'x', 99999);
		memcpy(line, "1000 10 ", 8);
		memcpy(line + i, "\n2000 10 next\n3000 10 last", 27);
		names = read_names(address_names_perf_map, line);
		assert_int_equal(address_names_count(names), 3);
		expect(names, 0x2000, "next");
		address_names_free(names);
		line[i + 27] = 'x';
	}
	free(line);
}

/* A target's map with one endless line takes no memory. */
static void endless_line(void **state)
{
	FILE *file = fopen("/dev/zero", "r");
	struct rusage before, after;
	struct address_names *names;

	assert_non_null(file);
	getrusage(RUSAGE_SELF, &before);
	names = address_names_perf_map(file);
	getrusage(RUSAGE_SELF, &after);
	fclose(file);
	assert_int_equal(address_names_count(names), 0);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10);
	address_names_free(names);
}

static void mappings(void **state)
{
	static const char text[] =
		"00400000-00401000 r--p 00000000 08:01 42 /bin/job\n"
		"00401000-00403000 r-xp 00001000 08:01 42 /bin/job\n"
		"7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
		"7f0000001000-7f0000002000 rwxp 00000000 00:00 0 [anon:jit]\n"
		"7f0000001800-7f0000003000 r-xp 00000000 00:00 0 overlaps\n"
		"7f0000009000-7f0000008000 r-xp 00000000 00:00 0 backwards\n"
		"nonsense\n"
		"7fff00000000-7fff00001000 r-xp 00000000 00:00 0 [vdso]\n";
	FILE *file = file_of(text, sizeof(text) - 1);
	struct code_maps maps;

	assert_int_equal(code_maps_parse(file, &maps), 0);
	fclose(file);
	assert_int_equal(maps.count, 4);
	assert_null(code_maps_find(&maps, 0x400500));
	assert_string_equal(code_maps_find(&maps, 0x401000)->map.path, "/bin/job");
	assert_int_equal(code_maps_find(&maps, 0x402fff)->map.offset, 0x1000);
	assert_null(code_maps_find(&maps, 0x403000));
	assert_int_equal(code_maps_find(&maps, 0x7f0000000000)->map.inode, 0);
	assert_string_equal(code_maps_find(&maps, 0x7f0000001900)->map.path, "[anon:jit]");
	assert_string_equal(code_maps_find(&maps, 0x7fff00000fff)->map.path, "[vdso]");
	assert_null(code_maps_find(&maps, UINT64_MAX));
	assert_null(code_maps_find(&maps, 0));
	code_maps_free(&maps);
	assert_int_equal(code_maps_read(-1, &maps), -2); /* ENOENT */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_symbols), cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(perf_map),	  cmocka_unit_test(nonsense),
		cmocka_unit_test(long_name),	  cmocka_unit_test(endless_line),
		cmocka_unit_test(mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
