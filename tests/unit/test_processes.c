/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h: what a thread's times are where its timeline and the kernel's count of it differ, and the order of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyzer/analyse/host/processes.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define START MS
#define END (11 * MS)
#define COST 40000 /* what two switches may cost at most */

#define FIRST PROFBPF__ACCOUNTS__FLAG__FIRST
#define FINAL PROFBPF__ACCOUNTS__FLAG__FINAL
#define RUNNING PROFBPF__ACCOUNTS__FLAG__RUNNING

static struct model *begin(void)
{
	struct model *model = small_model(START, END);

	small_thread(model, small_process(model, 100, "job", true), 100, "main");
	return model;
}

static void count(struct model *model, uint32_t thread, uint64_t ts_ns, uint64_t run_ns, uint32_t flags)
{
	struct account row = { .ts_ns = ts_ns, .thread = thread, .flags = flags, .run_ns = run_ns };

	row.voluntary = ts_ns > 5 * MS;
	assert_true(MODEL_PUSH(&model->accounts, row));
}

/* Returns the figures of the only thread. */
static struct thread_usage figures(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	const struct analysis_options options = { .from_ns = from_ns, .to_ns = to_ns };
	struct process_results results;
	struct thread_usage usage;

	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	assert_int_equal(results.thread_count, 1);
	usage = results.threads[0];
	assert_int_equal(results.processes[0].run_ns, usage.run_ns);
	processes_free(&results);
	model_free(model);
	return usage;
}

/* ---- The timeline and the kernel's count of the whole session: it runs 4 ms of 10, the kernel counted @run_ns */

static struct thread_usage counted(uint64_t run_ns, uint32_t flags)
{
	struct model *model = begin();

	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, END, STATE_SLEEP);
	count(model, 0, START, 0, FIRST);
	count(model, 0, END, run_ns, flags);
	return figures(model, 0, 0);
}

static void the_exact_count_is_preferred(void **state)
{
	struct thread_usage usage = counted(4 * MS + COST, 0);

	(void)state;
	assert_int_equal(usage.source, USAGE_TIMELINE);
	assert_int_equal(usage.run_ns, 4 * MS + COST);
	assert_int_equal(usage.blocked_ns, 6 * MS - COST);
	assert_int_equal(usage.stolen_ns, 0);
	assert_int_equal(usage.voluntary, 0); /* as switches show, of which there are none here */
	/* The count is not exact while the thread runs. */
	usage = counted(4 * MS + COST, RUNNING);
	assert_int_equal(usage.run_ns, 4 * MS);
}

static void less_than_the_timeline_shows_was_stolen(void **state)
{
	struct thread_usage usage = counted(4 * MS - 1, 0);

	(void)state;
	assert_int_equal(usage.stolen_ns, 1);
	assert_int_equal(usage.run_ns, 4 * MS - 1);
	assert_int_equal(usage.blocked_ns, 6 * MS);
}

/* More than switches cost: the timeline lacks some. */
static void a_timeline_without_some_switches_is_not_used(void **state)
{
	struct thread_usage usage = counted(4 * MS + COST + 1, 0);

	(void)state;
	assert_int_equal(usage.source, USAGE_ACCOUNTS);
	assert_int_equal(usage.run_ns, 4 * MS + COST + 1);
	assert_int_equal(usage.blocked_ns, 6 * MS - COST - 1);
	assert_int_equal(usage.voluntary, 1);
}

/* ---- Of 10 ms all but 10 us run: half of them runnable, half waiting for a disk */

static struct thread_usage busy(uint64_t more_ns, enum thread_state state, uint8_t flags)
{
	struct model *model = begin();

	small_span(model, 0, START, END - 10000, STATE_RUNNING);
	small_span(model, 0, END - 10000, END - 5000, STATE_RUNNABLE);
	small_span(model, 0, END - 5000, END, state)->flags = flags;
	count(model, 0, START, 0, FIRST);
	count(model, 0, END, 10 * MS - 10000 + more_ns, 0);
	return figures(model, 0, 0);
}

