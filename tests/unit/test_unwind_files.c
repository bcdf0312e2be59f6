/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of this program's own files: built once, kept for a while, dropped when there is no room. Needs root. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/unwind_files.h"
#include "lib/elf/code_maps.h"

#define ALICE 1000
#define BOB 1001

static int waits;

static void wait_counted(void)
{
	waits++;
}

struct tables {
	struct unwind_store *store;
	struct unwind_files *files;
	struct code_maps maps;
};

static struct tables begin(void)
{
	struct tables t = { .store = unwind_store_new() };

	if (!t.store && errno == EPERM)
		skip();
	assert_non_null(t.store);
	t.files = unwind_files_new(t.store, wait_counted);
	assert_non_null(t.files);
	assert_int_equal(code_maps_read(getpid(), &t.maps), 0);
	waits = 0;
	return t;
}

static void end(struct tables *t)
{
	code_maps_free(&t->maps);
	unwind_files_free(t->files);
	unwind_store_free(t->store);
}

/* Returns the mapping of the file whose path contains @name. */
static const struct process_map *map_of(const struct tables *t, const char *name)
{
	for (size_t i = 0; i < t->maps.count; i++)
		if (strstr(t->maps.map[i].map.path, name))
			return &t->maps.map[i].map;
	fail();
	return NULL;
}

static struct unwind_file *map(struct tables *t, const char *name, uid_t user, struct unwind_mapping *mapping)
{
	struct unwind_file *held = NULL;

	assert_int_equal(unwind_files_map(t->files, getpid(), map_of(t, name), UNWIND_TOLD, user, NULL, mapping, &held), 0);
	assert_non_null(held);
	return held;
}

