/* SPDX-License-Identifier: Apache-2.0 */
/* Containers and pods in paths of groups; processes of groups by path, unit and container. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/profctl/groups.h"
#include "lib/base/container_id.h"

#define ID_A "abcd111111111111111111111111111111111111111111111111111111111111"
#define ID_B "abcd222222222222222222222222222222222222222222222222222222222222"
#define POD "12345678-9abc-def0-1234-56789abcdef0"
#define POD_SYSTEMD "12345678_9abc_def0_1234_56789abcdef0"
#define HASH "0123456789abcdef0123456789abcdef"

static void paths_name_containers_and_pods(void **state)
{
	static const struct {
		const char *path, *container, *pod;
	} cases[] = {
		{ "/system.slice/docker-" ID_A ".scope", ID_A, "" },
		{ "/docker/" ID_A, ID_A, "" },
		{ "/machine.slice/libpod-" ID_A ".scope/container", ID_A, "" },
		{ "/libpod_parent/libpod-" ID_A, ID_A, "" },
		{ "/machine.slice/libpod-conmon-" ID_A ".scope", "", "" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_SYSTEMD
		  ".slice/cri-containerd-" ID_B ".scope", ID_B, POD },
		{ "/kubepods.slice/kubepods-pod" POD_SYSTEMD ".slice", "", POD },
		{ "/kubepods/besteffort/pod" POD "/" ID_B, ID_B, POD },
		{ "/kubepods/pod" HASH "/" ID_B, ID_B, HASH },
		{ "/system.slice/kubepods-burstable-pod" POD_SYSTEMD ".slice:cri-containerd:" ID_B, ID_B, POD },
		{ "/docker/" ID_A "/kubelet/kubepods/pod" POD "/" ID_B, ID_B, POD },
		{ "/system.slice/ssh.service", "", "" },
		{ "/kubepods.slice", "", "" },
		{ "/pod" POD "0", "", "" },
		{ "/podpod" HASH, "", "" },
		{ "/" ID_A "0", "", "" },
		{ "/x" ID_A, "", "" },
		{ "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct container_id id;

		assert_int_equal(container_id_parse(cases[i].path, &id),
				 *cases[i].container || *cases[i].pod);
		assert_string_equal(id.container, cases[i].container);
		assert_string_equal(id.pod, cases[i].pod);
	}
}

static char root[] = "/tmp/profbpf-test-groups.XXXXXX";

/* Creates a group in the hierarchy, with these processes in it. */
static void make_group(const char *path, const char *procs)
{
	char name[PATH_MAX];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	assert_int_equal(mkdir(name, 0700), 0);
	strcat(name, "/cgroup.procs");
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(procs, file);
	assert_int_equal(fclose(file), 0);
}

static int make_hierarchy(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	make_group("/system.slice", "");
	make_group("/system.slice/job.service", "11\n12\n");
	make_group("/system.slice/job.service/inner", "13\n0\n");
	make_group("/system.slice/job.slice", "14\n");
	make_group("/system.slice/none.service", "");
	make_group("/user.slice", "");
	make_group("/user.slice/twice.service", "15\n");
	make_group("/system.slice/twice.service", "16\n");
	make_group("/system.slice/docker-" ID_A ".scope", "21\n");
	make_group("/machine.slice", "");
	make_group("/machine.slice/libpod-" ID_B ".scope", "");
	make_group("/machine.slice/libpod-" ID_B ".scope/container", "31\n32\n31\n");
	make_group("/machine.slice/libpod-conmon-" ID_B ".scope", "33\n");
	return 0;
}

static int remove_hierarchy(void **state)
{
	char command[sizeof(root) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void assert_group(enum group_by by, const char *name, size_t count, const uint32_t *expected)
{
	struct pids pids = { 0 };
	char error[1024] = "";

	assert_int_equal(groups_add(&pids, by, name, root, error, sizeof(error)), 0);
	assert_string_equal(error, "");
	assert_int_equal(pids.count, count);
	for (size_t i = 0; i < count; i++)
		assert_true(map_get(&pids.there, expected[i]) != MAP_NONE);
	pids_free(&pids);
}

static void groups_give_their_processes(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/system.slice/job.service", root);
	assert_group(GROUP_BY_PATH, path, 3, (const uint32_t[]){ 11, 12, 13 });
	assert_group(GROUP_BY_PATH, "/system.slice/job.service", 3, (const uint32_t[]){ 11, 12, 13 });
	assert_group(GROUP_BY_PATH, "system.slice/job.service/inner", 1, (const uint32_t[]){ 13 });
	assert_group(GROUP_BY_UNIT, "job", 3, (const uint32_t[]){ 11, 12, 13 });
	assert_group(GROUP_BY_UNIT, "job.slice", 1, (const uint32_t[]){ 14 });
	assert_group(GROUP_BY_CONTAINER, "abcd1", 1, (const uint32_t[]){ 21 });
	assert_group(GROUP_BY_CONTAINER, ID_B, 2, (const uint32_t[]){ 31, 32 });
}

static void assert_no_group(enum group_by by, const char *name, int expected, const char *words)
{
	struct pids pids = { 0 };
	char error[1024] = "";

	assert_int_equal(groups_add(&pids, by, name, root, error, sizeof(error)), expected);
	assert_non_null(strstr(error, words));
	pids_free(&pids);
}

static void others_are_told_what_is_wrong(void **state)
{
	(void)state;
	assert_no_group(GROUP_BY_PATH, "/system.slice/nobody.service", -ENOENT, "there is no group");
	assert_no_group(GROUP_BY_UNIT, "nobody", -ENOENT, "there is no unit");
	assert_no_group(GROUP_BY_UNIT, "none", -ESRCH, "has no processes");
	assert_no_group(GROUP_BY_UNIT, "twice", -ENOTUNIQ, "twice.service");
	assert_no_group(GROUP_BY_UNIT, "a/b", -EINVAL, "not a valid name");
	assert_no_group(GROUP_BY_CONTAINER, "abcd3", -ENOENT, "there is no container");
	assert_no_group(GROUP_BY_CONTAINER, "abcd", -ENOTUNIQ, "is ambiguous");
	assert_no_group(GROUP_BY_CONTAINER, "a", -EINVAL, "is not a container id");
	assert_no_group(GROUP_BY_CONTAINER, "job!", -EINVAL, "is not a container id");
}

static void what_others_started_or_has_ended_is_left_out(void **state)
{
	struct pids from = { 0 }, followed = { 0 }, alone = { 0 };
	pid_t child = fork(), ended;

	(void)state;
	if (!child)
		for (;;)
			pause();
	ended = fork();
	if (!ended)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)ended, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pids_append(&from, (uint32_t[]){ (uint32_t)child, (uint32_t)ended, (uint32_t)getpid() }[i]), 0);
	assert_int_equal(groups_settle(&from, true, &followed), 0);
	assert_int_equal(followed.count, 1);
	assert_int_equal(followed.pid[0], getpid());
	assert_int_equal(groups_settle(&from, false, &alone), 0);
	assert_int_equal(alone.count, 2);
	assert_int_equal(alone.pid[0], child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	waitpid(ended, NULL, 0);
	pids_free(&from);
	pids_free(&followed);
	pids_free(&alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_name_containers_and_pods),
		cmocka_unit_test(groups_give_their_processes),
		cmocka_unit_test(what_others_started_or_has_ended_is_left_out),
		cmocka_unit_test(others_are_told_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, make_hierarchy, remove_hierarchy);
}
