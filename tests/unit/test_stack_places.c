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
#include <time.h>
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
	stack_places_mapped(f.places, getpid() + 1, 90100 * MS);
	assert_int_equal(frame_at(&f, code + 16, 90100), f.unknown);
	stack_places_mapped(f.places, getpid(), 90100 * MS);
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

	stack_places_mapped(f.places, getpid(), 1000 * MS);
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

/* A child that began at @ms and ended before anything was read of it. */
static pid_t short_life(const struct fixture *f, uint64_t ms)
{
	pid_t child = start_child();

	assert_true(stack_places_began(f->places, child, getpid(), ms * MS));
	end_child(child);
	return child;
}

static void a_copy_has_its_parents_mappings(void **state)
{
	struct fixture f = set_up(true);
	uint32_t here = own_frame(&f, getpid(), 1200);
	pid_t child = short_life(&f, 2000);

	assert_int_equal(own_frame(&f, child, 2050), here);
	assert_int_equal(stack_places_user(f.places, child, NOWHERE, 2050 * MS), f.unknown);
	tear_down(&f);
}

/* The parent's mappings are read for its child if they were not before. */
static void of_a_parent_without_samples(void **state)
{
	struct fixture f = { .table = stack_table_new() };
	pid_t child;

	f.places = stack_places_new(f.table, NULL, false);
	stack_places_told(f.places);
	child = short_life(&f, 2000);
	assert_false(stack_places_knows(f.places, getpid()));
	assert_int_not_equal(own_frame(&f, child, 2050), stack_places_user(f.places, child, NOWHERE, 2050 * MS));
	assert_true(stack_places_knows(f.places, getpid()));
	tear_down(&f);
}

static void unknown_where_it_may_differ(void **state)
{
	struct fixture f = set_up(true);
	pid_t before = short_life(&f, 2000), mapper = short_life(&f, 2000), executor = short_life(&f, 2000), after;

	own_frame(&f, getpid(), 1200);
	stack_places_mapped(f.places, getpid(), 2010 * MS);
	stack_places_mapped(f.places, mapper, 2010 * MS);
	after = short_life(&f, 2020);
	stack_places_began(f.places, executor, 0, 2010 * MS);
	assert_int_equal(own_frame(&f, before, 2050), f.unknown);
	assert_int_not_equal(own_frame(&f, after, 2050), f.unknown);
	assert_int_equal(own_frame(&f, mapper, 2050), f.unknown);
	assert_int_equal(own_frame(&f, executor, 2050), f.unknown);
	/* The parent runs another program. */
	after = short_life(&f, 2100);
	assert_int_not_equal(own_frame(&f, after, 2150), f.unknown);
	after = short_life(&f, 2200);
	stack_places_began(f.places, getpid(), 0, 2210 * MS);
	assert_int_equal(own_frame(&f, after, 2250), f.unknown);
	tear_down(&f);
}

/* Records of several CPUs come in no order: that of a fork is last here. */
static void what_came_before_the_fork_counts(void **state)
{
	struct fixture f = set_up(true);
	pid_t executor = start_child(), mapper = start_child(), copy = start_child();

	own_frame(&f, getpid(), 1200);
	stack_places_began(f.places, executor, 0, 2010 * MS);
	stack_places_mapped(f.places, mapper, 2010 * MS);
	/* Of an earlier process with this id. */
	stack_places_mapped(f.places, copy, 1990 * MS);
	stack_places_began(f.places, copy, 0, 1990 * MS);
	stack_places_began(f.places, executor, getpid(), 2000 * MS);
	stack_places_began(f.places, mapper, getpid(), 2000 * MS);
	stack_places_began(f.places, copy, getpid(), 2000 * MS);
	end_child(executor);
	end_child(mapper);
	end_child(copy);
	assert_int_equal(own_frame(&f, executor, 2050), f.unknown);
	assert_int_equal(own_frame(&f, mapper, 2050), f.unknown);
	assert_int_not_equal(own_frame(&f, copy, 2050), f.unknown);
	tear_down(&f);
}

