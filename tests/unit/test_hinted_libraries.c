/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a process, whose place and size the process can set itself. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/probe/hinted_libraries.h"

#define HUGE_BYTES (64ul << 20)

/*
 * Sets the place of the process's own environment, which needs no privilege: PR_SET_MM_MAP replaces all values at
 * once, the others keep their values.
 */
static int move_environment(char *at, size_t size)
{
	struct prctl_mm_map m = { .brk = (uintptr_t)sbrk(0), .exe_fd = (uint32_t)-1 };
	unsigned long long field[52] = { 0 };
	char text[2048], *p;
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	for (int i = 3; p && i < 52; i++) {
		p = strchr(p + 1, ' ');
		field[i] = p ? strtoull(p + 1, NULL, 10) : 0;
	}
	m.start_code = field[26];
	m.end_code = field[27];
	m.start_stack = field[28];
	m.start_data = field[45];
	m.end_data = field[46];
	m.start_brk = field[47];
	m.arg_start = field[48];
	m.arg_end = field[49];
	m.env_start = (uintptr_t)at;
	m.env_end = (uintptr_t)at + size;
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0);
}

/*
 * Starts a child whose environment is @size bytes at @at; it runs until the test's end of @fds is closed. Returns 0
 * if the kernel does not support this.
 */
static pid_t begin(char *at, size_t size, int fds[2])
{
	char ready = 0;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		ready = !move_environment(at, size);
		if (write(fds[1], &ready, 1) == 1)
			pause();
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &ready, 1), 1);
	if (ready)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	return 0;
}

static char *path_of(char *at, size_t size)
{
	int fds[2];
	pid_t pid = begin(at, size, fds);
	char *path;

	if (!pid)
		skip();
	path = hinted_libraries_path(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
	return path;
}

static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void the_variable_is_found(void **state)
{
	static const char text[] = "A=b\0XLD_LIBRARY_PATH=/no\0LD_LIBRARY_PATH=/yes:/too\0LD_LIBRARY_PATH=/later";
	char *at = map(4096), *path;

	memcpy(at, text, sizeof(text));
	path = path_of(at, sizeof(text));
	assert_string_equal(path, "/yes:/too");
	free(path);
	/* A truncated path is unknown. */
	path = path_of(at, sizeof("A=b\0XLD_LIBRARY_PATH=/no\0LD_LIBRARY_PATH=/ye") - 1);
	assert_null(path);
	munmap(at, 4096);
}

/* An environment without an end takes no more memory than any other one. */
static void no_end(void **state)
{
	char *at = map(HUGE_BYTES);
	struct rusage before, after;

	memset(at, 'L', HUGE_BYTES);
	getrusage(RUSAGE_SELF, &before);
	assert_null(path_of(at, HUGE_BYTES));
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10);
	munmap(at, HUGE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_variable_is_found),
		cmocka_unit_test(no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
