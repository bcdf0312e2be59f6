/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: each state, values just below its limit, and its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/view/report.h"
#include "tests/unit/json_path.h"
#include "tests/unit/report_of.h"
#include "tests/unit/verdict_scene.h"

static void host_code(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_compute(&f);
	/* Until 185 us: sleep 79, user code 1, the launch 5. */
	verdict_expect(&f, VERDICT_HOST_CODE, 34);
	assert_int_equal(f.verdict.of, VERDICT_OF_DEVICE_TIME);
	assert_true(f.verdict.gain_percent == f.verdict.percent);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	verdict_says(&f, "idle for 34.0 % of its time by it, most of all sleeping until a time");
	verdict_says(&f,
		     "root     worker 101: nanosleep <- main 100; sleep, 31.6 % of device time");
	verdict_says(&f, "do       If it polls, wait for the event instead of sleeping");
	verdict_says(&f, "gain     at most 34.0 % of device time");
	verdict_end(&f);
}

static void cpu(void **state)
{
	static const struct {
		uint8_t flags;
		bool own;
		const char *with;
	} CASES[] = {
		{ 0, false, "because others have the CPUs" },
		{ 0, true, "because the job's own threads take the CPUs from each other" },
		{ SPAN_THROTTLED, false, "because the job's CPU quota is used up" },
		{ SPAN_CPU_IDLE, false, "because idle CPUs took that long" },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct span *span;
		struct verdict_scene f;

		verdict_begin(&f);
		span = small_span(f.scene.model, f.scene.main, 0, 170 * US, STATE_RUNNABLE);
		span->flags = CASES[i].flags;
		span->other = CASES[i].own ? f.scene.worker : f.scene.outsider;
		if (CASES[i].flags & SPAN_CPU_IDLE)
			span->other = INDEX_NONE;
		scene_main_launches(&f.scene, 170);
		verdict_compute(&f);
		verdict_expect(&f, VERDICT_CPU, 28);
		verdict_says(&f, CASES[i].with);
		verdict_says_not(&f, "most of it");
		verdict_end(&f);
	}
}

/* Of the 70 us in the gap without a CPU 50 had others the CPU; for 20 us an idle one took to begin. */
static void cpu_of_two_kinds(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 150 * US, STATE_RUNNABLE)->other = f.scene.outsider;
	small_span(f.scene.model, f.scene.main, 150 * US, 170 * US, STATE_RUNNABLE)->flags = SPAN_CPU_IDLE;
	scene_main_launches(&f.scene, 170);
	verdict_compute(&f);
	verdict_expect(&f, VERDICT_CPU, 28);
	verdict_says(&f, "idle for 28.0 % of its time, most of it because others have the CPUs");
	verdict_end(&f);
}

/* The host had submitted the task long before it started. */
static void device_idle(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	f.scene.model->tasks.row[1].enqueue_ns = 101 * US;
	f.scene.model->tasks.row[1].enqueue_dur_ns = 4 * US;
	f.scene.model->tasks.row[1].submit_ns = 110 * US;
	small_span(f.scene.model, f.scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(f.scene.model, f.scene.main, f.scene.launch, 100 * US, 105 * US);
	verdict_compute(&f);
	assert_int_equal(f.verdict.state, VERDICT_DEVICE);
	assert_false(f.verdict.busy);
	assert_true(f.verdict.percent >= 36);
	verdict_says(&f, "Keep more work in flight");
	verdict_end(&f);
}

/* The limits from which on the device is the verdict, and from which on there is none. */
static void busy(void **state)
{
	struct overlap_device copies = { 0 };
	struct overlap_results overlap;
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_compute(&f);
	f.scene.results.devices[0].window_ns = 990 * US; /* idle 10.1 % */
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 8.586);
	f.scene.results.devices[0].window_ns = 1000 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DEVICE, 90);
	assert_true(f.verdict.busy);
	assert_true(f.verdict.gain_percent == 0);
	verdict_says(&f,
		     "busy for 90.0 % of it; the largest cause of the rest, sleep, costs 7.9 %");
	verdict_says_not(&f, "gain");
	/* Causes of less than 3 % are no finding. */
	f.scene.results.devices[0].window_ns = 3000 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DEVICE, 96.667);
	assert_null(f.verdict.idle.most);
	verdict_says_not(&f, "root");
	f.scene.results.devices[0].window_ns = 3400 * US; /* idle 2.94 % */
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 97.06);
	verdict_says(&f, "Healthy: from its first to its last task the device is busy for 97.1 % "
			 "of the time");
	verdict_says_not(&f, "do  ");
	verdict_says_not(&f, "gain");
	/* For a fifth of the time the device only copies. */
	overlap = f.scene.results.overlap;
	f.scene.results.overlap = (struct overlap_results){ &copies, 1 };
	copies.all.pure_copy_ns = 680 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DEVICE, 97.06);
	verdict_says(&f, "busy for 97.1 % of it, for 20.0 % with copies alone");
	copies.all.pure_copy_ns = 679 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 97.06);
	f.scene.results.overlap = overlap;
	/* Steps that wait for data, while the device has no gaps from it. */
	verdict_add_pipeline(&f);
	f.steps.judged_wait_ns = 31 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DEVICE, 97.06);
	f.steps.judged_wait_ns = 30 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 97.06);
	verdict_end(&f);
}

