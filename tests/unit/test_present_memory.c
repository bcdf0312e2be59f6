/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of a process are in memory, found without touching them; its arguments and environment, unless a
 * process could block the read.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/present_memory.h"

#define PAGES 200 /* more than one request covers */
#define NEVER_S 5
#define NAME "profbpf_test_variable"

static uint64_t page;

static uint8_t *map_pages(void)
{
	uint8_t *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	return memory;
}

static void pages_that_were_written_are_there(void **state)
{
	uint8_t *memory = map_pages();
	uint64_t at = (uint64_t)memory;
	struct present_memory here;
	bool present[PAGES];

	memory[10 * page] = memory[11 * page] = memory[(PAGES - 1) * page] = 1;
	present_memory_open(&here, getpid());
	assert_true(present_memory_pages(&here, at, PAGES, present));
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(present[i], i == 10 || i == 11 || i == PAGES - 1);
	assert_true(present_memory_has(&here, at + 10 * page, 2 * page));
	assert_true(present_memory_has(&here, at + 11 * page - 1, 2));
	assert_false(present_memory_has(&here, at + 10 * page - 1, 2));
	assert_false(present_memory_has(&here, at + 12 * page - 1, 2));
	assert_false(present_memory_has(&here, at, PAGES * page));
	memset(memory, 1, PAGES * page);
	assert_true(present_memory_has(&here, at, PAGES * page));
	munmap(memory, PAGES * page);
	assert_false(present_memory_has(&here, at, 1));
	present_memory_close(&here);
}

/* Pieces beside each other, in one page, far apart, and a piece in no mapping. */
static void each_of_several_is_told_apart(void **state)
{
	uint8_t *memory = map_pages(), *far = map_pages();
	struct present_memory here;
	const uint64_t size = 1024, in_page = page / size;
	uint64_t low = (uint64_t)(far < memory ? far : memory) / size, high = (uint64_t)(far < memory ? memory : far) / size;
	const uint64_t number[] = { 1, low, low + 1, low + in_page, low + 3 * in_page, high + 5 * in_page,
				    high + 6 * in_page, high + 6 * in_page + 1, 1ull << 50 };
	const bool expected[] = { false, true, true, false, true, false, true, true, false };
	bool present[9];

	memory[0] = far[0] = memory[3 * page] = far[3 * page] = memory[6 * page] = far[6 * page] = 1;
	present_memory_open(&here, getpid());
	present_memory_each(&here, number, 9, size, present);
	assert_memory_equal(present, expected, sizeof(expected));
	present_memory_close(&here);
	present_memory_each(&here, number, 9, size, present);
	for (size_t i = 0; i < 9; i++)
		assert_false(present[i]);
	present_memory_name(&here, getpid());
	present_memory_each(&here, number, 9, size, present);
	assert_memory_equal(present, expected, sizeof(expected));
	present_memory_close(&here);
	munmap(memory, PAGES * page);
	munmap(far, PAGES * page);
}

static bool knows_nodes(void)
{
	void *own = &page;
	int node;

	return !syscall(SYS_move_pages, 0l, 1l, &own, NULL, &node, 0);
}

/* Pages in memory, wherever they are, are found by one call, without /proc; asking for an absent page does not make it. */
static void pages_anywhere_are_asked_for_at_once(void **state)
{
	uint8_t *memory = map_pages();
	uint64_t at = (uint64_t)memory, number[PAGES / 2];
	bool present[PAGES];
	struct present_memory here, opened;

	for (size_t i = 0; i < PAGES / 2; i++) {
		memory[2 * i * page] = 1;
		number[i] = at / page + 2 * i;
	}
	memory[page] = 1;
	present_memory_name(&here, getpid());
	present_memory_each(&here, number, PAGES / 2, page, present);
	for (size_t i = 0; i < PAGES / 2; i++)
		assert_true(present[i]);
	assert_true(present_memory_all(&here, at, 1));
	assert_true(present_memory_all(&here, at + page / 2, 2 * page));
	assert_int_equal(here.opened, !knows_nodes());
	assert_false(present_memory_all(&here, at + 3 * page, 1));
	assert_false(present_memory_all(&here, at + 2 * page, page + 1));
	assert_false(present_memory_all(&here, at, PAGES * page));
	assert_false(present_memory_all(&here, at, 0));
	assert_false(present_memory_all(&here, UINT64_MAX - 4, 100));
	present_memory_open(&opened, getpid());
	assert_true(present_memory_pages(&opened, at, PAGES, present));
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(present[i], i % 2 == 0 || i == 1);
	/* The page of zeros is on no node, but can be read. */
	assert_int_equal(memory[5 * page], 0);
	assert_true(present_memory_all(&here, at + 4 * page, 2 * page));
	present_memory_close(&here);
	assert_false(present_memory_all(&here, at, 1));
	present_memory_close(&opened);
	munmap(memory, PAGES * page);
}

