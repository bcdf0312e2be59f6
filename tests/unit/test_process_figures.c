/* SPDX-License-Identifier: Apache-2.0 */
/* User and system time, intervals of processes, groups: on a model with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/host/cpu_split.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/host/process_series.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/join/thread/timelines.h"
#include "tests/unit/small_model.h"

#define START 10000000000ull
#define END 13000000000ull
#define SECOND 1000000000ull
#define MS 1000000ull

static void push_account(struct model *m, uint32_t thread, uint64_t ts, uint32_t flags,
			 uint64_t run_ms, uint64_t user_ms, uint64_t system_ms, uint64_t chars)
{
	struct account row = { .ts_ns = ts,
			       .thread = thread,
			       .flags = flags | PROFBPF__ACCOUNTS__FLAG__HAS_BYTES,
			       .run_ns = run_ms * MS,
			       .user_ns = user_ms * MS,
			       .system_ns = system_ms * MS,
			       .read_chars = chars };

	assert_true(MODEL_PUSH(&m->accounts, row));
}

static void push_host(struct model *m, uint64_t ts, uint64_t busy_ms, uint32_t runnable)
{
	struct host_stat host = { .ts_ns = ts, .runnable = runnable, .blocked = 1 };

	assert_true(MODEL_PUSH(&m->host_stats, host));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct cpu_stat row = { .ts_ns = ts, .cpu = cpu };

		row.user_ns = cpu ? 0 : busy_ms * MS;
		row.idle_ns = ts - row.user_ns;
		assert_true(MODEL_PUSH(&m->cpu_stats, row));
	}
}

static void push_process(struct model *m, uint32_t process, uint64_t ts, uint32_t flags,
			 uint64_t rss, uint64_t gone_ms)
{
	struct process_stat row = { .ts_ns = ts,
				    .process = process,
				    .flags = flags,
				    .ns_pid = 7,
				    .ns_inode = 77,
				    .cgroup = 0,
				    .rss_bytes = rss,
				    .peak_rss_bytes = rss,
				    .gone_run_ns = gone_ms * MS,
				    .gone_user_ns = gone_ms * MS };

	assert_true(MODEL_PUSH(&m->process_stats, row));
}

/*
 * A job with two threads, the second one started and ended in the second second; a process that is no target runs in
 * the third. Before the session the job used 1000 ms in user mode in threads that have ended, and 1000 ms of system
 * time in its first thread.
 */
static struct model *job(void)
{
	struct model *m = small_model(START, END);
	uint32_t p = small_process(m, 100, "job", true), q = small_process(m, 200, "other", false);
	uint32_t first = small_thread(m, p, 100, "job"), second = small_thread(m, p, 101, "worker");
	uint32_t other = small_thread(m, q, 200, "other");
	uint32_t path = model_string(m, "/group/inner");
	struct cgroup group = { .id = 5, .path = path };

	m->info.interval_ns = SECOND;
	m->threads.row[second].start_ns = START + SECOND + 1;
	m->threads.row[second].first_ns = START + SECOND + 1;
	assert_true(MODEL_PUSH(&m->cgroups, group));
	for (int i = 0; i < 4; i++)
		push_host(m, START + i * SECOND, i * 500, i);
	push_account(m, first, START + 10, PROFBPF__ACCOUNTS__FLAG__FIRST, 1000, 0, 1000, 50);
	push_account(m, other, START + 11, PROFBPF__ACCOUNTS__FLAG__FIRST, 10, 10, 0, 0);
	push_account(m, first, START + SECOND + 10, 0, 1400, 200, 1200, 150);
	push_account(m, second, START + 2 * SECOND - 5, PROFBPF__ACCOUNTS__FLAG__FINAL, 300, 300, 0,
		     7);
	push_account(m, first, END + 10, 0, 1500, 250, 1250, 150);
	push_account(m, other, END + 11, 0, 60, 60, 0, 0);
	push_process(m, p, START + 9,
		     PROFBPF__PROCESSES__FLAG__FIRST | PROFBPF__PROCESSES__FLAG__HAS_RSS, 4096,
		     1000);
	push_process(m, p, START + 2 * SECOND + 9, PROFBPF__PROCESSES__FLAG__HAS_RSS, 8192, 1300);
	push_process(m, p, END - 1, PROFBPF__PROCESSES__FLAG__FINAL, 0, 1300);
	for (int i = 0; i < 4; i++) {
		struct cgroup_stat stat = { .ts_ns = START + i * SECOND + 3,
					    .flags = MODEL_CGROUP_QUOTA | MODEL_CGROUP_THROTTLING,
					    .quota_ns = 50 * MS,
					    .period_ns = 100 * MS,
					    .periods = 100 + 10 * i,
					    .throttled_periods = 20 + 2 * i,
					    .throttled_ns = 1000 * i };

		assert_true(MODEL_PUSH(&m->cgroup_stats, stat));
	}
	small_index(m);
	return m;
}

static void split_adds_up(void **state)
{
	struct cpu_sums none = { 0 }, sums = { 1000, 30, 10 }, later = { 2000, 30, 70 };
	struct cpu_split split = cpu_split(&sums);

	assert_int_equal(split.user_ns, 750);
	assert_int_equal(split.system_ns, 250);
	assert_int_equal(cpu_split(&none).user_ns, 0);
	sums = (struct cpu_sums){ 77, 0, 0 }; /* no tick hit it: all user time, as in the kernel */
	assert_int_equal(cpu_split(&sums).user_ns, 77);
	/* User time by ticks fell from 750 to 600: it must not go backwards. */
	sums = (struct cpu_sums){ 1000, 30, 10 };
	split = cpu_split_growth(&sums, &later);
	assert_int_equal(split.user_ns, 0);
	assert_int_equal(split.system_ns, 1000);
	sums = (struct cpu_sums){ UINT64_MAX, UINT64_MAX, UINT64_MAX };
	split = cpu_split(&sums);
	assert_true(split.user_ns + split.system_ns == UINT64_MAX);
	split = (struct cpu_split){ 1, UINT64_MAX };
	assert_true(cpu_split_scale(&split, UINT64_MAX) > 0);
	split = (struct cpu_split){ 0 };
	assert_int_equal(cpu_split_scale(&split, 5), 0);
}