static void what_switches_cost_is_taken_from_waits(void **state)
{
	struct thread_usage usage = busy(3000, STATE_DISK, 0);

	(void)state;
	assert_int_equal(usage.run_ns, 10 * MS - 7000);
	assert_int_equal(usage.blocked_ns, 2000);
	assert_int_equal(usage.io_ns, 2000);
	assert_int_equal(usage.runnable_ns, 5000);
	usage = busy(7000, STATE_DISK, 0);
	assert_int_equal(usage.blocked_ns, 0);
	assert_int_equal(usage.runnable_ns, 3000);
	usage = busy(10000, STATE_DISK, 0);
	assert_int_equal(usage.run_ns, 10 * MS);
	assert_int_equal(usage.runnable_ns, 0);
	/* There is not so much to take. */
	usage = busy(10001, STATE_DISK, 0);
	assert_int_equal(usage.run_ns, 10 * MS - 10000);
	assert_int_equal(usage.runnable_ns, 5000);
}

static void waits_for_disks_are_known_by_state_or_flag(void **state)
{
	(void)state;
	assert_int_equal(busy(0, STATE_DISK, 0).io_ns, 5000);
	assert_int_equal(busy(0, STATE_SLEEP, SPAN_IOWAIT).io_ns, 5000);
	assert_int_equal(busy(0, STATE_SLEEP, 0).io_ns, 0);
	assert_true(busy(0, STATE_SLEEP, 0).has_io);
}

/* ---- A part of the session, of 2 to 10 ms: the count grows by @more_ns more than the timeline shows between two instants */

static struct thread_usage part(uint64_t first_ns, uint64_t last_ns, int64_t more_ns)
{
	struct model *model = begin();
	uint64_t seen_ns = first_ns < 5 * MS ? 5 * MS - first_ns : 0;

	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, END, STATE_SLEEP);
	count(model, 0, START, 7 * MS, FIRST | RUNNING);
	count(model, 0, first_ns, 8 * MS, 0);
	count(model, 0, last_ns, 8 * MS + seen_ns + (uint64_t)more_ns, 0);
	count(model, 0, END, 20 * MS, FINAL | RUNNING);
	return figures(model, 2 * MS, 10 * MS);
}

static void the_bounds_of_a_part_belong_to_it(void **state)
{
	(void)state;
	assert_int_equal(part(2 * MS, 10 * MS, 0).run_ns, 3 * MS);
	assert_int_equal(part(2 * MS, 10 * MS, 30000).run_ns, 3 * MS + 30000);
	assert_int_equal(part(2 * MS - 1, 10 * MS, 30000).run_ns, 3 * MS);
	assert_int_equal(part(2 * MS, 10 * MS + 1, 30000).run_ns, 3 * MS);
}

/* The rest is in proportion if more than half of the time lies between the instants. */
static void differences_of_a_part_are_in_proportion(void **state)
{
	(void)state;
	assert_int_equal(part(3 * MS, 9 * MS, 20000).run_ns, 3 * MS + 30000);
	assert_int_equal(part(7 * MS / 2, 9 * MS, 20000).run_ns, 3 * MS + 20000);
	assert_int_equal(part(4 * MS, 9 * MS, 20000).run_ns, 3 * MS + 20000);
}

/* Unlike that of the session, the count of a part does not replace the timeline. */
static void a_part_keeps_its_timeline(void **state)
{
	struct thread_usage usage = part(2 * MS, 10 * MS, 10 * MS);

	(void)state;
	assert_int_equal(usage.source, USAGE_TIMELINE);
	assert_int_equal(usage.run_ns, 3 * MS);
	/* One that stands still says that others had the CPU; one that shrinks tells nothing. */
	assert_int_equal(part(2 * MS, 10 * MS, -3 * (int64_t)MS).stolen_ns, 3 * MS);
	usage = part(2 * MS, 10 * MS, -4 * (int64_t)MS);
	assert_int_equal(usage.run_ns, 3 * MS);
	assert_int_equal(usage.stolen_ns, 0);
}

/* The part from the begin: the last reading in it counts, not that of the session. */
static void a_part_may_begin_with_the_session(void **state)
{
	struct model *model = begin();

	(void)state;
	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, END, STATE_SLEEP);
	count(model, 0, START, 0, FIRST);
	count(model, 0, 10 * MS, 4 * MS + 30000, 0);
	count(model, 0, END, 20 * MS, RUNNING);
	assert_int_equal(figures(model, 0, 10 * MS).run_ns, 4 * MS + 30000);
}

/* ---- Timelines with holes: they are used for a part if a hundredth is unknown */

