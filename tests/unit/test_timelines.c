/* SPDX-License-Identifier: Apache-2.0 */
/* Threads' timelines from switches and wake-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/join/thread/timelines.h"
#include "tests/unit/sample_trace.h"

#define START 1000ull
#define END 2000ull
#define TID 10
#define RIVAL 20

/* A session from 1000 to 2000 with the target 10 and another process 20. */
static struct trace_builder *begin(uint32_t first_flags)
{
	static const uint32_t targets[] = { TID };
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = START,
							.session = 1,
							.targets = targets,
							.target_count = 1 });
	trace_target(builder, START, TID, TID, "target");
	trace_task(builder, &(struct trace_task_row){ .ts_ns = START,
						      .tid = RIVAL,
						      .tgid = RIVAL,
						      .start_ns = 5,
						      .name = "rival" });
	trace_account(builder, &(struct trace_account_row){
				       .ts_ns = START,
				       .tid = TID,
				       .tgid = TID,
				       .flags = PROFBPF__ACCOUNTS__FLAG__FIRST | first_flags });
	return builder;
}

static void out(struct trace_builder *builder, uint64_t ts_ns, uint32_t cpu, uint32_t next,
		uint32_t why)
{
	trace_switch(builder,
		     &(struct trace_switch_row){
			     .cpu = cpu,
			     .ts_ns = ts_ns,
			     .prev_tid = TID,
			     .next_tid = next,
			     .state = why,
			     .syscall = why == PROFBPF__SWITCHES__STATE__SLEEP ? 202 : -1 });
}

static void in(struct trace_builder *builder, uint64_t ts_ns, uint32_t cpu, uint32_t prev)
{
	trace_switch(builder, &(struct trace_switch_row){ .cpu = cpu,
							  .ts_ns = ts_ns,
							  .prev_tid = prev,
							  .next_tid = TID,
							  .syscall = -1 });
}

static void wake(struct trace_builder *builder, uint64_t ts_ns, uint32_t waker, uint32_t flags)
{
	trace_wake(builder,
		   &(struct trace_wake_row){
			   .ts_ns = ts_ns, .waker_tid = waker, .tid = TID, .flags = flags });
}

/* Ends the session and returns the model with its timelines. */
static struct model *end(struct trace_builder *builder)
{
	struct model *model;

	trace_statistics(builder, END, true, "duration");
	model = load_trace(builder);
	assert_int_equal(timelines_build(model), 0);
	assert_int_equal(model->timelines.count, model->threads.count);
	return model;
}

struct expected {
	uint64_t end_ns;
	uint8_t state;
	uint8_t flags;
	uint32_t other; /* tid, 0 = none */
};

/* Checks that the target's spans have no holes from @start_ns on. */
static void check(struct model *model, uint64_t start_ns, const struct expected *expected,
		  uint32_t count)
{
	uint32_t thread = model_thread_at(model, TID, END);
	const struct timeline *timeline = &model->timelines.row[thread];

	assert_int_equal(timeline->count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		uint32_t other = span->other == INDEX_NONE ? 0
							   : model->threads.row[span->other].tid;

		assert_int_equal(span->start_ns, start_ns);
		assert_int_equal(span->end_ns, expected[i].end_ns);
		assert_int_equal(span->state, expected[i].state);
		assert_int_equal(span->flags, expected[i].flags);
		assert_int_equal(other, expected[i].other);
		start_ns = span->end_ns;
	}
	model_free(model);
}

#define CHECK(model, start, ...)                                      \
	check(model, start, (const struct expected[]){ __VA_ARGS__ }, \
	      sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void sleep_wake_run(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	out(builder, 1100, 0, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	wake(builder, 1300, RIVAL, 0);
	in(builder, 1310, 0, 0);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 }, { 1300, STATE_SLEEP, 0, RIVAL },
	      { 1310, STATE_RUNNABLE, SPAN_CPU_IDLE, 0 }, { END, STATE_RUNNING, 0, 0 });
}