static void data_by_role(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_add_pipeline(&f);
	verdict_compute(&f);
	/* The worker's part is data, the rest is main's own code. */
	verdict_expect(&f, VERDICT_DATA, 32);
	assert_int_equal(f.verdict.op, 0);
	verdict_says(
		&f,
		"Starved for data: the device is idle for 32.0 % of its time by the data pipeline, "
		"most of all by MindData's Map(ID:2).");
	verdict_says(&f, "map(): raise num_parallel_workers");
	/* Wake-ups alone are no proof of a pipeline. */
	f.pipelines.list.row[0].by_wakes = true;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 34);
	verdict_end(&f);
}

/* Batches made by the fetching thread itself: the share that steps spend in fetches. */
static void data_in_trainer(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	scene_main_launches(&f.scene, 0);
	verdict_add_pipeline(&f);
	f.steps.judged_wait_ns = 200 * US;
	verdict_compute(&f);
	verdict_expect(&f, VERDICT_HOST_CODE,
		       34); /* no operator is known to hold the steps up */
	verdict_blame(&f, BOTTLENECK_BUSY, 20);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 20);
	assert_int_equal(f.verdict.idle.most->root.thread, f.scene.main);
	f.steps.judged_wait_ns = 100 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 24);
	verdict_end(&f);
}

static void steps_alone(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	verdict_compute(&f);
	f.scene.results.devices[0].window_ns = 0;
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	f.steps.judged_wait_ns = 431 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 43.1);
	assert_int_equal(f.verdict.of, VERDICT_OF_STEP_TIME);
	verdict_says(&f, "gain     at most 43.1 % of step time");
	verdict_blame(&f, BOTTLENECK_SLEEPS, 40);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 43.1);
	verdict_says(&f, "MindData's Map(ID:2)");
	verdict_says(&f, "root     a reason");
	verdict_blame(&f, BOTTLENECK_TAKES_CPU, 40);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_CPU, 40);
	verdict_blame(&f, BOTTLENECK_NONE, 0);
	f.bottleneck.op = INDEX_NONE;
	f.steps.judged_wait_ns = 29 * US;
	f.steps.other_cpu_ns = 31 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_CPU, 3.1);
	/* Steps that do not wait for data say nothing about the device. */
	f.steps.other_cpu_ns = 29 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 2.9);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_STEPS);
	verdict_says(&f, "it is not data: steps wait for it for 2.9 % of their time");
	verdict_says(&f, "to know  Load the runtime's device layer");
	f.steps.judged = 0;
	verdict_judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_STREAM);
	assert_false(f.verdict.has_percent);
	verdict_end(&f);
}