static struct thread_usage holed(uint64_t unknown_ns, bool counted, uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = begin();

	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, 5 * MS + unknown_ns, STATE_UNKNOWN);
	small_span(model, 0, 5 * MS + unknown_ns, END, STATE_SLEEP);
	if (counted) {
		count(model, 0, START, 0, FIRST);
		count(model, 0, END, 4 * MS, 0);
	}
	return figures(model, from_ns, to_ns);
}

static void small_holes_matter_only_for_the_session(void **state)
{
	struct thread_usage usage = holed(1, true, 0, 0);

	(void)state;
	assert_int_equal(usage.source, USAGE_ACCOUNTS);
	assert_int_equal(holed(0, true, 0, 0).source, USAGE_TIMELINE);
	assert_int_equal(holed(80000, true, 2 * MS, 10 * MS).source, USAGE_TIMELINE);
	assert_int_equal(holed(80001, true, 2 * MS, 10 * MS).source, USAGE_ACCOUNTS);
	assert_int_equal(holed(90000, true, START, 10 * MS).source, USAGE_TIMELINE);
	assert_int_equal(holed(90000, true, 2 * MS, END).source, USAGE_TIMELINE);
}

static void waits_for_io_are_known_with_small_holes(void **state)
{
	(void)state;
	assert_true(holed(100000, false, 0, 0).has_io);
	assert_false(holed(100001, false, 0, 0).has_io);
	assert_true(holed(100001, false, 0, 0).has_reasons);
	assert_true(holed(100001, false, 0, 0).has_counts);
}

/* ---- Lost records */

/* Are records lost in a file that @ended as it should, or not, of which some was skipped? */
static bool damaged(uint64_t packets, uint64_t bytes, bool ended)
{
	const struct analysis_options options = { 0 };
	struct model *model = begin();
	struct source_loss loss = { .name = model_string(model, "sched"), .read = UINT64_MAX };
	struct process_results results;
	bool is;

	assert_true(MODEL_PUSH(&model->sources, loss));
	model->damage.packets_skipped = packets;
	model->damage.bytes_skipped = bytes;
	model->info.ended = ended;
	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	is = results.records_lost;
	processes_free(&results);
	model_free(model);
	return is;
}

static bool lost(const char *name, uint64_t produced, uint64_t delivered, uint64_t read)
{
	const struct analysis_options options = { 0 };
	struct model *model = begin();
	struct source_loss loss = { .name = model_string(model, name), .produced = produced,
				    .delivered = delivered, .read = read };
	struct process_results results;
	bool is;

	assert_true(MODEL_PUSH(&model->sources, loss));
	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	is = results.records_lost;
	processes_free(&results);
	model_free(model);
	return is;
}

static void lost_switches_make_a_timeline_doubtful(void **state)
{
	struct model *model = begin();
	struct source_loss loss = { .name = model_string(model, "sched"), .produced = 2, .delivered = 1 };
	struct thread_usage usage;

	(void)state;
	assert_true(MODEL_PUSH(&model->sources, loss));
	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, END, STATE_SLEEP);
	count(model, 0, START, 0, FIRST);
	count(model, 0, END, 6 * MS, 0);
	usage = figures(model, 0, 0);
	assert_int_equal(usage.source, USAGE_ACCOUNTS);
	assert_int_equal(usage.run_ns, 6 * MS);
	assert_false(usage.has_io);
	assert_false(usage.has_reasons);
}

static void lost_switches_are_noticed(void **state)
{
	(void)state;
	assert_false(lost("sched", 10, 10, UINT64_MAX));
	assert_true(lost("sched", 11, 10, UINT64_MAX));
	assert_false(lost("sched", 10, 10, 10));
	assert_true(lost("sched", 10, 10, 9));
	assert_false(lost("api", 11, 10, 9));
}

/* Damage makes timelines doubtful, unless the recording says at its end that no switch was lost. */
static void damage_may_have_been_switches(void **state)
{
	(void)state;
	assert_false(damaged(0, 0, false));
	assert_true(damaged(1, 0, false));
	assert_true(damaged(0, 1, false));
	assert_false(damaged(1, 1, true));
}

/* ---- Threads without a timeline: the time in which they exist */

