/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a process generated is copied as far as it is in memory: the copy causes no page fault, and no process
 * can block it.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/generated_code.h"

#define PAGE 4096
#define PAGES 1200 /* more pages than one call copies */
#define NEVER_MS 5000

static uint8_t *map_pages(void)
{
	uint8_t *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static bool take(struct generated_code *code, const uint8_t *memory)
{
	const struct process_map map = { .start = (uint64_t)memory,
					 .end = (uint64_t)memory + PAGES * PAGE,
					 .path = (char *)"" };

	return generated_code_take(code, getpid(), &map);
}

static size_t pages_in_memory(uint8_t *memory)
{
	unsigned char in[PAGES];
	size_t count = 0;

	assert_int_equal(mincore(memory, PAGES * PAGE, in), 0);
	for (size_t i = 0; i < PAGES; i++)
		count += in[i] & 1;
	return count;
}

static void only_pages_that_are_there_are_read(void **state)
{
	uint8_t *memory = map_pages();
	struct generated_code code;

	assert_false(take(&code, memory));
	memory[5] = 0xc3;
	memory[(PAGES - 1) * PAGE + 7] = 0x90;
	assert_int_equal(pages_in_memory(memory), 2);
	assert_true(take(&code, memory));
	assert_int_equal(pages_in_memory(memory), 2);
	assert_int_equal(code.size, PAGES * PAGE);
	assert_memory_equal(code.bytes, memory, code.size);
	generated_code_free(&code);
	munmap(memory, PAGES * PAGE);
}

static void all_of_them(void **state)
{
	uint8_t *memory = map_pages();
	struct generated_code code;

	for (size_t i = 0; i < PAGES * PAGE; i++)
		memory[i] = (uint8_t)(i * 31 + i / PAGE);
	assert_true(take(&code, memory));
	assert_memory_equal(code.bytes, memory, code.size);
	generated_code_free(&code);
	munmap(memory, PAGES * PAGE);
}

/*
 * Makes page faults on these pages wait for the test. Returns false if this user or kernel does not have userfaultfd.
 */
static bool hold_up(int fd, const uint8_t *memory)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register pages = { .range = { (uint64_t)memory, PAGES * PAGE },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &pages);
}

static void who_fills_pages_late_is_not_waited_for(void **state)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	uint8_t *memory = map_pages();
	struct generated_code code;

	memory[0] = 0xc3;
	if (!hold_up(fd, memory))
		skip();
	alarm(NEVER_MS / 1000);
	assert_true(take(&code, memory));
	alarm(0);
	assert_int_equal(code.bytes[0], 0xc3);
	generated_code_free(&code);
	close(fd);
	munmap(memory, PAGES * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_pages_that_are_there_are_read),
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(who_fills_pages_late_is_not_waited_for),
	};

#if !defined(__x86_64__)
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
