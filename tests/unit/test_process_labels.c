/* SPDX-License-Identifier: Apache-2.0 */
/* The labels by which metrics distinguish processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/profbpfd/metrics/process_labels.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-555555555555"

static struct process_labels of_group(const char *text)
{
	struct process_labels labels = { 0 };

	process_labels_group(text, &labels);
	return labels;
}

static void ranks_of_an_environment(void **state)
{
	static const char both[] = "PRANK=1\0OMPI_COMM_WORLD_RANK=5\0RANK=3\0LOCAL_RANK=1";
	static const char no_number[] = "RANK=first\0SLURM_PROCID=7\0LOCAL_RANK=";
	static const char cut[] = { 'R', 'A', 'N', 'K', '=', '3' };
	struct process_labels labels = { 0 };

	process_labels_rank(both, sizeof(both), &labels);
	assert_string_equal(labels.rank, "3");
	assert_string_equal(labels.local_rank, "1");
	labels = (struct process_labels){ 0 };
	process_labels_rank(no_number, sizeof(no_number), &labels);
	assert_string_equal(labels.rank, "7");
	assert_string_equal(labels.local_rank, "");
	labels = (struct process_labels){ 0 };
	process_labels_rank(cut, sizeof(cut), &labels);
	assert_string_equal(labels.rank, "");
	process_labels_rank("RANK=123456789012", 18, &labels);
	assert_string_equal(labels.rank, "");
}

static void containers_and_pods(void **state)
{
	struct process_labels systemd =
		of_group("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
			 "pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-" ID ".scope\n");
	struct process_labels plain = of_group("4:memory:/kubepods/besteffort/pod" POD "/" ID "\n0::/\n");
	struct process_labels docker = of_group("0::/docker/" ID "\n");
	struct process_labels hashed = of_group("0::/kubepods/pod0123456789abcdef0123456789abcdef/" ID "\n");
	struct process_labels monitor = of_group("0::/machine.slice/libpod-conmon-" ID ".scope\n");
	struct process_labels none = of_group("0::/user.slice/user-1000.slice\n");

	assert_string_equal(systemd.container, ID);
	assert_string_equal(systemd.pod, POD);
	assert_string_equal(plain.container, ID);
	assert_string_equal(plain.pod, POD);
	assert_string_equal(docker.cgroup, "/docker/" ID);
	assert_string_equal(docker.container, ID);
	assert_string_equal(docker.pod, "");
	assert_string_equal(hashed.pod, "0123456789abcdef0123456789abcdef");
	assert_string_equal(monitor.container, "");
	assert_string_equal(none.cgroup, "/user.slice/user-1000.slice");
	assert_string_equal(none.container, "");
}

static void groups_that_say_nothing(void **state)
{
	static char text[400];

	assert_string_equal(of_group("").cgroup, "");
	assert_string_equal(of_group("0::/").cgroup, "");
	assert_string_equal(of_group("nonsense\n::\n").cgroup, "");
	/* 65 digits are no id, and a path that does not fit is not truncated. */
	assert_string_equal(of_group("0::/x/" ID "0\n").container, "");
	snprintf(text, sizeof(text), "0::/%0300d\n", 1);
	assert_string_equal(of_group(text).cgroup, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_an_environment),
		cmocka_unit_test(containers_and_pods),
		cmocka_unit_test(groups_that_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
