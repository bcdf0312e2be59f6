/* SPDX-License-Identifier: Apache-2.0 */
/* Another process's memory by pages: reads, cached pages, and pages that cannot be read. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/interpreters/memory_pages.h"

#define PAGE 4096

/* Maps two readable pages followed by an inaccessible one. */
static uint8_t *mapped(void)
{
	uint8_t *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	for (size_t i = 0; i < 2 * PAGE; i++)
		memory[i] = (uint8_t)(i * 7 + i / PAGE);
	assert_int_equal(munmap(memory + 2 * PAGE, PAGE), 0);
	return memory;
}

static void what_is_there(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	uint8_t *memory = mapped(), into[2 * PAGE];
	const struct {
		size_t at, size;
	} reads[] = { { 0, 1 }, { 8, 8 }, { PAGE - 8, 8 }, { PAGE - 4, 8 }, { 0, PAGE },
		      { 1, PAGE }, { 0, 2 * PAGE }, { 2 * PAGE - 1, 1 } };

	assert_non_null(pages);
	memory_pages_begin(pages, getpid(), NULL);
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		memset(into, 0, sizeof(into));
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + reads[i].at, into,
						   reads[i].size),
				 0);
		assert_memory_equal(into, memory + reads[i].at, reads[i].size);
	}
	munmap(memory, 2 * PAGE);
	memory_pages_free(pages);
}

static void what_is_not(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	uint8_t *memory = mapped(), into[PAGE];
	uint64_t end = (uintptr_t)memory + 2 * PAGE;

	memory_pages_begin(pages, getpid(), NULL);
	assert_int_equal(memory_pages_read(pages, end, into, 1), -EFAULT);
	assert_int_equal(memory_pages_read(pages, end - 4, into, 8), -EFAULT);
	assert_int_equal(memory_pages_read(pages, UINT64_MAX, into, 8), -EFAULT);
	assert_int_equal(memory_pages_read(pages, 0, into, SIZE_MAX), -EFAULT);
	/* Nor is it found under the cache place of another page. */
	assert_int_equal(memory_pages_read(pages, end - 1, into, 1), 0);
	assert_int_equal(memory_pages_read(pages, end - PAGE + 256 * PAGE * 4096ull, into, 1),
			 -EFAULT);
	assert_int_equal(memory_pages_read(pages, end - 1, into, 1), 0);
	assert_int_equal(into[0], memory[2 * PAGE - 1]);
	munmap(memory, 2 * PAGE);
	memory_pages_free(pages);
}

static void of_one_moment(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	uint8_t *memory = mapped(), into;

	memory_pages_begin(pages, getpid(), NULL);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), 0);
	memory[0] = memory[1] = 99;
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + 1, &into, 1), 0);
	assert_int_equal(into, 7);
	memory_pages_begin(pages, getpid(), NULL);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + 1, &into, 1), 0);
	assert_int_equal(into, 99);
	munmap(memory, 2 * PAGE);
	memory_pages_free(pages);
}

/* Pages whose numbers have the same low bits do not keep each other out: each is read once in a round. */
static void far_apart(void **state)
{
	enum { COUNT = 4, DISTANCE = 256 * PAGE };

	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used used = { 0 };
	uint8_t into, *memory = mmap(NULL, COUNT * DISTANCE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < COUNT; i++)
			memory[i * DISTANCE] = (uint8_t)(10 * round + i);
		memory_pages_begin(pages, getpid(), &used);
		for (int again = 0; again < 2; again++)
			for (int i = 0; i < COUNT; i++) {
				assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + i * DISTANCE, &into, 1), 0);
				assert_int_equal(into, 10 * round + i);
				memory[i * DISTANCE] = 99;
			}
		assert_int_equal(used.count, COUNT);
	}
	munmap(memory, COUNT * DISTANCE);
	memory_pages_free(pages);
}

/* If there are more of them than there is room for, they are read whenever they are used. */
static void more_than_fit(void **state)
{
	enum { COUNT = 9, DISTANCE = 256 * PAGE };

	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used used = { 0 };
	uint8_t into, *memory = mmap(NULL, COUNT * DISTANCE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	for (int i = 0; i < COUNT; i++)
		memory[i * DISTANCE] = (uint8_t)(i + 1);
	for (int round = 0; round < 3; round++) {
		memory_pages_begin(pages, getpid(), &used);
		for (int again = 0; again < 2; again++)
			for (int i = 0; i < COUNT; i++) {
				assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + i * DISTANCE, &into, 1), 0);
				assert_int_equal(into, i + 1);
			}
	}
	munmap(memory, COUNT * DISTANCE);
	memory_pages_free(pages);
}

