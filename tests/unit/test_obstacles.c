/* SPDX-License-Identifier: Apache-2.0 */
/* Each obstacle to tracing is reported separately, by name, with its remedy. */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/control/obstacles.h"

#define CAP(name) (1ull << (name))

/* A machine on which everything works. */
static struct obstacle_facts good(void)
{
	return (struct obstacle_facts){
		.capabilities = CAP(CAP_SYS_ADMIN) | CAP(CAP_SYS_PTRACE) | CAP(CAP_BPF) |
				CAP(CAP_PERFMON),
		.perf_paranoid = 2,
		.sysfs = true,
		.features = { .btf = true,
			      .ioctls[IOCTL_METHOD_TRACEPOINT] = true,
			      .method = PROBE_METHOD_SESSION },
	};
}

/* Checks that one line contains @obstacle, or @limit; NULL: that there is no such line. */
static void expect(const struct obstacle_facts *facts, const char *obstacle, const char *limit)
{
	struct words obstacles = { 0 }, limits = { 0 };

	assert_int_equal(obstacles_judge(facts, &obstacles, &limits), 0);
	for (size_t i = 0; i < obstacles.count; i++)
		print_message("obstacle: %s\n", obstacles.word[i]);
	for (size_t i = 0; i < limits.count; i++)
		print_message("limit: %s\n", limits.word[i]);
	assert_int_equal(obstacles.count, obstacle != NULL);
	assert_int_equal(limits.count, limit != NULL);
	if (obstacle)
		assert_non_null(strstr(obstacles.word[0], obstacle));
	if (limit)
		assert_non_null(strstr(limits.word[0], limit));
	words_free(&obstacles);
	words_free(&limits);
}

static void test_nothing(void **state)
{
	struct obstacle_facts facts = good();

	expect(&facts, NULL, NULL);
	facts.capabilities = CAP(CAP_BPF) | CAP(CAP_PERFMON) | CAP(CAP_SYS_PTRACE);
	facts.seccomp = true; /* a filter that refuses no call that the daemon needs */
	expect(&facts, NULL, NULL);
}

static void test_kernel(void **state)
{
	struct obstacle_facts facts = good();

	snprintf(facts.features.error, sizeof(facts.features.error),
		 "Linux 5.8 or later is needed");
	expect(&facts, "Linux 5.8", NULL);
	facts.features.btf = false;
	facts.features.method = PROBE_METHOD_NONE;
	snprintf(facts.features.error, sizeof(facts.features.error), "CONFIG_DEBUG_INFO_BTF");
	expect(&facts, "CONFIG_DEBUG_INFO_BTF", NULL);
	facts.btf_hidden = true;
	expect(&facts, "a mount hides /sys/kernel/btf", NULL);
	facts.sysfs = false;
	expect(&facts, "mount sysfs", NULL);
	/* If the user passed a file, the message is about the file. */
	facts.features.btf_given = true;
	expect(&facts, "CONFIG_DEBUG_INFO_BTF", NULL);
	facts = good();
	facts.features.method = PROBE_METHOD_NONE;
	expect(&facts, NULL, "CONFIG_UPROBE_EVENTS");
}

static void test_capabilities(void **state)
{
	struct obstacle_facts facts = good();

	facts.capabilities = CAP(CAP_BPF) | CAP(CAP_SYS_PTRACE);
	facts.bpf_error = 0;
	expect(&facts, "lacks CAP_PERFMON:", NULL);
	facts.capabilities = CAP(CAP_PERFMON);
	/* The failures of bpf() and perf_event_open() without them are not reported separately. */
	facts.bpf_error = EPERM;
	facts.seccomp = true;
	expect(&facts, "lacks CAP_BPF, CAP_SYS_PTRACE:", NULL);
	facts.capabilities = 0;
	expect(&facts, "lacks CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE:", NULL);
	facts = good();
	facts.capabilities = CAP(CAP_SYS_ADMIN);
	expect(&facts, NULL, "without CAP_SYS_PTRACE");
	facts = good();
	facts.user_namespace = true;
	facts.bpf_error = EPERM;
	expect(&facts, "user namespace", NULL);
}

static void test_bpf(void **state)
{
	struct obstacle_facts facts = good();

	facts.bpf_error = EPERM;
	expect(&facts, "security module", NULL);
	facts.seccomp = true;
	expect(&facts, "seccomp filter refuses the system call bpf", NULL);
	facts.seccomp = false;
	facts.bpf_error = EMFILE;
	expect(&facts, "profbpfd has no file descriptors left (Too many open files): raise its limit (LimitNOFILE=", NULL);
	facts.bpf_error = ENFILE;
	expect(&facts, "this machine has no file descriptors left (Too many open files in system): raise fs.file-max", NULL);
	facts.bpf_error = ENOSYS;
	expect(&facts, "CONFIG_BPF_SYSCALL", NULL);
	facts.bpf_error = 0;
	facts.confidential = true;
	expect(&facts, "lockdown", NULL);
}

static void test_limits(void **state)
{
	struct obstacle_facts facts = good();
	char text[640];

	facts.features.ioctls[IOCTL_METHOD_TRACEPOINT] = false;
	expect(&facts, NULL, "mount -t tracefs");
	facts.features.ioctls[IOCTL_METHOD_KPROBE] = true;
	expect(&facts, NULL, NULL);
	facts = good();
	facts.perf_error = EACCES;
	expect(&facts, NULL, "kernel.perf_event_paranoid at 2");
	expect(&facts, NULL, "libraries loaded later are not traced, nor are ioctls: ");
	facts.features.ioctls[IOCTL_METHOD_FUNCTION] = true;
	expect(&facts, NULL, "libraries loaded later are not traced: ");
	facts.features.method = PROBE_METHOD_PERF;
	expect(&facts, NULL, "API calls are not traced");
	facts.seccomp = true;
	expect(&facts, NULL, "seccomp filter refuses perf_event_open");
	facts = good();
	facts.perf_error = EPERM;
	facts.perf_paranoid = INT_MIN;
	expect(&facts, NULL, "perf_event_open fails");
	obstacles_perf_text(EMFILE, text, sizeof(text));
	assert_non_null(strstr(text, "perf_event_open fails: Too many open files"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),	     cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_capabilities), cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
