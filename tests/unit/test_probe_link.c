/* SPDX-License-Identifier: Apache-2.0 */
/* Probes are made for a process by its id. If that may be another process's by then, none of them stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/probe/probe_link.h"
#include "daemon/profbpfd/probe/uprobe_multi.h"

#define LINKS 8

static struct {
	pid_t ends; /* a process that ends while a link is made; 0 = none */
	uint32_t pid; /* of the last link */
	int links[LINKS];
	int made;
} kernel;

static bool right_is_there;

/* The answers of the right, one for each question. */
static bool ask(const struct right *right, pid_t pid)
{
	bool answer = right_is_there;

	(void)right;
	(void)pid;
	right_is_there = false;
	return answer;
}

static const struct right LIMITED = { .uid = 1000, .ask = ask };

static long make_link(const void *attr)
{
	kernel.pid = ((const struct uprobe_multi_attr *)attr)->pid;
	if (kernel.ends) {
		kill(kernel.ends, SIGKILL);
		waitpid(kernel.ends, NULL, 0);
		kernel.ends = 0;
	}
	assert_true(kernel.made < LINKS);
	kernel.links[kernel.made] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return kernel.links[kernel.made++];
}

/* Instead of the C library's: links are made here. */
long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long word[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf)
		return make_link((const void *)word[1]);
	return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

/* ---- The rest of the daemon */

enum probe_method capture_method(const struct capture *capture)
{
	(void)capture;
	return PROBE_METHOD_MULTI;
}

int capture_place_program(const struct capture *capture)
{
	(void)capture;
	return 0;
}

int capture_return_program(const struct capture *capture)
{
	(void)capture;
	return 0;
}

bool capture_keeps_places(const struct capture *capture)
{
	(void)capture;
	return false;
}

int capture_set_place(struct capture *capture, const struct probed_place *place, uint64_t cookie)
{
	(void)capture;
	(void)place;
	(void)cookie;
	return -ENOSYS;
}

struct bpf_link *capture_attach_perf(const struct capture *capture, pid_t pid, const char *path, uint64_t offset,
				     uint64_t cookie)
{
	(void)capture;
	(void)pid;
	(void)path;
	(void)offset;
	(void)cookie;
	return NULL;
}

/* ---- Tests */

static uint64_t offsets[] = { 16 }, cookies[] = { 1 };
static const struct link_points POINTS = { .exits = { offsets, cookies, 1 }, .entries = { offsets, cookies, 1 } };

static pid_t start_process(void)
{
	pid_t pid = fork();

	/* If a test fails, the process must not keep its output open. */
	if (!pid && !prctl(PR_SET_PDEATHSIG, SIGKILL))
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct probe_target target_of(pid_t pid)
{
	struct probe_target target = { .pid = pid };

	assert_int_equal(process_start_time(pid, &target.started), 0);
	return target;
}

static int links_open(void)
{
	int open = 0;

	for (int i = 0; i < kernel.made; i++)
		open += fcntl(kernel.links[i], F_GETFD) >= 0;
	return open;
}

static int begin(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	right_is_there = true;
	return 0;
}

static void stay_in_a_process_that_runs(void **state)
{
	pid_t pid = start_process();
	struct probe_target target = target_of(pid);
	struct probe_link *link = probe_link_new(NULL, 0, &target, &POINTS, NULL, NULL);

	(void)state;
	assert_non_null(link);
	assert_int_equal(kernel.pid, pid);
	assert_int_equal(links_open(), 2);
	probe_link_free(link);
	assert_int_equal(links_open(), 0);
	end_process(pid);
}

static void go_if_it_ends_meanwhile(void **state)
{
	pid_t pid = start_process();
	struct probe_target target = target_of(pid);

	(void)state;
	kernel.ends = pid;
	errno = 0;
	assert_null(probe_link_new(NULL, 0, &target, &POINTS, NULL, NULL));
	assert_int_equal(errno, ESRCH);
	assert_int_equal(kernel.made, 2);
	assert_int_equal(links_open(), 0);
}

static void none_for_another_process_with_its_id(void **state)
{
	pid_t pid = start_process();
	struct probe_target target = target_of(pid);

	(void)state;
	target.started++;
	assert_null(probe_link_new(NULL, 0, &target, &POINTS, NULL, NULL));
	assert_int_equal(errno, ESRCH);
	assert_int_equal(kernel.made, 0);
	end_process(pid);
}

static void go_if_the_right_is_lost_meanwhile(void **state)
{
	pid_t pid = start_process();
	struct probe_target target = target_of(pid);

	(void)state;
	target.right = &LIMITED;
	assert_null(probe_link_new(NULL, 0, &target, &POINTS, NULL, NULL));
	assert_int_equal(errno, ESRCH);
	assert_int_equal(kernel.made, 2);
	assert_int_equal(links_open(), 0);
	end_process(pid);
}

static void stay_where_everybody_has_them(void **state)
{
	const struct probe_target everybody = { 0 };
	struct probe_link *link = probe_link_new(NULL, 0, &everybody, &POINTS, NULL, NULL);

	(void)state;
	assert_non_null(link);
	assert_int_equal(kernel.pid, 0);
	probe_link_free(link);
}

static void new_exits_go_if_it_ends_meanwhile(void **state)
{
	pid_t pid = start_process();
	struct probe_target target = target_of(pid);
	struct probe_link *link = probe_link_new(NULL, 0, &target, &POINTS, NULL, NULL);

	(void)state;
	assert_non_null(link);
	assert_int_equal(probe_link_set_exits(link, NULL, 0, &target, &POINTS.exits), 0);
	assert_int_equal(links_open(), 2);
	kernel.ends = pid;
	assert_int_equal(probe_link_set_exits(link, NULL, 0, &target, &POINTS.exits), -ESRCH);
	assert_int_equal(kernel.made, 4);
	assert_int_equal(links_open(), 2);
	assert_int_equal(probe_link_set_exits(link, NULL, 0, &target, &POINTS.exits), -ESRCH);
	assert_int_equal(kernel.made, 4);
	probe_link_free(link);
	assert_int_equal(links_open(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stay_in_a_process_that_runs, begin),
		cmocka_unit_test_setup(go_if_it_ends_meanwhile, begin),
		cmocka_unit_test_setup(none_for_another_process_with_its_id, begin),
		cmocka_unit_test_setup(go_if_the_right_is_lost_meanwhile, begin),
		cmocka_unit_test_setup(stay_where_everybody_has_them, begin),
		cmocka_unit_test_setup(new_exits_go_if_it_ends_meanwhile, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