/* From the second round on both pages are read at the begin of a round, as far as they exist. */
static void what_was_asked_for_before(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used used = { 0 };
	uint8_t *memory = mapped(), into;

	for (int round = 0; round < 3; round++) {
		memory_pages_begin(pages, getpid(), &used);
		memory[0] = (uint8_t)(100 + round);
		memory[PAGE] = (uint8_t)(200 + round);
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), 0);
		assert_int_equal(into, 100 + round - (round > 0));
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + PAGE, &into, 1), 0);
		assert_int_equal(into, 200 + round - (round > 0));
	}
	munmap(memory, PAGE);
	memory_pages_begin(pages, getpid(), &used);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), -EFAULT);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + PAGE, &into, 1), 0);
	assert_int_equal(into, 202);
	/* No page of another process is returned. */
	memory_pages_begin(pages, 0x7fffffff, &used);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + PAGE, &into, 1), -EFAULT);
	munmap(memory + PAGE, PAGE);
	memory_pages_free(pages);
}

/* Rounds of another purpose, and of another process, in between: each reads again its own pages. */
static void of_each_purpose(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used first = { 0 }, second = { 0 }, other = { 0 };
	uint8_t *memory = mapped(), into;

	for (int round = 0; round < 3; round++) {
		memory[0] = memory[PAGE] = (uint8_t)(100 + round);
		memory_pages_begin(pages, getpid(), &first);
		memory[0] = memory[PAGE] = 0;
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), 0);
		assert_int_equal(into, round ? 100 + round : 0);
		memory[0] = memory[PAGE] = (uint8_t)(200 + round);
		memory_pages_begin(pages, getpid(), &second);
		memory[0] = memory[PAGE] = 0;
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), 0);
		assert_int_equal(into, round ? 200 + round : 0);
		assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + PAGE, &into, 1), 0);
		assert_int_equal(into, round ? 200 + round : 0);
		memory_pages_begin(pages, getppid(), &other);
		assert_int_equal(memory_pages_read(pages, 0, &into, 1), -EFAULT);
	}
	assert_int_equal(first.count, 1);
	assert_int_equal(second.count, 2);
	munmap(memory, 2 * PAGE);
	memory_pages_free(pages);
}

/* Pages that share a place in the cache replace each other, read together or not. */
static void of_one_place(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used used = { 0 };
	const size_t apart = 256 * PAGE;
	uint8_t *memory = mmap(NULL, apart + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), into;

	assert_ptr_not_equal(memory, MAP_FAILED);
	memory[0] = 1;
	memory[apart] = 2;
	for (int round = 0; round < 3; round++) {
		memory_pages_begin(pages, getpid(), &used);
		for (int again = 0; again < 2; again++) {
			assert_int_equal(memory_pages_read(pages, (uintptr_t)memory, &into, 1), 0);
			assert_int_equal(into, 1);
			assert_int_equal(memory_pages_read(pages, (uintptr_t)memory + apart, &into, 1), 0);
			assert_int_equal(into, 2);
		}
	}
	munmap(memory, apart + PAGE);
	memory_pages_free(pages);
}

#define PLACE ((uint8_t *)0x200000000000) /* free in both programs */
#define AGAIN "again" /* argument of the second program */

static bool map_place(void)
{
	return mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
	       PLACE;
}

/* The second program uses the same address, where it has no memory. */
static int say_and_wait(void)
{
	if (!map_place() || write(STDOUT_FILENO, "r", 1) != 1)
		return 1;
	for (;;)
		pause();
}

/* @context: the other process, which may have ended before this one runs. */
static int keep_memory(void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == *(pid_t *)context)
		pause();
	_exit(0);
}

static void run_both(int go, int ready)
{
	static _Alignas(16) uint8_t stack[65536];
	pid_t own = getpid();
	char word;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!map_place())
		_exit(1);
	PLACE[0] = 42;
	if (write(ready, "r", 1) == 1 && read(go, &word, 1) == 1 && dup2(ready, STDOUT_FILENO) >= 0 &&
	    clone(keep_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, &own) > 0)
		execl("/proc/self/exe", "test_memory_pages", AGAIN, NULL);
	_exit(1);
}

/*
 * The memory of a process's first program lives on in another process; pages that the second program lacks must not
 * be read.
 */
static void of_the_program_that_runs(void **state)
{
	struct memory_pages *pages = memory_pages_new();
	struct memory_pages_used used = { 0 };
	int go[2], ready[2];
	uint8_t into = 0;
	char word;
	pid_t pid;

	assert_int_equal(pipe(go) || pipe(ready), 0);
	pid = fork();
	if (!pid)
		run_both(go[0], ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &word, 1), 1);
	memory_pages_begin(pages, pid, &used);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)PLACE, &into, 1), 0);
	assert_int_equal(into, 42);
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(read(ready[0], &word, 1), 1);
	memory_pages_begin(pages, pid, &used);
	assert_int_equal(memory_pages_read(pages, (uintptr_t)PLACE, &into, 1), -EFAULT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	memory_pages_free(pages);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there),
		cmocka_unit_test(what_is_not),
		cmocka_unit_test(of_one_moment),
		cmocka_unit_test(far_apart),
		cmocka_unit_test(more_than_fit),
		cmocka_unit_test(what_was_asked_for_before),
		cmocka_unit_test(of_each_purpose),
		cmocka_unit_test(of_one_place),
		cmocka_unit_test(of_the_program_that_runs),
	};

	if (argc == 2 && !strcmp(argv[1], AGAIN))
		return say_and_wait();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