static uint64_t alive(uint64_t start_ns, uint64_t first_ns, uint64_t exit_ns, uint32_t flags, uint64_t last_ns,
		      uint32_t last_flags)
{
	struct model *model = begin();

	model->threads.row[0].start_ns = start_ns;
	model->threads.row[0].first_ns = first_ns;
	model->threads.row[0].exit_ns = exit_ns;
	count(model, 0, 4 * MS, MS, flags);
	count(model, 0, last_ns, 2 * MS, last_flags);
	return figures(model, 0, 0).alive_ns;
}

static void a_thread_exists_as_far_as_the_trace_shows(void **state)
{
	(void)state;
	assert_int_equal(alive(0, 4 * MS, 0, 0, 9 * MS, 0), 7 * MS);
	assert_int_equal(alive(3 * MS, 4 * MS, 0, 0, 9 * MS, 0), 8 * MS);
	assert_int_equal(alive(0, 4 * MS, 0, FIRST, 9 * MS, 0), 10 * MS);
	assert_int_equal(alive(0, 4 * MS, 0, 0, 9 * MS, FINAL), 5 * MS);
	assert_int_equal(alive(0, 4 * MS, 8 * MS, 0, 9 * MS, FINAL), 4 * MS);
}

/* Even if it ran for so short a time that switches may explain it. */
static void a_thread_without_a_timeline_has_the_times_of_its_count(void **state)
{
	struct model *model = begin();
	struct thread_usage usage;

	(void)state;
	count(model, 0, START, 0, FIRST);
	count(model, 0, END, 10000, 0);
	usage = figures(model, 0, 0);
	assert_int_equal(usage.source, USAGE_ACCOUNTS);
	assert_int_equal(usage.run_ns, 10000);
	assert_int_equal(usage.alive_ns, 10 * MS);
}

/* ---- Switches */

static void switches_of_the_window_count(void **state)
{
	struct model *model = begin();
	struct thread_usage usage;

	(void)state;
	small_span(model, 0, START, END, STATE_RUNNING);
	for (uint64_t ts_ns = MS; ts_ns <= 10 * MS; ts_ns += MS) {
		struct cpu_switch row = { .ts_ns = ts_ns, .prev_thread = ts_ns == 5 * MS ? INDEX_NONE : 0,
					  .next_thread = INDEX_NONE, .object = INDEX_NONE, .syscall = -1 };

		row.state = ts_ns == 3 * MS || ts_ns == 4 * MS ? PROFBPF__SWITCHES__STATE__PREEMPTED
							       : PROFBPF__SWITCHES__STATE__SLEEP;
		assert_true(MODEL_PUSH(&model->switches, row));
	}
	usage = figures(model, 2 * MS, 9 * MS);
	assert_int_equal(usage.involuntary, 2);
	assert_int_equal(usage.voluntary, 4); /* at 2, 6, 7 and 8 ms */
}

/* ---- Rows */

/* What the next thread does is no part of what a thread's count is compared with. */
static void threads_have_their_own_timelines(void **state)
{
	const struct analysis_options options = { 0 };
	struct model *model = begin();
	struct process_results results;

	(void)state;
	small_thread(model, 0, 101, "thread");
	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_span(model, 0, 5 * MS, END, STATE_SLEEP);
	small_span(model, 1, 6 * MS, 9 * MS, STATE_RUNNING);
	count(model, 0, START, 0, FIRST);
	count(model, 0, END, 4 * MS, 0);
	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	assert_int_equal(results.thread_count, 2);
	assert_int_equal(results.threads[0].thread, 0);
	assert_int_equal(results.threads[0].run_ns, 4 * MS);
	assert_int_equal(results.threads[0].stolen_ns, 0);
	processes_free(&results);
	model_free(model);
}

/* The source of a process is the least exact one of its threads. */
static void sources_of_threads_are_summed(void **state)
{
	const struct analysis_options options = { 0 };

	(void)state;
	for (uint32_t threads = 1; threads <= 3; threads++) {
		struct model *model = begin();
		struct process_results results;

		for (uint32_t i = 1; i < threads; i++)
			small_thread(model, 0, 100 + i, "thread");
		small_span(model, 0, START, 5 * MS, STATE_RUNNING);
		if (threads > 1) {
			count(model, 1, START, 0, FIRST);
			count(model, 1, END, 3 * MS, 0);
		}
		small_index(model);
		assert_int_equal(processes_analyse(model, &options, &results), 0);
		assert_int_equal(results.processes[0].source,
				 threads == 1 ? USAGE_TIMELINE : threads == 2 ? USAGE_ACCOUNTS : USAGE_UNKNOWN);
		assert_true(results.from_timelines);
		/* Nothing is known of the third one: its row stays. */
		assert_int_equal(results.thread_count, threads);
		assert_int_equal(results.threads[threads - 1].has_counts, threads < 3);
		processes_free(&results);
		model_free(model);
	}
}

