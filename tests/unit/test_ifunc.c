/* SPDX-License-Identifier: Apache-2.0 */
/* The target of an IFUNC is found in the tables of a running process: the test itself. */
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "daemon/common/ifunc.h"
#include "lib/base/present_memory.h"

#define EARLY __attribute__((no_sanitize("address", "undefined"))) /* the loader calls it before all other code */

static __attribute__((noinline)) int picked(int value)
{
	__asm__ volatile("" ::: "memory");
	return value + 1;
}

/* clang does not see that the linker uses it. */
EARLY __attribute__((used)) static int (*pick(void))(int)
{
	return picked;
}

int own_ifunc(int value) __attribute__((ifunc("pick")));

/* This process's mapping of a file. */
struct mapped {
	struct process_maps maps;
	const struct process_map *map;
	struct catalogs *catalogs;
	struct probed_file file;
	int fd;
};

static void open_mapped(struct mapped *m, uintptr_t address, const char *catalog)
{
	char error[256], *wrong;

	assert_int_equal(process_maps_read(getpid(), &m->maps), 0);
	m->map = NULL;
	for (size_t i = 0; i < m->maps.count; i++)
		if (address >= m->maps.map[i].start && address < m->maps.map[i].end)
			m->map = &m->maps.map[i];
	assert_non_null(m->map);
	m->catalogs = catalogs_new();
	assert_int_equal(catalogs_add_text(m->catalogs, "test", catalog, strlen(catalog), &wrong), 0);
	m->fd = process_map_open(getpid(), m->map);
	assert_true(m->fd >= 0);
	assert_int_equal(probed_file_read(&m->file, m->fd, "file", m->catalogs, true, error,
					  sizeof(error)), 0);
}

static void close_mapped(struct mapped *m)
{
	probed_file_free(&m->file);
	catalogs_free(m->catalogs);
	process_maps_free(&m->maps);
	close(m->fd);
}

static void resolve(struct mapped *m)
{
	assert_int_equal(ifunc_resolve(&m->file, m->fd, getpid(), &m->maps, m->map, true), 0);
}

static void assert_stands_for(const struct mapped *m, const char *name, uintptr_t address)
{
	const struct probed_function *f;

	assert_int_equal(m->file.refused_count, 0);
	assert_int_equal(m->file.count, 1);
	f = &m->file.functions[0];
	assert_string_equal(f->name, name);
	assert_int_equal(f->offset - f->choice.delta, address - m->map->start + m->map->offset);
}

/* The IFUNC of this program itself is found by the code of its resolver. */
static void test_own(void **state)
{
	struct mapped m;

	assert_int_equal(own_ifunc(1), 2);
	open_mapped(&m, (uintptr_t)picked, "runtime test\nerror never\nown_ifunc other 1\n");
	assert_int_equal(m.file.count, 0);
	assert_int_equal(m.file.refused_count, 1);
	resolve(&m);
	assert_stands_for(&m, "own_ifunc", (uintptr_t)picked);
	close_mapped(&m);
}

/* The C library has IFUNCs, and this program's tables contain the target of one of them. */
static void test_imported(void **state)
{
	wchar_t *(*volatile address)(wchar_t *, wchar_t, size_t) = wmemset;
	wchar_t text[4];
	struct mapped m;

	address(text, L'x', 4);
	open_mapped(&m, (uintptr_t)address, "runtime test\nerror never\nwmemset other 1\n");
	if (!m.file.refused_count) {
		close_mapped(&m);
		skip(); /* not every C library has an IFUNC here */
	}
	resolve(&m);
	assert_stands_for(&m, "wmemset", (uintptr_t)address);
	close_mapped(&m);
}

/* An IFUNC in a process that does not map its file stays refused; so does a function that is no IFUNC. */
static void test_not_found(void **state)
{
	struct mapped m;

	open_mapped(&m, (uintptr_t)picked, "runtime test\nerror never\nown_ifunc other 1\n");
	assert_int_equal(m.file.refused_count, 1);
	m.file.refused[0].why = PROBED_GO;
	resolve(&m);
	assert_int_equal(m.file.refused_count, 1);
	m.file.refused[0].why = PROBED_IFUNC;
	assert_int_equal(ifunc_resolve(&m.file, m.fd, getppid(), &m.maps, m.map, true), 0);
	assert_int_equal(m.file.refused_count, 1);
	close_mapped(&m);
}

/* Returns the loader's address of a table of this program. */
static uintptr_t own_table(int64_t tag)
{
	for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_ptr;
	return 0;
}

/*
 * Starts a child whose relocations are not in memory: a read there would create @count pages of zeros. Returns their
 * address.
 */
static uintptr_t lose_tables(pid_t *pid, size_t *count)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = own_table(DT_RELA) / page * page;
	int ready[2];
	char word;

	*count = own_table(DT_JMPREL) / page + 1 - first / page;
	assert_int_equal(pipe(ready), 0);
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (mmap((void *)first, *count * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
			    (void *)first &&
		    write(ready[1], "r", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &word, 1), 1);
	close(ready[0]);
	return first;
}

/*
 * Pages that are not in memory are not read, so that the daemon never waits for a page fault handler: the file has
 * the same contents.
 */
static void test_not_in_memory(void **state)
{
	struct present_memory memory;
	bool present[64] = { false };
	uintptr_t first;
	struct mapped m;
	size_t count;
	pid_t pid;

	open_mapped(&m, (uintptr_t)picked, "runtime test\nerror never\nown_ifunc other 1\n");
	first = lose_tables(&pid, &count);
	assert_in_range(count, 1, 64);
	assert_int_equal(ifunc_resolve(&m.file, m.fd, pid, &m.maps, m.map, true), 0);
	assert_stands_for(&m, "own_ifunc", (uintptr_t)picked);
	present_memory_open(&memory, pid);
	assert_true(present_memory_pages(&memory, first, count, present));
	for (size_t i = 0; i < count; i++)
		assert_false(present[i]);
	present_memory_close(&memory);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close_mapped(&m);
}

/* Two tables may contain different functions; a function that is already probed is not probed twice. */
static void test_choose(void **state)
{
	struct mapped m;
	uint64_t at;

	open_mapped(&m, (uintptr_t)picked, "runtime test\nerror never\nown_ifunc other 1\n");
	at = (uintptr_t)picked - m.map->start + m.map->offset;
	struct ifunc_target targets[] = { { 0, at }, { 0, m.file.refused[0].offset + 1 }, { 0, at } };

	assert_int_equal(probed_file_choose(&m.file, m.fd, targets, 3, true), 0);
	assert_int_equal(m.file.refused_count, 0);
	assert_int_equal(m.file.count, 2);
	assert_true(m.file.functions[0].offset - m.file.functions[0].choice.delta <
		    m.file.functions[1].offset - m.file.functions[1].choice.delta);
	close_mapped(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_imported),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_not_in_memory),
		cmocka_unit_test(test_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