static void asleep_in_a_system_call(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);
	struct model *model;

	out(builder, 1100, 3, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	model = end(builder);
	assert_int_equal(model->spans.row[0].cpu, 3);
	assert_int_equal(model->spans.row[1].syscall, 202);
	CHECK(model, START, { 1100, STATE_RUNNING, 0, 0 }, { END, STATE_SLEEP, 0, 0 });
}

/* The thread that the timer interrupted did not wake anything. */
static void woken_by_interrupts(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	out(builder, 1100, 0, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	wake(builder, 1200, RIVAL, PROFBPF__WAKES__FLAG__TIMER);
	in(builder, 1201, 0, 0);
	out(builder, 1300, 0, 0, PROFBPF__SWITCHES__STATE__DISK_SLEEP);
	wake(builder, 1400, RIVAL, PROFBPF__WAKES__FLAG__SOFTIRQ);
	in(builder, 1401, 0, 0);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 },
	      { 1200, STATE_SLEEP, SPAN_WOKEN_TIMER, 0 },
	      { 1201, STATE_RUNNABLE, SPAN_CPU_IDLE, 0 }, { 1300, STATE_RUNNING, 0, 0 },
	      { 1400, STATE_DISK, SPAN_WOKEN_SOFTIRQ, 0 },
	      { 1401, STATE_RUNNABLE, SPAN_CPU_IDLE, 0 }, { END, STATE_RUNNING, 0, 0 });
}

static void preempted_names_the_thief(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	out(builder, 1100, 0, RIVAL, PROFBPF__SWITCHES__STATE__PREEMPTED);
	in(builder, 1200, 0, RIVAL);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 },
	      { 1200, STATE_RUNNABLE, 0, RIVAL }, { END, STATE_RUNNING, 0, 0 });
}

/* Two other threads ran one after the other on the CPU that the thread waited for. */
static void waiting_is_cut_by_who_ran(void **state)
{
	struct trace_builder *builder = begin(0);

	trace_task(
		builder,
		&(struct trace_task_row){
			.ts_ns = START, .tid = 30, .tgid = 30, .start_ns = 5, .name = "second" });
	wake(builder, 1100, RIVAL, 0);
	trace_switch(builder,
		     &(struct trace_switch_row){
			     .ts_ns = 1150, .prev_tid = 30, .next_tid = RIVAL, .syscall = -1 });
	in(builder, 1200, 0, RIVAL);
	CHECK(end(builder), START, { 1100, STATE_SLEEP, 0, RIVAL }, { 1150, STATE_RUNNABLE, 0, 30 },
	      { 1200, STATE_RUNNABLE, 0, RIVAL }, { END, STATE_RUNNING, 0, 0 });
}

static void throttled(struct trace_builder *builder, uint64_t ts_ns, uint32_t next, uint32_t refill_ns)
{
	trace_switch(builder, &(struct trace_switch_row){
				      .ts_ns = ts_ns,
				      .prev_tid = TID,
				      .next_tid = next,
				      .state = PROFBPF__SWITCHES__STATE__PREEMPTED,
				      .syscall = -1,
				      .flags = PROFBPF__SWITCHES__FLAG__THROTTLED,
				      .refill_ns = refill_ns });
}

/* After the quota's refill the thread that has the CPU is responsible. */
static void throttled_until_the_refill(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	throttled(builder, 1100, RIVAL, 50);
	in(builder, 1200, 0, RIVAL);
	throttled(builder, 1300, RIVAL, 100);
	in(builder, 1400, 0, RIVAL);
	throttled(builder, 1500, RIVAL, 0);
	in(builder, 1600, 0, RIVAL);
	/* On another CPU, after a CPU was already free. */
	throttled(builder, 1700, RIVAL, 20);
	in(builder, 1730, 1, 0);
	throttled(builder, 1800, RIVAL, 100);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 },
	      { 1150, STATE_RUNNABLE, SPAN_THROTTLED, RIVAL }, { 1200, STATE_RUNNABLE, 0, RIVAL },
	      { 1300, STATE_RUNNING, 0, 0 }, { 1400, STATE_RUNNABLE, SPAN_THROTTLED, RIVAL },
	      { 1500, STATE_RUNNING, 0, 0 }, { 1600, STATE_RUNNABLE, SPAN_THROTTLED, RIVAL },
	      { 1700, STATE_RUNNING, 0, 0 }, { 1720, STATE_RUNNABLE, SPAN_THROTTLED, RIVAL },
	      { 1730, STATE_RUNNABLE, 0, RIVAL }, { 1800, STATE_RUNNING, 0, 0 },
	      { 1900, STATE_RUNNABLE, SPAN_THROTTLED, RIVAL }, { END, STATE_RUNNABLE, 0, RIVAL });
}

