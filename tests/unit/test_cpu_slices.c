/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads are known to have run on a CPU, and which times must stay unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/export/timeline/cpu_slices.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/small_model.h"

/* Thread rows of the small models: targets 10 and 11 of process 10, others 20 and 30. */
enum { T10, T11, T20, T30 };
static const uint32_t tids[] = { 10, 11, 20, 30 };

static struct model *make_model(void)
{
	struct model *model = small_model(1000, 2000);
	uint32_t job = small_process(model, 10, "job", true);
	uint32_t other = small_process(model, 20, "other", false);

	assert_int_equal(small_thread(model, job, 10, "ten"), T10);
	assert_int_equal(small_thread(model, job, 11, "eleven"), T11);
	assert_int_equal(small_thread(model, other, 20, "twenty"), T20);
	assert_int_equal(small_thread(model, other, 30, "thirty"), T30);
	return model;
}

/* prev, next: thread rows, or -1 for the idle thread. */
static void add_switch(struct model *model, uint16_t cpu, uint64_t ns, int prev, int next,
		       uint8_t state)
{
	struct cpu_switch row = { .ts_ns = ns,
				  .cpu = cpu,
				  .state = state,
				  .syscall = -1,
				  .prev_thread = prev < 0 ? INDEX_NONE : (uint32_t)prev,
				  .next_thread = next < 0 ? INDEX_NONE : (uint32_t)next,
				  .prev_tid = prev < 0 ? 0 : tids[prev],
				  .next_tid = next < 0 ? 0 : tids[next] };

	row.flags |= prev == T10 || prev == T11 ? PROFBPF__SWITCHES__FLAG__PREV_TARGET : 0;
	row.flags |= next == T10 || next == T11 ? PROFBPF__SWITCHES__FLAG__NEXT_TARGET : 0;
	assert_true(MODEL_PUSH(&model->switches, row));
}

static void add_wake(struct model *model, uint64_t ns, uint32_t thread)
{
	struct wake row = { .ts_ns = ns, .thread = thread, .waker_thread = INDEX_NONE };

	assert_true(MODEL_PUSH(&model->wakes, row));
}

struct expected {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t tid;
	uint8_t leaves;
};

static void check(struct model *model, const struct export_options *options,
		  const struct expected *rows, uint32_t count)
{
	const struct export_options all = { .start_ns = 0, .end_ns = UINT64_MAX };
	struct cpu_slices slices;

	assert_true(model_index(model));
	assert_int_equal(cpu_slices_build(model, options ? options : &all, &slices), 0);
	for (uint32_t i = 0; i < slices.count && i < count; i++) {
		assert_int_equal(slices.slices[i].start_ns, rows[i].start_ns);
		assert_int_equal(slices.slices[i].end_ns, rows[i].end_ns);
		assert_int_equal(slices.slices[i].tid, rows[i].tid);
		assert_int_equal(slices.slices[i].leaves, rows[i].leaves);
	}
	assert_int_equal(slices.count, count);
	cpu_slices_free(&slices);
	model_free(model);
}

#define CHECK(model, options, ...)                                           \
	do {                                                                 \
		const struct expected rows[] = { __VA_ARGS__ };              \
		check(model, options, rows, sizeof(rows) / sizeof(rows[0])); \
	} while (0)

#define AT(ms) (SAMPLE_START + (uint64_t)((ms)*1000 + 0.5) * US)

static void known_job(void **state)
{
	const uint64_t end = SAMPLE_END;

	CHECK(load_trace(sample_trace(0)), NULL,
	      /* CPU 0: main since before the session; then unknown until its wake-up */
	      { SAMPLE_START, AT(100), 100, PROFBPF__SWITCHES__STATE__SLEEP },
	      { AT(300), AT(301), 200, PROFBPF__SWITCHES__STATE__SLEEP },
	      { AT(301), AT(500), 100, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { AT(500), AT(600), 200, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { AT(600), AT(700), 100, PROFBPF__SWITCHES__STATE__DISK_SLEEP },
	      { AT(800), AT(800.5), 0, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { AT(800.5), end, 100, CPU_SLICE_GOES_ON },
	      /* CPU 1 */
	      { AT(50.01), AT(50.02), 0, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { AT(50.02), AT(1000), 101, PROFBPF__SWITCHES__STATE__SLEEP },
	      { AT(1500), AT(1600), 101, PROFBPF__SWITCHES__STATE__DEAD });
}

/* The switches of the thread after a sleeping target are not recorded: it may leave the CPU at any time. */
static void others_are_not_extended(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1500, T20, T10, PROFBPF__SWITCHES__STATE__SLEEP);
	add_wake(model, 1490, T10);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1490, 1500, 20, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1500, 2000, 10, CPU_SLICE_GOES_ON });
}

static void idle_is_not_extended(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, -1, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1500, -1, T10, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_wake(model, 1500, T10);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1500, 2000, 10, CPU_SLICE_GOES_ON });
}

/* While a preempted target waits, everything on its CPU is recorded. */
static void preemption_is_known(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_switch(model, 0, 1200, T20, T30, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1300, T30, T10, PROFBPF__SWITCHES__STATE__PREEMPTED);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1100, 1200, 20, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1200, 1300, 30, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1300, 2000, 10, CPU_SLICE_GOES_ON });
}

