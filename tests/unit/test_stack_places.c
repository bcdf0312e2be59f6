/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of this process: mappings are read again if they may have changed, but not too often. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/stack_places.h"

#define MS 1000000ull
#define NOWHERE 0x10ull /* below the lowest address that can be mapped */

struct fixture {
	struct stack_table *table;
	struct stack_places *places;
	uint32_t unknown; /* the frame of an unmapped address */
};

static struct fixture set_up(bool told)
{
	struct fixture f = { .table = stack_table_new() };

	assert_non_null(f.table);
	f.places = stack_places_new(f.table, NULL, false);
	assert_non_null(f.places);
	if (told)
		stack_places_told(f.places);
	f.unknown = stack_places_user(f.places, getpid(), NOWHERE, 1000 * MS);
	return f;
}

static void tear_down(struct fixture *f)
{
	stack_places_free(f->places);
	stack_table_free(f->table);
}

/* Maps code of a new file. */
static uint64_t map_code(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(code, MAP_FAILED);
	close(fd);
	return (uintptr_t)code;
}

static uint32_t frame_at(const struct fixture *f, uint64_t address, uint64_t ms)
{
	return stack_places_user(f->places, getpid(), address, ms * MS);
}

static void nobody_tells(void **state)
{
	struct fixture f = set_up(false);
	uint64_t code = map_code();

	assert_int_equal(frame_at(&f, code + 16, 1050), f.unknown);
	assert_int_not_equal(frame_at(&f, code + 16, 1100), f.unknown);
	assert_int_equal(frame_at(&f, NOWHERE, 1300), f.unknown);
	munmap((void *)(uintptr_t)code, 4096);
	tear_down(&f);
}

static void somebody_tells(void **state)
{
	struct fixture f = set_up(true);
	uint64_t code = map_code(), later;

	assert_int_equal(frame_at(&f, code + 16, 90000), f.unknown);
	stack_places_mapped(f.places, getpid() + 1);
	assert_int_equal(frame_at(&f, code + 16, 90100), f.unknown);
	stack_places_mapped(f.places, getpid());
	assert_int_not_equal(frame_at(&f, code + 16, 90200), f.unknown);
	assert_int_equal(frame_at(&f, NOWHERE, 90300), f.unknown);
	later = map_code();
	assert_int_equal(frame_at(&f, later + 16, 90400), f.unknown);
	munmap((void *)(uintptr_t)later, 4096);
	munmap((void *)(uintptr_t)code, 4096);
	tear_down(&f);
}

/* A new mapping is reported too soon after the last reading: it is read later. */
static void told_too_soon(void **state)
{
	struct fixture f = set_up(true);
	uint64_t code = map_code();

	stack_places_mapped(f.places, getpid());
	assert_int_equal(frame_at(&f, code + 16, 1010), f.unknown);
	assert_int_not_equal(frame_at(&f, code + 16, 1110), f.unknown);
	munmap((void *)(uintptr_t)code, 4096);
	tear_down(&f);
}

/* New names, frames and stacks get no id, and new stacks are counted; known ones keep theirs. */
static void a_closed_table_takes_no_more(void **state)
{
	struct fixture f = set_up(false);
	const uint32_t known = stack_table_name(f.table, "known");
	const struct stack_frame old = { .name = known }, new = { .offset = 77 };
	const uint32_t frame = stack_table_frame(f.table, &old), twice[] = { frame, frame };
	const uint32_t stack = stack_table_stack(f.table, &frame, 1);
	const uint64_t bytes = stack_table_bytes(f.table);

	stack_table_close(f.table, true);
	assert_int_equal(stack_table_name(f.table, "known"), known);
	assert_int_equal(stack_table_name(f.table, "new"), 0);
	assert_int_equal(stack_table_frame(f.table, &old), frame);
	assert_int_equal(stack_table_frame(f.table, &new), 0);
	assert_int_equal(stack_table_stack(f.table, &frame, 1), stack);
	assert_int_equal(stack_table_left_out(f.table), 0);
	assert_int_equal(stack_table_stack(f.table, twice, 2), 0);
	assert_int_equal(stack_table_left_out(f.table), 1);
	assert_int_equal(stack_table_bytes(f.table), bytes);
	stack_table_close(f.table, false);
	assert_int_not_equal(stack_table_stack(f.table, twice, 2), 0);
	assert_int_equal(stack_table_bytes(f.table), bytes + sizeof(twice));
	tear_down(&f);
}

static void processes_have_owners(void **state)
{
	struct fixture f = set_up(false);

	assert_int_equal(stack_places_owner(f.places, getpid()), getuid());
	assert_int_equal(stack_places_owner(f.places, 0x7fffffff), (uid_t)-1);
	tear_down(&f);
}

/* A child that waits to be killed. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (!pid)
		pause();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The frame of this program's own code, which every child has mapped at the same place. */
static uint32_t own_frame(const struct fixture *f, pid_t pid, uint64_t ms)
{
	return stack_places_user(f->places, pid, (uintptr_t)start_child, ms * MS);
}

/* Its mappings were read, but no stack needed this file while it lived: another process has opened it. */
static void files_of_the_dead_are_known(void **state)
{
	struct fixture f = set_up(false);
	uint32_t here = own_frame(&f, getpid(), 1200);
	pid_t child = start_child();

	stack_places_user(f.places, child, NOWHERE, 2000 * MS);
	end_child(child);
	assert_int_equal(own_frame(&f, child, 2001), here);
	tear_down(&f);
}

/* The same after its mappings were read again. */
static void files_stay_known(void **state)
{
	struct fixture f = set_up(false);
	pid_t child = start_child();
	uint32_t before = own_frame(&f, child, 2000);

	stack_places_user(f.places, child, NOWHERE, 2200 * MS);
	end_child(child);
	assert_int_equal(own_frame(&f, child, 2201), before);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_closed_table_takes_no_more),
		cmocka_unit_test(processes_have_owners),
		cmocka_unit_test(nobody_tells),
		cmocka_unit_test(somebody_tells),
		cmocka_unit_test(told_too_soon),
		cmocka_unit_test(files_of_the_dead_are_known),
		cmocka_unit_test(files_stay_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