/* The CPU was idle for longer than a wake-up takes: that refill was not enough. */
static void throttled_for_longer(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);
	uint64_t late = 5000000, last = 9000000;
	struct model *model;

	throttled(builder, 1100, 0, 100);
	trace_switch(builder, &(struct trace_switch_row){
				      .ts_ns = late, .next_tid = RIVAL, .syscall = -1 });
	in(builder, late + 100, 0, RIVAL);
	trace_statistics(builder, last, true, "duration");
	model = load_trace(builder);
	assert_int_equal(timelines_build(model), 0);
	CHECK(model, START, { 1100, STATE_RUNNING, 0, 0 },
	      { late, STATE_RUNNABLE, SPAN_THROTTLED | SPAN_CPU_IDLE, 0 },
	      { late + 100, STATE_RUNNABLE, 0, RIVAL }, { last, STATE_RUNNING, 0, 0 });
}

/* The wake-up is recorded before the sleeper's own switch. */
static void wake_up_before_the_switch(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	wake(builder, 1099, RIVAL, 0);
	out(builder, 1100, 0, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	in(builder, 1110, 0, 0);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 },
	      { 1110, STATE_RUNNABLE, SPAN_CPU_IDLE, 0 }, { END, STATE_RUNNING, 0, 0 });
}