/* ... until the target runs elsewhere. */
static void knowledge_ends_when_the_waiter_leaves(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_switch(model, 1, 1250, -1, T10, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_switch(model, 1, 1400, T10, -1, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1600, T30, T11, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1100, 1250, 20, CPU_SLICE_NOT_RECORDED }, { 1600, 2000, 11, CPU_SLICE_GOES_ON },
	      { 1250, 1400, 10, PROFBPF__SWITCHES__STATE__SLEEP });
}

/* Two targets that wait one after the other: the CPU is recorded all the time. */
static void waits_join(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_wake(model, 1150, T11);
	add_switch(model, 1, 1200, -1, T10, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_switch(model, 0, 1300, T20, T11, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1100, 1300, 20, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1300, 2000, 11, CPU_SLICE_GOES_ON }, { 1200, 2000, 10, CPU_SLICE_GOES_ON });
}

static void waiting_at_the_end(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1100, 2000, 20, CPU_SLICE_GOES_ON });
}

/* A target is switched in but never out before another one is switched out: records are lost. */
static void contradictions_claim_nothing(void **state)
{
	struct model *model = make_model();

	add_switch(model, 0, 1100, T20, T10, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1500, T11, T20, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1600, T30, T10, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(model, NULL, { 1600, 2000, 10, CPU_SLICE_GOES_ON });
}

/* A thread that began during the trace cannot have run before it. */
static void newborn_was_not_there_before(void **state)
{
	struct model *model = make_model();

	model->threads.row[T11].start_ns = 1300;
	add_switch(model, 0, 1500, T11, -1, PROFBPF__SWITCHES__STATE__SLEEP);
	check(model, NULL, NULL, 0);
}

static void system_wide_is_complete(void **state)
{
	struct model *model = make_model();

	model->info.system_wide = true;
	add_switch(model, 0, 1100, T10, -1, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1500, -1, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	model->switches.row[1].flags = PROFBPF__SWITCHES__FLAG__NEXT_TARGET;
	add_switch(model, 0, 1600, T20, -1, PROFBPF__SWITCHES__STATE__SLEEP);
	model->switches.row[2].flags = PROFBPF__SWITCHES__FLAG__PREV_TARGET;
	CHECK(model, NULL, { 1000, 1100, 10, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1100, 1500, 0, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1500, 1600, 20, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1600, 2000, 0, CPU_SLICE_GOES_ON });
}

static void window_cuts(void **state)
{
	const struct export_options options = { .start_ns = 1050, .end_ns = 1250 };
	struct model *model = make_model();

	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__PREEMPTED);
	add_switch(model, 0, 1200, T20, T10, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1300, T10, T20, PROFBPF__SWITCHES__STATE__SLEEP);
	CHECK(model, &options, { 1050, 1100, 10, PROFBPF__SWITCHES__STATE__PREEMPTED },
	      { 1100, 1200, 20, PROFBPF__SWITCHES__STATE__SLEEP },
	      { 1200, 1250, 10, CPU_SLICE_GOES_ON });
}

/* With a selection of processes, targets outside of it count as other threads. */
static void choice_of_processes(void **state)
{
	static const uint32_t pids[] = { 20 };
	const struct export_options options = {
		.start_ns = 0, .end_ns = UINT64_MAX, .pids = pids, .pid_count = 1
	};
	struct model *model = make_model();

	model->info.system_wide = true;
	add_switch(model, 0, 1100, T10, T20, PROFBPF__SWITCHES__STATE__SLEEP);
	add_switch(model, 0, 1200, T20, T10, PROFBPF__SWITCHES__STATE__SLEEP);
	model->switches.row[0].flags |= PROFBPF__SWITCHES__FLAG__NEXT_TARGET;
	model->switches.row[1].flags |= PROFBPF__SWITCHES__FLAG__PREV_TARGET;
	CHECK(model, &options, { 1100, 1200, 20, PROFBPF__SWITCHES__STATE__SLEEP });
}

static void nothing_recorded(void **state)
{
	struct model *model = make_model();
	const struct export_options all = { .start_ns = 0, .end_ns = UINT64_MAX };
	struct cpu_slices slices;

	assert_true(model_index(model));
	assert_int_equal(cpu_slices_build(model, &all, &slices), 0);
	assert_int_equal(slices.count, 0);
	assert_int_equal(slices.cpu_count, 0);
	cpu_slices_free(&slices);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_job),
		cmocka_unit_test(others_are_not_extended),
		cmocka_unit_test(idle_is_not_extended),
		cmocka_unit_test(preemption_is_known),
		cmocka_unit_test(knowledge_ends_when_the_waiter_leaves),
		cmocka_unit_test(waits_join),
		cmocka_unit_test(waiting_at_the_end),
		cmocka_unit_test(contradictions_claim_nothing),
		cmocka_unit_test(newborn_was_not_there_before),
		cmocka_unit_test(system_wide_is_complete),
		cmocka_unit_test(window_cuts),
		cmocka_unit_test(choice_of_processes),
		cmocka_unit_test(nothing_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