/* The same of the parent, of which nothing else was known. */
static void of_the_parent_too(void **state)
{
	for (int exec = 0; exec < 2; exec++) {
		struct fixture f = { .table = stack_table_new() };
		pid_t child, after;

		f.places = stack_places_new(f.table, NULL, false);
		stack_places_told(f.places);
		if (exec)
			stack_places_began(f.places, getpid(), 0, 2010 * MS);
		else
			stack_places_mapped(f.places, getpid(), 2010 * MS);
		/* An older one says nothing new. */
		stack_places_mapped(f.places, getpid(), 1000 * MS);
		child = short_life(&f, 2000);
		after = short_life(&f, 2020);
		f.unknown = stack_places_user(f.places, child, NOWHERE, 2050 * MS);
		assert_int_equal(own_frame(&f, child, 2050), f.unknown);
		assert_int_not_equal(own_frame(&f, after, 2050), f.unknown);
		tear_down(&f);
	}
}

/* Nobody reports new mappings: parent and child may differ. */
static void no_copies_without_reports(void **state)
{
	struct fixture f = set_up(false);
	pid_t child;

	own_frame(&f, getpid(), 1200);
	child = short_life(&f, 2000);
	assert_int_equal(own_frame(&f, child, 2050), f.unknown);
	tear_down(&f);
}

/* The process that has the parent's id by now began after the child. */
static void another_parent(void **state)
{
	struct fixture f = set_up(true);
	pid_t before = short_life(&f, 2000), after;

	stack_places_began(f.places, getpid(), getppid(), 2010 * MS);
	after = short_life(&f, 2020);
	assert_int_equal(own_frame(&f, before, 2050), f.unknown);
	assert_int_not_equal(own_frame(&f, after, 2050), f.unknown);
	tear_down(&f);
}

/* What is known of a later process with the id stays; without a record of its begin it would be the earlier one's. */
static void an_end_is_of_one_process(void **state)
{
	struct fixture f = set_up(true);
	pid_t child = start_child();
	uint32_t here;

	stack_places_began(f.places, child, getpid(), 2000 * MS);
	stack_places_began(f.places, child, getpid(), 2020 * MS);
	/* It runs another program by now. */
	stack_places_began(f.places, child, 0, 2030 * MS);
	here = own_frame(&f, child, 2050);
	assert_int_not_equal(here, f.unknown);
	assert_false(stack_places_ended(f.places, child, 2010 * MS));
	assert_true(stack_places_knows(f.places, child));
	assert_true(stack_places_ended(f.places, child, 2040 * MS));
	assert_false(stack_places_knows(f.places, child));
	end_child(child);
	tear_down(&f);
}

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The record of its begin comes after its first stack, perhaps even in the same drain of the rings. */
static void a_late_begin_forgets_nothing(void **state)
{
	struct fixture f = set_up(true);
	pid_t child = start_child(), executor = start_child();
	uint64_t began_ns = clock_now();
	uint32_t here = own_frame(&f, child, 2020);

	assert_int_equal(own_frame(&f, executor, 2020), here);
	assert_false(stack_places_began(f.places, child, getpid(), began_ns));
	assert_false(stack_places_began(f.places, executor, 0, began_ns));
	end_child(child);
	end_child(executor);
	assert_int_equal(own_frame(&f, child, 2300), here);
	assert_int_equal(own_frame(&f, executor, 2300), here);
	assert_true(stack_places_began(f.places, child, 0, clock_now() + 1));
	assert_int_equal(own_frame(&f, child, 2500), f.unknown);
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
		cmocka_unit_test(a_copy_has_its_parents_mappings),
		cmocka_unit_test(of_a_parent_without_samples),
		cmocka_unit_test(unknown_where_it_may_differ),
		cmocka_unit_test(what_came_before_the_fork_counts),
		cmocka_unit_test(of_the_parent_too),
		cmocka_unit_test(no_copies_without_reports),
		cmocka_unit_test(another_parent),
		cmocka_unit_test(an_end_is_of_one_process),
		cmocka_unit_test(a_late_begin_forgets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
