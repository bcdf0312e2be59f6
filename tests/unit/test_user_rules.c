/* SPDX-License-Identifier: Apache-2.0 */
/* The users whom the flight recorder shall record: the administrator's syntax, and the matching users. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/control/accelerator_users.h"

#define POD "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool wants(const char *text, const char *path)
{
	struct user_rules rules = { 0 };
	char error[256];
	bool wanted;

	assert_int_equal(user_rules_add(&rules, text, error, sizeof(error)), 0);
	wanted = user_rule_wants_group(&rules.rule[0], path);
	user_rules_free(&rules);
	return wanted;
}

static void groups_by_path(void **state)
{
	assert_true(wants("cgroup=/jobs/", "/jobs"));
	assert_true(wants("cgroup=/jobs", "/jobs/seven"));
	assert_false(wants("cgroup=/jobs", "/jobsters"));
	assert_false(wants("cgroup=/jobs", "/a/jobs"));
	assert_true(wants("cgroup=/", "/anything"));
}

static void groups_by_unit(void **state)
{
	assert_true(wants("unit=train", "/system.slice/train.service"));
	assert_true(wants("unit=train.service", "/system.slice/train.service/workers"));
	assert_true(wants("unit=train-2.0", "/system.slice/train-2.0.service"));
	assert_true(wants("unit=job.scope", "/user.slice/user-1.slice/job.scope"));
	assert_false(wants("unit=train", "/system.slice/other-train.service"));
	assert_false(wants("unit=train", "/system.slice/train.service.d"));
	assert_false(wants("unit=train", "/system.slice"));
	assert_false(wants("unit=train", ""));
}

static void groups_by_pod(void **state)
{
	assert_true(wants("pod=" POD, "/kubepods/burstable/pod" POD "/" CONTAINER));
	assert_true(wants("pod=" POD, "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
				      "pod0a1b2c3d_4e5f_6789_abcd_ef0123456789.slice/cri-containerd-" CONTAINER ".scope"));
	assert_false(wants("pod=" POD, "/kubepods/burstable/pod1a1b2c3d-4e5f-6789-abcd-ef0123456789/" CONTAINER));
	assert_false(wants("pod=" POD, "/system.slice/train.service"));
}

static void what_makes_no_sense(void **state)
{
	static const char *const texts[] = { "unit=", "unit=a/b", "pod=", "pod=0a1b", "pod=" POD "0", "cgroup=jobs", "group=/jobs",
					     "pid=x", "user=nobody.at.all" };
	struct user_rules rules = { 0 };
	char error[256];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(user_rules_add(&rules, texts[i], error, sizeof(error)) < 0);
		assert_non_null(strstr(error, texts[i]));
	}
	assert_int_equal(rules.count, 0);
	user_rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_by_path),
		cmocka_unit_test(groups_by_unit),
		cmocka_unit_test(groups_by_pod),
		cmocka_unit_test(what_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