static void lost_wake_up_is_told(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	out(builder, 1100, 0, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	in(builder, 1200, 0, 0);
	CHECK(end(builder), START, { 1100, STATE_RUNNING, 0, 0 },
	      { 1200, STATE_SLEEP, SPAN_NO_WAKE, 0 }, { END, STATE_RUNNING, 0, 0 });
}

/* Switched in twice: the time in between is unknown. */
static void contradictions_are_unknown(void **state)
{
	struct trace_builder *builder = begin(0);

	wake(builder, 1100, RIVAL, 0);
	in(builder, 1110, 0, 0);
	in(builder, 1500, 1, 0);
	out(builder, 1600, 1, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	out(builder, 1700, 1, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(end(builder), START, { 1100, STATE_SLEEP, 0, RIVAL },
	      { 1110, STATE_RUNNABLE, SPAN_CPU_IDLE, 0 }, { 1500, STATE_UNKNOWN, 0, 0 },
	      { 1600, STATE_RUNNING, 0, 0 }, { 1700, STATE_UNKNOWN, 0, 0 },
	      { END, STATE_SLEEP, 0, 0 });
}

static void account_and_first_record_must_agree(void **state)
{
	struct trace_builder *builder = begin(0); /* asleep according to the account */

	out(builder, 1100, 0, 0, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(end(builder), START, { 1100, STATE_UNKNOWN, 0, 0 }, { END, STATE_SLEEP, 0, 0 });
}

static void thread_without_records_keeps_its_state(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);

	trace_switch(builder, &(struct trace_switch_row){ .ts_ns = 1500, .prev_tid = RIVAL });
	CHECK(end(builder), START, { END, STATE_RUNNING, 0, 0 });
}

static void born_and_dead_in_the_session(void **state)
{
	struct trace_builder *builder = begin(0);
	struct model *model;
	const struct timeline *timeline;

	trace_task(builder, &(struct trace_task_row){ .ts_ns = 1400,
						      .tid = 11,
						      .tgid = TID,
						      .parent_tgid = TID,
						      .parent_tid = TID,
						      .event = PROFBPF__TASKS__EVENT__FORK,
						      .start_ns = 1399,
						      .name = "child",
						      .flags = PROFBPF__TASKS__FLAG__TARGET });
	trace_wake(builder, &(struct trace_wake_row){ .ts_ns = 1410,
						      .waker_tid = TID,
						      .tid = 11,
						      .flags = PROFBPF__WAKES__FLAG__NEW_THREAD });
	trace_switch(builder, &(struct trace_switch_row){ .ts_ns = 1420, .next_tid = 11 });
	trace_switch(builder,
		     &(struct trace_switch_row){ .ts_ns = 1600,
						 .prev_tid = 11,
						 .state = PROFBPF__SWITCHES__STATE__DEAD });
	model = end(builder);
	timeline = &model->timelines.row[model_thread_at(model, 11, END)];
	assert_int_equal(timeline->count, 2);
	assert_int_equal(model->spans.row[timeline->first].start_ns, 1410);
	assert_int_equal(model->spans.row[timeline->first].state, STATE_RUNNABLE);
	assert_int_equal(model->spans.row[timeline->first].end_ns, 1420);
	assert_int_equal(model->spans.row[timeline->first + 1].state, STATE_RUNNING);
	assert_int_equal(model->spans.row[timeline->first + 1].end_ns, 1600);
	model_free(model);
}

static void others_have_no_timeline(void **state)
{
	struct trace_builder *builder = begin(PROFBPF__ACCOUNTS__FLAG__RUNNING);
	struct model *model;

	out(builder, 1100, 0, RIVAL, PROFBPF__SWITCHES__STATE__PREEMPTED);
	in(builder, 1200, 0, RIVAL);
	model = end(builder);
	assert_int_equal(model->timelines.row[model_thread_at(model, RIVAL, END)].count, 0);
	model_free(model);
}

static void nothing_recorded_is_nothing_known(void **state)
{
	struct model *model = end(begin(PROFBPF__ACCOUNTS__FLAG__RUNNING));

	assert_false(timelines_recorded(model));
	assert_int_equal(model->spans.count, 0);
	model_free(model);
}

/* For any records, spans follow each other without holes and stay in the session. */
static void random_records_keep_the_order(void **state)
{
	for (unsigned int seed = 1; seed <= 200; seed++) {
		struct trace_builder *builder =
			begin(seed % 3 ? PROFBPF__ACCOUNTS__FLAG__RUNNING : 0);
		const struct timeline *timeline;
		struct model *model;
		uint64_t at = START;
		unsigned int random = seed;

		for (int i = 0; i < 60; i++) {
			uint64_t ts_ns = 900 + rand_r(&random) % 1200;

			switch (rand_r(&random) % 3) {
			case 0:
				out(builder, ts_ns, rand_r(&random) % 2, RIVAL,
				    (uint32_t)rand_r(&random) % 4);
				break;
			case 1: in(builder, ts_ns, rand_r(&random) % 2, RIVAL); break;
			default: wake(builder, ts_ns, RIVAL, (uint32_t)rand_r(&random) % 16); break;
			}
		}
		model = end(builder);
		timeline = &model->timelines.row[model_thread_at(model, TID, END)];
		assert_true(timeline->count > 0);
		for (uint32_t i = 0; i < timeline->count; i++) {
			const struct span *span = &model->spans.row[timeline->first + i];

			assert_int_equal(span->start_ns, at);
			assert_true(span->end_ns > span->start_ns);
			at = span->end_ns;
		}
		assert_int_equal(at, END);
		model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleep_wake_run),
		cmocka_unit_test(asleep_in_a_system_call),
		cmocka_unit_test(woken_by_interrupts),
		cmocka_unit_test(preempted_names_the_thief),
		cmocka_unit_test(waiting_is_cut_by_who_ran),
		cmocka_unit_test(throttled_until_the_refill),
		cmocka_unit_test(throttled_for_longer),
		cmocka_unit_test(wake_up_before_the_switch),
		cmocka_unit_test(lost_wake_up_is_told),
		cmocka_unit_test(contradictions_are_unknown),
		cmocka_unit_test(account_and_first_record_must_agree),
		cmocka_unit_test(thread_without_records_keeps_its_state),
		cmocka_unit_test(born_and_dead_in_the_session),
		cmocka_unit_test(others_have_no_timeline),
		cmocka_unit_test(nothing_recorded_is_nothing_known),
		cmocka_unit_test(random_records_keep_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
