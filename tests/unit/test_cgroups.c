/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas and throttling from the files of both versions of cgroups: texts as the kernel writes them (Linux 6.12,
 * cgroup-v2.rst and sched-bwc.rst), in folders that stand for groups.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/host/cgroups.h"

#define NOBODY 0x7ffffff0 /* no such process: groups are found by inode */

struct fixture {
	char root[64];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/test-cgroups.XXXXXX");
	assert_non_null(mkdtemp(f->root));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", f->root);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static uint64_t make_group(const struct fixture *f, const char *path)
{
	char full[128];
	struct stat st;

	snprintf(full, sizeof(full), "%s%s", f->root, path);
	assert_int_equal(mkdir(full, 0755), 0);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

static void write_text(const struct fixture *f, const char *path, const char *text)
{
	char full[128];
	FILE *out;

	snprintf(full, sizeof(full), "%s%s", f->root, path);
	out = fopen(full, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/* Puts a target into group @id and returns the figures of that group and its ancestors; the caller frees them. */
static Profbpf__CgroupStats *read_group(const struct fixture *f, bool version1, uint64_t id)
{
	struct cgroups *cgroups = cgroups_new_at(f->root, version1);
	Profbpf__CgroupStats *stats = NULL;
	struct item *item;
	bool more;

	assert_non_null(cgroups);
	assert_true(cgroups_version1(cgroups) == version1);
	item = cgroups_note(cgroups, id, NOBODY, true, &more);
	assert_non_null(item);
	assert_int_equal(item->body, PROFBPF__PACKET__KIND__CGROUPS);
	item_free(item);
	item = cgroups_read(cgroups);
	if (item) {
		stats = profbpf__cgroup_stats__unpack(NULL, item->size, (const uint8_t *)item->data);
		assert_non_null(stats);
		item_free(item);
	}
	cgroups_free(cgroups);
	return stats;
}

#define END_COLUMNS(stats) profbpf__cgroup_stats__free_unpacked(stats, NULL)

static void version2(void **state)
{
	struct fixture *f = *state;
	uint64_t outer = make_group(f, "/job.slice"), inner = make_group(f, "/job.slice/train.scope");
	Profbpf__CgroupStats *stats;

	write_text(f, "/job.slice/cpu.max", "max 100000\n");
	/* Without a quota of its own and without the controller: no lines about periods. */
	write_text(f, "/job.slice/cpu.stat",
		   "usage_usec 7000123\nuser_usec 5000100\nsystem_usec 2000023\nnice_usec 0\n"
		   "core_sched.force_idle_usec 0\n");
	write_text(f, "/job.slice/train.scope/cpu.max", "150000 100000\n");
	write_text(f, "/job.slice/train.scope/cpu.stat",
		   "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\nnice_usec 0\n"
		   "core_sched.force_idle_usec 0\nnr_periods 1234\nnr_throttled 56\n"
		   "throttled_usec 789012\nnr_bursts 0\nburst_usec 0\n");
	stats = read_group(f, false, inner);
	assert_non_null(stats);
	assert_int_equal(stats->n_cgroup, 2);
	assert_true(stats->cgroup[0] == inner && stats->cgroup[1] == outer);
	assert_int_equal(stats->flags[0], 1 | 2 | 4 | 8);
	assert_true(stats->quota_ns[0] == 150000000);
	assert_true(stats->period_ns[0] == 100000000);
	assert_true(stats->periods[0] == 1234);
	assert_true(stats->throttled_periods[0] == 56);
	assert_true(stats->throttled_ns[0] == 789012000);
	assert_true(stats->usage_ns[0] == 5000000000);
	assert_true(stats->user_ns[0] == 4000000000);
	assert_true(stats->system_ns[0] == 1000000000);
	/* The quota is known to be unlimited; throttling is unknown, not 0. */
	assert_int_equal(stats->flags[1], 1 | 4 | 8);
	assert_true(stats->quota_ns[1] == 0);
	assert_true(stats->user_ns[1] == 5000100000);
	END_COLUMNS(stats);
}

static void version1(void **state)
{
	struct fixture *f = *state;
	uint64_t group = make_group(f, "/job");
	Profbpf__CgroupStats *stats;

	write_text(f, "/job/cpu.cfs_quota_us", "20000\n");
	write_text(f, "/job/cpu.cfs_period_us", "50000\n");
	write_text(f, "/job/cpu.stat",
		   "nr_periods 10\nnr_throttled 3\nthrottled_time 123456789\nnr_bursts 0\nburst_time 0\n");
	stats = read_group(f, true, group);
	assert_non_null(stats);
	assert_int_equal(stats->flags[0], 1 | 2);
	assert_true(stats->quota_ns[0] == 20000000);
	assert_true(stats->throttled_ns[0] == 123456789);
	END_COLUMNS(stats);

	write_text(f, "/job/cpu.cfs_quota_us", "-1\n");
	write_text(f, "/job/cpuacct.usage", "777\n");
	write_text(f, "/job/cpuacct.usage_user", "700\n");
	write_text(f, "/job/cpuacct.usage_sys", "77\n");
	stats = read_group(f, true, group);
	assert_int_equal(stats->flags[0], 1 | 2 | 4 | 8);
	assert_true(stats->quota_ns == NULL || stats->quota_ns[0] == 0);
	assert_true(stats->user_ns[0] == 700 && stats->system_ns[0] == 77);
	END_COLUMNS(stats);
}

/* A hierarchy that another user mounted may contain anything: values are known or unknown, without a crash. */
static void odd_files(void **state)
{
	static const char *const texts[] = { "", "\n", "max", "max\n", "1 ", "99999999999999999999999 x",
					     "nr_periods\n", "nr_periods 1", "usage_usec 18446744073709551615\n" };
	struct fixture *f = *state;
	uint64_t group = make_group(f, "/odd");
	char large[5000];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		Profbpf__CgroupStats *stats;

		write_text(f, "/odd/cpu.max", texts[i]);
		write_text(f, "/odd/cpu.stat", texts[i]);
		stats = read_group(f, false, group);
		if (stats) {
			assert_int_equal(stats->flags[0] & 2, 0);
			END_COLUMNS(stats);
		}
	}
	memset(large, '7', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	write_text(f, "/odd/cpu.stat", large);
	assert_null(read_group(f, false, group));
}

/* A group is found by inode after its process has ended; nothing is invented for a group that does not exist. */
static void groups_that_go(void **state)
{
	struct fixture *f = *state;
	struct cgroups *cgroups = cgroups_new_at(f->root, false);
	uint64_t group = make_group(f, "/a");
	char full[128];
	struct item *item;
	bool more;

	write_text(f, "/a/cpu.max", "1000 100000\n");
	item = cgroups_note(cgroups, group, NOBODY, false, &more);
	assert_non_null(item);
	item_free(item);
	assert_false(more);
	assert_null(cgroups_read(cgroups)); /* it has no target */
	assert_null(cgroups_note(cgroups, group, NOBODY, true, &more));
	assert_true(more);
	item = cgroups_read(cgroups);
	assert_non_null(item);
	item_free(item);
	snprintf(full, sizeof(full), "%s/a/cpu.max", f->root);
	assert_int_equal(unlink(full), 0);
	snprintf(full, sizeof(full), "%s/a", f->root);
	assert_int_equal(rmdir(full), 0);
	assert_null(cgroups_read(cgroups));
	/* No such inode: reported without a path. */
	item = cgroups_note(cgroups, 1, NOBODY, true, &more);
	assert_non_null(item);
	item_free(item);
	assert_false(more);
	assert_null(cgroups_note(cgroups, 0, NOBODY, true, &more));
	cgroups_free(cgroups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(version2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(version1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(groups_that_go, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