static void expect(const struct tables *t, uint64_t made, uint64_t files, uint64_t kept)
{
	struct unwind_files_stats stats;

	unwind_files_stats(t->files, &stats);
	assert_int_equal(stats.made, made);
	assert_int_equal(stats.files, files);
	assert_int_equal(stats.kept, kept);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void the_next_session_has_it(void **state)
{
	struct tables t = begin();
	struct unwind_mapping first, second;
	struct unwind_file *held = map(&t, "libc.so", ALICE, &first);
	uint64_t due_ns;

	assert_true(first.pages);
	expect(&t, 1, 1, 0);
	unwind_files_drop(t.files, held, ALICE);
	expect(&t, 1, 1, 1);
	held = map(&t, "libc.so", BOB, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	expect(&t, 1, 1, 0);
	assert_int_equal(unwind_files_trim(t.files, now() + 2 * UNWIND_KEPT_NS), 0);
	unwind_files_drop(t.files, held, BOB);
	due_ns = unwind_files_trim(t.files, now());
	assert_true(due_ns > now());
	expect(&t, 1, 1, 1);
	assert_int_equal(waits, 0);
	assert_int_equal(unwind_files_trim(t.files, due_ns), 0);
	expect(&t, 1, 0, 0);
	assert_int_equal(waits, 1);
	end(&t);
}

/* One wait for the programs covers all tables dropped before it. */
static void one_wait_is_enough(void **state)
{
	struct tables t = begin();
	struct unwind_mapping mapping;
	struct unwind_file *c = map(&t, "libc.so", ALICE, &mapping), *test = map(&t, "libcmocka", ALICE, &mapping);

	unwind_files_drop(t.files, c, ALICE);
	unwind_files_drop(t.files, test, ALICE);
	expect(&t, 2, 2, 2);
	unwind_files_trim(t.files, now() + 2 * UNWIND_KEPT_NS);
	expect(&t, 2, 0, 0);
	assert_int_equal(waits, 1);
	end(&t);
}

static void it_is_held_as_often_as_it_is_mapped(void **state)
{
	struct tables t = begin();
	struct unwind_mapping mapping;
	struct unwind_file *held = map(&t, "libc.so", ALICE, &mapping);

	assert_ptr_equal(unwind_files_hold(held, ALICE), held);
	assert_ptr_equal(map(&t, "libc.so", BOB, &mapping), held);
	unwind_files_drop(t.files, held, ALICE);
	unwind_files_drop(t.files, held, ALICE);
	expect(&t, 1, 1, 0);
	/* Alice no longer holds it: the table has no holder. */
	unwind_files_drop(t.files, held, ALICE);
	expect(&t, 1, 1, 0);
	unwind_files_drop(t.files, held, BOB);
	expect(&t, 1, 1, 1);
	end(&t);
}

/* A copy of the C library: another file, and a new one. */
static void what_has_just_changed_is_not_kept(void **state)
{
	struct tables t = begin();
	const struct process_map *libc = map_of(&t, "libc.so");
	char path[] = "/tmp/test_unwind_files.XXXXXX";
	int to = mkstemp(path), from = open(libc->path, O_RDONLY | O_CLOEXEC);
	struct unwind_file *held = NULL;
	struct unwind_mapping mapping;
	size_t size = libc->end - libc->start;
	struct process_map copy;
	struct stat st;
	void *code;

	assert_true(to >= 0 && from >= 0 && !fstat(from, &st));
	for (off_t left = st.st_size; left > 0;)
		left -= sendfile(to, from, NULL, (size_t)left);
	code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, (off_t)libc->offset);
	assert_ptr_not_equal(code, MAP_FAILED);
	code_maps_free(&t.maps);
	assert_int_equal(code_maps_read(getpid(), &t.maps), 0);
	copy = *map_of(&t, path);
	assert_int_equal(unwind_files_map(t.files, getpid(), &copy, UNWIND_TOLD, ALICE, NULL, &mapping, &held), 0);
	assert_non_null(held);
	assert_true(mapping.pages);
	expect(&t, 1, 1, 0);
	unwind_files_drop(t.files, held, ALICE);
	expect(&t, 1, 0, 0);
	munmap(code, size);
	unlink(path);
	close(from);
	close(to);
	end(&t);
}

#if defined(__x86_64__)
/* A function that no unwind table covers. */
asm(".text\n"
    ".balign 16\n"
    ".globl untold\n"
    ".type untold, @function\n"
    "untold:\n"
    "	push %rbx\n"
    "	.fill 320, 1, 0x90\n"
    "	pop %rbx\n"
    "	ret\n"
    ".size untold, . - untold\n"
    ".balign 16\n");

static struct unwind_file *map_more(struct tables *t, const char *name, struct unwind_mapping *mapping)
{
	struct unwind_file *held = NULL;

	assert_int_equal(unwind_files_map(t->files, getpid(), map_of(t, name), UNWIND_DERIVED, ALICE, NULL, mapping, &held), 0);
	assert_non_null(held);
	return held;
}

/* Rules from instructions are added on request, and then all users have them. */
static void rules_are_derived_when_asked_for(void **state)
{
	struct tables t = begin();
	struct unwind_mapping told, derived, again;
	struct unwind_file *first = map(&t, "test_unwind_files", ALICE, &told), *second;

	assert_true(told.pages && unwind_files_more(first));
	second = map_more(&t, "test_unwind_files", &derived);
	assert_ptr_not_equal(second, first);
	assert_true(derived.pages && derived.list != told.list && !unwind_files_more(second));
	expect(&t, 2, 2, 0);
	unwind_files_drop(t.files, first, ALICE);
	expect(&t, 2, 1, 0);
	assert_ptr_equal(map(&t, "test_unwind_files", BOB, &again), second);
	assert_memory_equal(&again, &derived, sizeof(again));
	unwind_files_drop(t.files, second, BOB);
	unwind_files_drop(t.files, second, ALICE);
	/* If there is nothing to add, there is one table. */
	first = map(&t, "libcmocka", ALICE, &told);
	assert_false(unwind_files_more(first));
	assert_ptr_equal(map_more(&t, "libcmocka", &again), first);
	assert_int_equal(again.list, told.list);
	unwind_files_drop(t.files, first, ALICE);
	unwind_files_drop(t.files, first, ALICE);
	end(&t);
}

static struct unwind_file *map_generated(struct tables *t, uint8_t *code)
{
	static const uint8_t function[] = { 0x53, /* push rbx */ 0x5b, /* pop rbx */ 0xc3 };
	const struct process_map place = {
		.start = (uint64_t)code, .end = (uint64_t)code + 4096, .path = (char *)""
	};
	struct unwind_file *held = NULL;
	struct unwind_mapping mapping;

	memcpy(code, function, sizeof(function));
	assert_int_equal(unwind_files_map(t->files, getpid(), &place, UNWIND_TOLD, ALICE, NULL, &mapping, &held), 0);
	assert_non_null(held);
	assert_true(mapping.pages);
	return held;
}

static void what_goes_at_once_is_waited_for_once(void **state)
{
	struct tables t = begin();
	uint8_t *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unwind_file *held[3] = { NULL };

	assert_ptr_not_equal(code, MAP_FAILED);
	held[0] = map_generated(&t, code);
	held[2] = map_generated(&t, code + 4096);
	expect(&t, 2, 2, 0);
	unwind_files_drop_all(t.files, held, 3, ALICE);
	expect(&t, 2, 0, 0);
	assert_int_equal(waits, 1);
	munmap(code, 8192);
	end(&t);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_session_has_it),
		cmocka_unit_test(one_wait_is_enough),
		cmocka_unit_test(it_is_held_as_often_as_it_is_mapped),
		cmocka_unit_test(what_has_just_changed_is_not_kept),
#if defined(__x86_64__)
		cmocka_unit_test(rules_are_derived_when_asked_for),
		cmocka_unit_test(what_goes_at_once_is_waited_for_once),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