/* A value exactly at a limit is on the side that verdict.h states: for steps ... */
static void borders_of_steps(void **state)
{
	static const struct {
		uint64_t wait_us, cpu_us;
		enum verdict_state state;
		double percent;
	} CASES[] = {
		{ 30, 0, VERDICT_DATA, 3 },    { 29, 0, VERDICT_UNKNOWN, 2.9 },
		{ 29, 30, VERDICT_CPU, 3 },    { 0, 29, VERDICT_UNKNOWN, 0 },
		{ 40, 40, VERDICT_DATA, 4 },   { 40, 41, VERDICT_CPU, 4.1 },
		{ 0, 1000, VERDICT_CPU, 100 },
	};
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	verdict_compute(&f);
	f.scene.results.devices[0].window_ns = 0;
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		f.steps.judged_wait_ns = CASES[i].wait_us * US;
		f.steps.other_cpu_ns = CASES[i].cpu_us * US;
		verdict_judge(&f);
		verdict_expect(&f, CASES[i].state, CASES[i].percent);
		assert_true(f.verdict.has_percent);
	}
	assert_true(f.verdict.wait_percent == 0);
	verdict_end(&f);
}

/* ... and for devices, whose window is a millisecond: idle time, and its roots. */
static void borders_of_devices(void **state)
{
	static const struct {
		uint64_t idle_us, host_us, device_us, unknown_us;
		enum verdict_state state;
		double percent;
	} CASES[] = {
		{ 29, 29, 0, 0, VERDICT_HEALTHY, 97.1 },
		{ 30, 30, 0, 0, VERDICT_DEVICE, 97 },
		{ 100, 100, 0, 0, VERDICT_DEVICE, 90 },
		{ 101, 101, 0, 0, VERDICT_HOST_CODE, 10.1 },
		/* More than half of it is unknown. */
		{ 200, 100, 0, 100, VERDICT_HOST_CODE, 10 },
		{ 200, 99, 0, 101, VERDICT_UNKNOWN, 20 },
		/* Causes below the noise are no finding. */
		{ 200, 30, 0, 0, VERDICT_HOST_CODE, 3 },
		{ 200, 29, 0, 0, VERDICT_DEVICE, 80 },
		/* The heaviest state; of equal ones the first. */
		{ 200, 90, 91, 0, VERDICT_DEVICE, 9.1 },
		{ 200, 90, 90, 0, VERDICT_HOST_CODE, 9 },
	};
	struct verdict_scene f;
	struct idle_root rows[3];
	struct idle_hop hops[1];

	verdict_begin(&f);
	verdict_main_waits(&f);
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	verdict_compute(&f);
	assert_int_equal(f.scene.results.idle.roots->row[0].root.cause, IDLE_SLEEP);
	hops[0] = (struct idle_hop){ .thread = f.scene.worker };
	for (int i = 0; i < 3; i++) {
		rows[i] = f.scene.results.idle.roots->row[0];
		rows[i].hops = hops;
		rows[i].hop_count = 1;
	}
	rows[1].root.cause = IDLE_DEVICE_WAIT;
	rows[2].root.cause = IDLE_UNKNOWN;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct idle_roots roots = { .row = rows, .count = 3 };
		struct idle_roots *kept = f.scene.results.idle.roots;

		f.scene.results.devices[0].window_ns = 1000 * US;
		f.scene.results.devices[0].idle_ns = CASES[i].idle_us * US;
		rows[0].ns = CASES[i].host_us * US;
		rows[1].ns = CASES[i].device_us * US;
		rows[2].ns = CASES[i].unknown_us * US;
		f.scene.results.idle.roots = &roots;
		verdict_judge(&f);
		f.scene.results.idle.roots = kept;
		verdict_expect(&f, CASES[i].state, CASES[i].percent);
	}
	verdict_end(&f);
}

/* Tasks that cover less than a hundredth of a device file's time say nothing about the job. */
static void border_of_told(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_compute(&f);
	f.scene.results.devices[0].window_ns = 1000 * US;
	f.scene.results.devices[0].idle_ns = 10 * US;
	f.scene.model->info.session_start_ns = 0;
	f.scene.model->info.session_end_ns = 100000 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 99);
	f.scene.model->info.session_end_ns = 101000 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 0.99);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_TASKS);
	verdict_end(&f);
}