static void a_thread_that_ended_before_the_window_has_no_row(void **state)
{
	const struct analysis_options options = { .from_ns = 5 * MS };
	struct process_results results;
	struct model *model = begin();

	(void)state;
	small_span(model, 0, START, 5 * MS, STATE_RUNNING);
	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	assert_int_equal(results.thread_count, 0);
	assert_false(results.from_timelines);
	processes_free(&results);
	model_free(model);
}

/* Jobs first, then what runs longest, then the smaller id. */
static void rows_are_in_order(void **state)
{
	static const struct {
		uint32_t pid;
		uint32_t tid;
		uint64_t run_ms;
	} ROWS[] = { { 300, 300, 4 }, { 300, 301, 2 }, { 400, 400, 7 }, { 100, 100, 1 },
		     { 100, 102, 3 }, { 100, 101, 3 }, { 200, 200, 8 } };
	static const uint32_t PIDS[] = { 200, 100, 400, 300 };
	static const uint32_t TIDS[] = { 200, 101, 102, 100, 400, 300, 301 };
	const struct analysis_options options = { 0 };
	struct model *model = small_model(START, END);
	struct process_results results;
	uint32_t process = 0, shown = 0;

	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		if (i == 0 || ROWS[i].pid != ROWS[i - 1].pid)
			process = small_process(model, ROWS[i].pid, "job", ROWS[i].pid != 300);
		small_thread(model, process, ROWS[i].tid, "thread");
	}
	for (uint32_t i = 0; i < 7; i++) {
		small_span(model, i, START, START + ROWS[i].run_ms * MS, STATE_RUNNING);
		small_span(model, i, START + ROWS[i].run_ms * MS, END, STATE_SLEEP);
	}
	small_index(model);
	assert_int_equal(processes_analyse(model, &options, &results), 0);
	assert_int_equal(results.process_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct process_usage *row = &results.processes[i];
		uint64_t run_ns = 0;

		assert_int_equal(model->processes.row[row->process].pid, PIDS[i]);
		for (uint32_t k = 0; k < row->thread_count; k++) {
			assert_int_equal(model->threads.row[row->threads[k].thread].tid, TIDS[shown++]);
			run_ns += row->threads[k].run_ns;
		}
		assert_int_equal(row->run_ns, run_ns);
	}
	assert_int_equal(shown, 7);
	processes_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exact_count_is_preferred),
		cmocka_unit_test(less_than_the_timeline_shows_was_stolen),
		cmocka_unit_test(a_timeline_without_some_switches_is_not_used),
		cmocka_unit_test(what_switches_cost_is_taken_from_waits),
		cmocka_unit_test(waits_for_disks_are_known_by_state_or_flag),
		cmocka_unit_test(the_bounds_of_a_part_belong_to_it),
		cmocka_unit_test(differences_of_a_part_are_in_proportion),
		cmocka_unit_test(a_part_keeps_its_timeline),
		cmocka_unit_test(a_part_may_begin_with_the_session),
		cmocka_unit_test(small_holes_matter_only_for_the_session),
		cmocka_unit_test(waits_for_io_are_known_with_small_holes),
		cmocka_unit_test(lost_switches_make_a_timeline_doubtful),
		cmocka_unit_test(lost_switches_are_noticed),
		cmocka_unit_test(damage_may_have_been_switches),
		cmocka_unit_test(a_thread_exists_as_far_as_the_trace_shows),
		cmocka_unit_test(a_thread_without_a_timeline_has_the_times_of_its_count),
		cmocka_unit_test(switches_of_the_window_count),
		cmocka_unit_test(threads_have_their_own_timelines),
		cmocka_unit_test(sources_of_threads_are_summed),
		cmocka_unit_test(a_thread_that_ended_before_the_window_has_no_row),
		cmocka_unit_test(rows_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