static void intervals_add_up(void **state)
{
	struct model *m = job();
	struct analysis_options options = { 0 };
	struct host_results host;
	struct series_results series;
	const struct process_interval *row;

	assert_int_equal(host_analyse(m, &options, &host), 0);
	assert_int_equal(series_analyse(m, &host, &series), 0);
	assert_int_equal(host.interval_count, 3);
	assert_int_equal(host.intervals[0].active_processes, 1);
	assert_int_equal(host.intervals[1].active_processes, 1);
	assert_int_equal(host.intervals[2].active_processes, 2);
	assert_int_equal(host.intervals[1].blocked, 1);
	assert_true(host.cells[1].user_ns == 500 * MS); /* CPU 0, second interval */
	assert_true(host.cells[3 + 1].user_ns == 0);
	assert_true(host.cells[3 + 1].idle_ns == SECOND);

	/* Only targets have rows: 400 ms, then the thread's 300, then 100. */
	assert_int_equal(series.row_count, 3);
	assert_true(series.of[0].has_split);
	row = &series.rows[series.of[0].first];
	assert_true(row[0].run_ns == 400 * MS);
	assert_true(row[1].run_ns == 300 * MS);
	assert_true(row[2].run_ns == 100 * MS);
	assert_true(row[0].bytes.read_chars == 100);
	assert_true(row[1].bytes.read_chars == 7);
	/* 2000 ms, half of them system time, become 2400, with 1200 each. */
	assert_true(row[0].user_ns == 200 * MS);
	assert_true(row[0].system_ns == 200 * MS);
	assert_true(row[1].user_ns == 300 * MS);
	assert_true(row[2].user_ns + row[2].system_ns == 100 * MS);
	assert_true(row[0].rss_bytes == 4096);
	assert_true(row[1].rss_bytes == 8192);
	series_free(&series);
	host_free(&host);
	model_free(m);
}

static void window_leaves_out(void **state)
{
	struct model *m = job();
	struct analysis_options options = { .from_ns = START + SECOND, .to_ns = END };
	struct host_results host;
	struct series_results series;

	assert_int_equal(host_analyse(m, &options, &host), 0);
	assert_int_equal(series_analyse(m, &host, &series), 0);
	assert_int_equal(host.interval_count, 2);
	assert_int_equal(series.row_count, 2);
	assert_int_equal(series.rows[0].interval, 0);
	assert_true(series.rows[0].run_ns == 300 * MS);
	series_free(&series);
	host_free(&host);
	model_free(m);
}

static void process_has_facts(void **state)
{
	struct model *m = job();
	struct analysis_options options = { 0 };
	struct process_results results;
	const struct process_usage *usage;

	assert_int_equal(timelines_build(m), 0);
	assert_int_equal(processes_analyse(m, &options, &results), 0);
	usage = &results.processes[0];
	assert_int_equal(m->processes.row[usage->process].pid, 100);
	assert_true(usage->has_split);
	assert_true(usage->user_ns + usage->system_ns == usage->run_ns);
	assert_true(usage->has_bytes);
	assert_true(usage->bytes.read_chars == 107);
	assert_true(usage->has_rss);
	assert_true(usage->rss_bytes == 8192); /* the last known value: its memory was freed at the end */
	assert_int_equal(usage->ns_pid, 7);
	assert_int_equal(usage->ns_inode, 77);
	assert_int_equal(usage->cgroup, 0);
	assert_int_equal(results.processes[1].cgroup, INDEX_NONE);
	processes_free(&results);
	model_free(m);
}

static void groups_grow(void **state)
{
	struct model *m = job();
	struct analysis_options options = { .from_ns = START, .to_ns = END };
	struct cgroup_results results;

	assert_int_equal(cgroups_analyse(m, &options, &results), 0);
	assert_int_equal(results.count, 1);
	assert_int_equal(results.row[0].processes, 1);
	assert_int_equal(results.row[0].interval_count, 3);
	assert_int_equal(results.row[0].intervals[0].periods, 10);
	assert_int_equal(results.row[0].intervals[1].throttled_periods, 2);
	assert_true(results.row[0].all.quota_ns == 50 * MS);
	assert_int_equal(results.row[0].all.throttled_periods, 6);
	assert_int_equal(results.row[0].all.periods, 30);
	assert_false(results.row[0].flags & MODEL_CGROUP_USAGE);
	cgroups_free_results(&results);
	model_free(m);
}

static void nothing_is_fine(void **state)
{
	struct model *m = small_model(START, END);
	struct analysis_options options = { 0 };
	struct host_results host;
	struct series_results series;
	struct cgroup_results groups;

	small_index(m);
	assert_int_equal(host_analyse(m, &options, &host), 0);
	assert_int_equal(series_analyse(m, &host, &series), 0);
	assert_int_equal(cgroups_analyse(m, &options, &groups), 0);
	assert_int_equal(series.row_count, 0);
	assert_int_equal(groups.count, 0);
	cgroups_free_results(&groups);
	series_free(&series);
	host_free(&host);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split_adds_up),     cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(window_leaves_out), cmocka_unit_test(process_has_facts),
		cmocka_unit_test(groups_grow),	     cmocka_unit_test(nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