static void communication(void **state)
{
	struct rank_usage ranks[] = { { .device = 0, .wait_ns = 90 * US, .late_ns = 1 },
				      { .device = 0, .wait_ns = 10 * US, .late_ns = 90 * US } };
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	verdict_compute(&f);
	f.scene.model->devices.row[0].has_rank = true;
	f.scene.model->devices.row[0].rank = 5;
	f.scene.results.communication.ranks = ranks;
	f.scene.results.communication.rank_count = 2;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_COMMUNICATION, 40);
	verdict_says(&f, "most of it for rank 5");
	ranks[0].wait_ns = 70 * US; /* less than the host's own code */
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 34);
	/* It has to be heavier than any state of idle time, here 85 us of the host's code. */
	ranks[0].wait_ns = 75 * US;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 34);
	ranks[0].wait_ns++;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_COMMUNICATION, 34);
	f.scene.results.communication.ranks = NULL;
	f.scene.results.communication.rank_count = 0;
	verdict_end(&f);
}

static void unknown(void **state)
{
	struct cpu_switch row = { 0 };
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_compute(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_TRACE);
	verdict_says(&f,
		     "the device is idle for 40.0 % of its time, and the host was not recorded");
	verdict_says_not(&f, "gain");
	verdict_says_not(&f, "root");
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	verdict_judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_SCHED);
	verdict_says(&f, "to know  Record with the topic sched.");
	assert_true(MODEL_PUSH(&f.scene.model->switches, row));
	verdict_judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_LAUNCHES);
	f.scene.results.launches.matched = 1;
	verdict_judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_ROOTS);
	verdict_end(&f);
}

/* Waits for a thread that was not traced: its activity is unknown. */
static void untraced(void **state)
{
	struct cpu_switch row = { 0 };
	struct verdict_scene f;

	verdict_begin(&f);
	small_sleep(f.scene.model, f.scene.main, 0, 180 * US, POLL, f.scene.outsider, 0);
	scene_main_launches(&f.scene, 180);
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	assert_true(MODEL_PUSH(&f.scene.model->switches, row));
	verdict_compute(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_PROCESS);
	verdict_says(&f, "Record that process, too");
	verdict_end(&f);
}

static void lost(void **state)
{
	struct capture_source source = { .lost = 29 };
	struct source_loss row = { .produced = 1000 };
	struct verdict_scene f;

	verdict_begin(&f);
	verdict_main_waits(&f);
	row.name = model_string(f.scene.model, "sched");
	assert_true(MODEL_PUSH(&f.scene.model->sources, row));
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	f.capture = (struct capture_results){ .sources = &source, .source_count = 1, .lost = 29 };
	verdict_compute(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 34);
	verdict_says(&f, "29 records were lost");
	source.lost = f.capture.lost = 30;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_RECORDS);
	verdict_says(&f, "30 records were lost, too many of source sched");
	verdict_says(&f, "larger --buffer");
	source.lost = f.capture.lost = 0;
	f.capture.damaged = true;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 40);
	verdict_says(&f, "parts of the recording cannot be read");
	verdict_end(&f);
}

/* The JSON report begins with the verdict, which can also be selected alone. */
static void in_json(void **state)
{
	const struct report_options options = { .sections = SECTION_VERDICT };
	const struct analysis_options all = { 0 };
	char *text = report_of(sample_trace(0), &all, &options, report_json);
	yajl_val root = json_parse(text);

	assert_non_null(strstr(text, "\"verdict\""));
	assert_null(strstr(text, "\"trace\""));
	yajl_tree_free(root);
	free(text);
	text = report_of(sample_trace(0), &all, &(struct report_options)ALL_ROWS, report_text);
	assert_ptr_equal(strstr(text, "verdict "), text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_code),	cmocka_unit_test(cpu),
		cmocka_unit_test(cpu_of_two_kinds),
		cmocka_unit_test(device_idle),	cmocka_unit_test(busy),
		cmocka_unit_test(data_by_role), cmocka_unit_test(data_in_trainer),
		cmocka_unit_test(steps_alone),	cmocka_unit_test(communication),
		cmocka_unit_test(borders_of_steps),
		cmocka_unit_test(borders_of_devices),
		cmocka_unit_test(border_of_told),
		cmocka_unit_test(unknown),	cmocka_unit_test(untraced),
		cmocka_unit_test(lost),		cmocka_unit_test(in_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