static void what_is_no_place_is_not_there(void **state)
{
	struct present_memory here;
	uint8_t *memory = map_pages();

	memory[0] = 1;
	present_memory_open(&here, getpid());
	assert_false(present_memory_has(&here, (uint64_t)memory, 0));
	assert_false(present_memory_has(&here, UINT64_MAX - 4, 100));
	assert_false(present_memory_has(&here, 0, 1));
	present_memory_close(&here);
	assert_false(present_memory_has(&here, (uint64_t)memory, 1));
	present_memory_open(&here, -1);
	assert_false(present_memory_has(&here, (uint64_t)memory, 1));
	present_memory_close(&here);
	munmap(memory, PAGES * page);
}

/* Starts a child; returns after it has reported that it is ready, or has exited. */
static pid_t start(bool (*prepare)(void), bool *ready)
{
	char word = 0;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!prepare() || write(fds[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(fds[1]);
	*ready = read(fds[0], &word, 1) == 1;
	close(fds[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool nothing(void)
{
	return true;
}

static bool holds(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word)) != NULL;
}

static void texts_are_as_the_kernel_has_them(void **state)
{
	char text[65536], few[8];
	bool ready;
	pid_t pid = start(nothing, &ready);
	size_t size;

	assert_true(ready);
	size = present_memory_text(pid, "cmdline", text, sizeof(text));
	assert_true(holds(text, size, "test_present_memory"));
	assert_true(holds(text, present_memory_text(pid, "environ", text, sizeof(text)), NAME "=1"));
	assert_int_equal(present_memory_text(pid, "environ", few, sizeof(few)), sizeof(few));
	end(pid);
	assert_int_equal(present_memory_text(pid, "cmdline", text, sizeof(text)), 0);
	/* A kernel thread has neither. */
	assert_int_equal(present_memory_text(2, "environ", text, sizeof(text)), 0);
}

/* Makes a read of the environment's page wait for a page fault handler that never answers. */
static bool hold_environment_up(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	uint64_t first = (uint64_t)getenv(NAME) / page * page;
	struct uffdio_register pages = { .range = { first, page }, .mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && !ioctl(fd, UFFDIO_API, &api) &&
	       mmap((void *)first, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		       (void *)first &&
	       !ioctl(fd, UFFDIO_REGISTER, &pages);
}

static void who_holds_readers_up_is_not_read(void **state)
{
	char text[65536];
	bool ready;
	pid_t pid = start(hold_environment_up, &ready);

	if (!ready) {
		end(pid);
		skip();
	}
	alarm(NEVER_S);
	assert_false(holds(text, present_memory_text(pid, "environ", text, sizeof(text)), NAME));
	alarm(0);
	end(pid);
}

/* A page marked for its writes looks like a page that was swapped out, but never existed. */
static void what_is_marked_is_not_there(void **state)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), file = memfd_create("marked", MFD_CLOEXEC);
	struct uffdio_register pages = { .range.len = page, .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect marks = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	struct present_memory here;
	uint8_t *memory;

	assert_true(file >= 0 && !ftruncate(file, (off_t)page));
	memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	pages.range.start = (uint64_t)memory;
	marks.range = pages.range;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &pages) ||
	    ioctl(fd, UFFDIO_WRITEPROTECT, &marks))
		skip();
	present_memory_open(&here, getpid());
	assert_false(present_memory_has(&here, (uint64_t)memory, 1));
	assert_false(present_memory_all(&here, (uint64_t)memory, 1));
	present_memory_close(&here);
	munmap(memory, page);
	close(file);
	close(fd);
}

static volatile sig_atomic_t refusals;

/* Refuses a call as a filter of a container does, and counts it. */
static void refuse(int sig, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	refusals++;
#ifdef __x86_64__
	state->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	state->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#endif
}

static bool filter_move_pages(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	struct sigaction action = { .sa_sigaction = refuse, .sa_flags = SA_SIGINFO };

	return !sigaction(SIGSYS, &action, NULL) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A filter of system calls is met once, not before each read. */
static void a_filter_is_remembered(void **state)
{
	uint8_t *memory = map_pages();
	struct present_memory parent;
	int status;
	pid_t pid;

	memory[0] = 1;
	pid = fork();
	if (!pid) {
		bool there = filter_move_pages();

		present_memory_name(&parent, getppid());
		for (int i = 0; i < 10 && there; i++)
			there = present_memory_all(&parent, (uint64_t)memory, 1);
		/* One for the page, and one to learn that the own process is refused, too. */
		_exit(there ? refusals : 100);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 0, 2);
	munmap(memory, PAGES * page);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_were_written_are_there),
		cmocka_unit_test(each_of_several_is_told_apart),
		cmocka_unit_test(pages_anywhere_are_asked_for_at_once),
		cmocka_unit_test(what_is_no_place_is_not_there),
		cmocka_unit_test(texts_are_as_the_kernel_has_them),
		cmocka_unit_test(who_holds_readers_up_is_not_read),
		cmocka_unit_test(what_is_marked_is_not_there),
		cmocka_unit_test(a_filter_is_remembered),
	};

	page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* In the environment that the program was started with, not in one of its own making. */
	if (!getenv(NAME)) {
		setenv(NAME, "1", 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
