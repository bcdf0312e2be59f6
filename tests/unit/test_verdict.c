/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: each state, what is just not enough for it, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/view/report.h"
#include "bpf/events.h"
#include "tests/unit/idle_scene.h"
#include "tests/unit/json_path.h"
#include "tests/unit/report_of.h"

/* The device's window is 250 us, of which it is idle for 100 us. */
#define WINDOW_US 250

struct fixture {
	struct scene scene;
	struct pipelines pipelines;
	struct operator_pipeline_usage usage_of;
	struct pipeline_usage usage;
	struct operator_cost cost;
	struct pipeline_steps steps;
	struct step_results all_steps;
	struct bottleneck bottleneck;
	struct advice_results advice;
	struct capture_results capture;
	struct host_waits waits;
	struct verdict_facts facts;
	struct verdict verdict;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .scene = scene_make(), .all_steps = { .main = INDEX_NONE } };
}

/* main waits for the worker until 180 us, which sleeps because it wants to. */
static void main_waits(struct fixture *f)
{
	struct scene *scene = &f->scene;

	small_sleep(scene->model, scene->main, 0, 180 * US, FUTEX, scene->worker, 0);
	scene_main_launches(&f->scene, 180);
	small_sleep(scene->model, scene->worker, 0, 179 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	small_span(scene->model, scene->worker, 179 * US, 1000 * US, STATE_RUNNING);
}

static void judge(struct fixture *f)
{
	f->facts = (struct verdict_facts){ .capture = &f->capture,
					   .devices = &f->scene.results,
					   .steps = &f->all_steps,
					   .waits = f->waits.threads ? &f->waits : NULL,
					   .advice = &f->advice };
	assert_int_equal(verdict_find(f->scene.model, &f->facts, &f->verdict), 0);
}

static void compute(struct fixture *f)
{
	scene_compute(&f->scene);
	judge(f);
}

static void expect(const struct fixture *f, enum verdict_state state, double percent)
{
	assert_string_equal(verdict_state_name(f->verdict.state), verdict_state_name(state));
	assert_true(f->verdict.percent > percent - 0.01 && f->verdict.percent < percent + 0.01);
}

static char *text_of(struct fixture *f)
{
	const struct report_options options = { .sections = SECTION_VERDICT };
	const struct results results = { .verdict = &f->verdict,
					 .waits = &f->waits,
					 .devices = &f->scene.results,
					 .steps = &f->all_steps,
					 .advice = &f->advice };
	char *text = NULL;
	size_t size = 0, lines = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_text(out, f->scene.model, &results, &options), 0);
	fclose(out);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	assert_in_range(lines, 1, 5);
	assert_ptr_equal(strstr(text, "verdict "), text);
	return text;
}

static void says(struct fixture *f, const char *words)
{
	char *text = text_of(f);

	assert_says(text, words);
	free(text);
}

static void says_not(struct fixture *f, const char *words)
{
	char *text = text_of(f);

	assert_null(strstr(text, words));
	free(text);
}

static void end(struct fixture *f)
{
	host_waits_free(&f->waits);
	pipelines_free(&f->pipelines);
	scene_end(&f->scene);
}

/* A pipeline with one operator, for which the worker is; its trainer is main. */
static void add_pipeline(struct fixture *f)
{
	struct model *model = f->scene.model;
	struct pipeline *pipeline = pipeline_add(&f->pipelines, "MindData", f->scene.process);
	struct pipeline_thread row = { .thread = f->scene.worker, .role = PIPELINE_WORKER };

	assert_int_equal(pipeline_operator_add(model, pipeline, 2, "Map(ID:2)", "Map"), 0);
	assert_true(MODEL_PUSH(&pipeline->threads, row));
	pipeline->operators.row[0].workers = 2;
	f->usage = (struct pipeline_usage){ .pipeline = pipeline,
					    .operators = &f->usage_of,
					    .fetch = { .thread = f->scene.main } };
	f->steps = (struct pipeline_steps){ .usage = &f->usage,
					    .costs = &f->cost,
					    .judged = 10,
					    .judged_ns = 1000 * US,
					    .bottleneck = INDEX_NONE };
	f->all_steps = (struct step_results){ .pipelines = &f->steps, .count = 1 };
	f->bottleneck = (struct bottleneck){ .op = INDEX_NONE };
	f->advice = (struct advice_results){ .bottlenecks = &f->bottleneck, .count = 1 };
}

static void blame(struct fixture *f, enum bottleneck_kind kind, double percent)
{
	f->bottleneck = (struct bottleneck){ .kind = kind, .op = 0, .percent = percent };
	snprintf(f->bottleneck.reason, sizeof(f->bottleneck.reason), "a reason");
}

static void host_code(void **state)
{
	struct fixture f;

	begin(&f);
	main_waits(&f);
	compute(&f);
	/* Until 185 us: sleep 79, user code 1, the launch 5. */
	expect(&f, VERDICT_HOST_CODE, 34);
	assert_int_equal(f.verdict.of, VERDICT_OF_DEVICE_TIME);
	assert_true(f.verdict.gain_percent == f.verdict.percent);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	says(&f, "idle for 34.0 % of its time by it, most of all sleeping until a time");
	says(&f, "root     worker 101: nanosleep <- main 100; sleep, 31.6 % of device time");
	says(&f, "do       If it polls, wait for the event instead of sleeping");
	says(&f, "gain     at most 34.0 % of device time");
	end(&f);
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
		struct fixture f;

		begin(&f);
		span = small_span(f.scene.model, f.scene.main, 0, 170 * US, STATE_RUNNABLE);
		span->flags = CASES[i].flags;
		span->other = CASES[i].own ? f.scene.worker : f.scene.outsider;
		if (CASES[i].flags & SPAN_CPU_IDLE)
			span->other = INDEX_NONE;
		scene_main_launches(&f.scene, 170);
		compute(&f);
		expect(&f, VERDICT_CPU, 28);
		says(&f, CASES[i].with);
		end(&f);
	}
}

/* The host had handed the task over long before it started. */
static void device_idle(void **state)
{
	struct fixture f;

	begin(&f);
	f.scene.model->tasks.row[1].enqueue_ns = 101 * US;
	f.scene.model->tasks.row[1].enqueue_dur_ns = 4 * US;
	f.scene.model->tasks.row[1].submit_ns = 110 * US;
	small_span(f.scene.model, f.scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(f.scene.model, f.scene.main, f.scene.launch, 100 * US, 105 * US);
	compute(&f);
	assert_int_equal(f.verdict.state, VERDICT_DEVICE);
	assert_false(f.verdict.busy);
	assert_true(f.verdict.percent >= 36);
	says(&f, "More work in flight");
	end(&f);
}

/* From where on it is the device, and from where on nothing is said at all. */
static void busy(void **state)
{
	struct fixture f;

	begin(&f);
	main_waits(&f);
	compute(&f);
	f.scene.results.devices[0].window_ns = 990 * US; /* idle 10.1 % */
	judge(&f);
	expect(&f, VERDICT_HOST_CODE, 8.586);
	f.scene.results.devices[0].window_ns = 1000 * US;
	judge(&f);
	expect(&f, VERDICT_DEVICE, 90);
	assert_true(f.verdict.busy);
	assert_true(f.verdict.gain_percent == 0);
	says(&f, "busy for 90.0 % of it; the largest cause of the rest, sleep, costs 7.9 %");
	says_not(&f, "gain");
	/* Causes of less than 3 % are no finding. */
	f.scene.results.devices[0].window_ns = 3000 * US;
	judge(&f);
	expect(&f, VERDICT_DEVICE, 96.667);
	assert_null(f.verdict.idle.most);
	says_not(&f, "root");
	f.scene.results.devices[0].window_ns = 3400 * US; /* idle 2.94 % */
	judge(&f);
	expect(&f, VERDICT_HEALTHY, 97.06);
	says(&f,
	     "Healthy: from its first to its last task the device is busy for 97.1 % of the time");
	says_not(&f, "do  ");
	says_not(&f, "gain");
	/* Steps that wait for data, beside a device that does not notice it. */
	add_pipeline(&f);
	f.steps.judged_wait_ns = 31 * US;
	judge(&f);
	expect(&f, VERDICT_DEVICE, 97.06);
	f.steps.judged_wait_ns = 30 * US;
	judge(&f);
	expect(&f, VERDICT_HEALTHY, 97.06);
	end(&f);
}

static void data_by_role(void **state)
{
	struct fixture f;

	begin(&f);
	main_waits(&f);
	add_pipeline(&f);
	compute(&f);
	/* What the worker did is data, the rest is main's own. */
	expect(&f, VERDICT_DATA, 32);
	assert_int_equal(f.verdict.op, 0);
	says(&f,
	     "Starved for data: the device is idle for 32.0 % of its time by the data pipeline, "
	     "most of all by MindData's Map(ID:2).");
	says(&f, "map(): raise num_parallel_workers");
	/* Who wakes whom alone is no proof. */
	f.pipelines.list.row[0].by_wakes = true;
	judge(&f);
	expect(&f, VERDICT_HOST_CODE, 34);
	end(&f);
}

/* Batches that are made by the thread that fetches them: as much of it as the steps spend in fetches. */
static void data_in_trainer(void **state)
{
	struct fixture f;

	begin(&f);
	scene_main_launches(&f.scene, 0);
	add_pipeline(&f);
	f.steps.judged_wait_ns = 200 * US;
	compute(&f);
	expect(&f, VERDICT_HOST_CODE, 34); /* of no operator it is known that it holds them up */
	blame(&f, BOTTLENECK_BUSY, 20);
	judge(&f);
	expect(&f, VERDICT_DATA, 20);
	assert_int_equal(f.verdict.idle.most->root.thread, f.scene.main);
	f.steps.judged_wait_ns = 100 * US;
	judge(&f);
	expect(&f, VERDICT_HOST_CODE, 24);
	end(&f);
}

static void steps_alone(void **state)
{
	struct fixture f;

	begin(&f);
	add_pipeline(&f);
	compute(&f);
	f.scene.results.devices[0].window_ns = 0;
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	f.steps.judged_wait_ns = 431 * US;
	judge(&f);
	expect(&f, VERDICT_DATA, 43.1);
	assert_int_equal(f.verdict.of, VERDICT_OF_STEP_TIME);
	says(&f, "gain     at most 43.1 % of step time");
	blame(&f, BOTTLENECK_SLEEPS, 40);
	judge(&f);
	expect(&f, VERDICT_DATA, 43.1);
	says(&f, "MindData's Map(ID:2)");
	says(&f, "root     a reason");
	blame(&f, BOTTLENECK_TAKES_CPU, 40);
	judge(&f);
	expect(&f, VERDICT_CPU, 40);
	blame(&f, BOTTLENECK_NONE, 0);
	f.bottleneck.op = INDEX_NONE;
	f.steps.judged_wait_ns = 29 * US;
	f.steps.other_cpu_ns = 31 * US;
	judge(&f);
	expect(&f, VERDICT_CPU, 3.1);
	/* That they do not wait for data says nothing of the device. */
	f.steps.other_cpu_ns = 29 * US;
	judge(&f);
	expect(&f, VERDICT_UNKNOWN, 2.9);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_STEPS);
	says(&f, "it is not data: steps wait for it for 2.9 % of their time");
	says(&f, "to know  Load the runtime's device layer");
	f.steps.judged = 0;
	judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_STREAM);
	assert_false(f.verdict.has_percent);
	end(&f);
}

static void communication(void **state)
{
	struct rank_usage ranks[] = { { .device = 0, .wait_ns = 90 * US, .late_ns = 1 },
				      { .device = 0, .wait_ns = 10 * US, .late_ns = 90 * US } };
	struct fixture f;

	begin(&f);
	main_waits(&f);
	compute(&f);
	f.scene.model->devices.row[0].has_rank = true;
	f.scene.model->devices.row[0].rank = 5;
	f.scene.results.communication.ranks = ranks;
	f.scene.results.communication.rank_count = 2;
	judge(&f);
	expect(&f, VERDICT_COMMUNICATION, 40);
	says(&f, "most of it for rank 5");
	ranks[0].wait_ns = 70 * US; /* less than the host's code */
	judge(&f);
	expect(&f, VERDICT_HOST_CODE, 34);
	f.scene.results.communication.ranks = NULL;
	f.scene.results.communication.rank_count = 0;
	end(&f);
}

static void unknown(void **state)
{
	struct cpu_switch row = { 0 };
	struct fixture f;

	begin(&f);
	compute(&f);
	expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_TRACE);
	says(&f, "the device is idle for 40.0 % of its time, and the host was not recorded");
	says_not(&f, "gain");
	says_not(&f, "root");
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_SCHED);
	says(&f, "to know  Record with the topic sched.");
	assert_true(MODEL_PUSH(&f.scene.model->switches, row));
	judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_LAUNCHES);
	f.scene.results.launches.matched = 1;
	judge(&f);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_ROOTS);
	end(&f);
}

/* Waits for somebody who was not traced: who, nobody knows. */
static void untraced(void **state)
{
	struct cpu_switch row = { 0 };
	struct fixture f;

	begin(&f);
	small_sleep(f.scene.model, f.scene.main, 0, 180 * US, POLL, f.scene.outsider, 0);
	scene_main_launches(&f.scene, 180);
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	assert_true(MODEL_PUSH(&f.scene.model->switches, row));
	compute(&f);
	expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_PROCESS);
	says(&f, "Record that process, too");
	end(&f);
}

static void lost(void **state)
{
	struct capture_source source = { .lost = 29 };
	struct source_loss row = { .produced = 1000 };
	struct fixture f;

	begin(&f);
	main_waits(&f);
	row.name = model_string(f.scene.model, "sched");
	assert_true(MODEL_PUSH(&f.scene.model->sources, row));
	assert_true(MODEL_PUSH(&f.scene.model->files, 0));
	f.capture = (struct capture_results){ .sources = &source, .source_count = 1, .lost = 29 };
	compute(&f);
	expect(&f, VERDICT_HOST_CODE, 34);
	says(&f, "29 records were lost");
	source.lost = f.capture.lost = 30;
	judge(&f);
	expect(&f, VERDICT_UNKNOWN, 40);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_RECORDS);
	says(&f, "30 records were lost, too many of source sched");
	says(&f, "larger --buffer");
	source.lost = f.capture.lost = 0;
	f.capture.damaged = true;
	judge(&f);
	expect(&f, VERDICT_UNKNOWN, 40);
	says(&f, "parts of the recording cannot be read");
	end(&f);
}

/* No device tells its tasks: what the threads waited for is judged. */
static void judge_waits(struct fixture *f)
{
	const struct analysis_options options = { 0 };

	compute(f);
	f->scene.results.devices[0].window_ns = f->scene.results.devices[0].idle_ns = 0;
	assert_true(MODEL_PUSH(&f->scene.model->files, 0));
	assert_int_equal(host_waits_analyse(f->scene.model, &options, &f->all_steps, &f->waits), 0);
	judge(f);
}

/* main computes until @until_us, then waits for the worker, which computes or sleeps. */
static void main_and_worker(struct fixture *f, uint64_t until_us, bool computes)
{
	struct scene *scene = &f->scene;

	small_span(scene->model, scene->main, 0, until_us * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, until_us * US, 1000 * US, FUTEX, scene->worker, 0);
	if (computes)
		small_span(scene->model, scene->worker, 0, 1000 * US, STATE_RUNNING);
	else
		small_sleep(scene->model, scene->worker, 0, 1000 * US, NANOSLEEP, INDEX_NONE,
			    SPAN_WOKEN_TIMER);
}

static void threads(void **state)
{
	struct fixture f;

	begin(&f);
	main_and_worker(&f, 300, false);
	judge_waits(&f);
	expect(&f, VERDICT_HOST_CODE, 70);
	assert_int_equal(f.verdict.of, VERDICT_OF_WALL_TIME);
	assert_string_equal(verdict_of_name(f.verdict.of), "wall_time");
	says(&f, "main thread main 100 waits for 70.0 % of the time for it, most of all sleeping");
	says(&f, "root     worker 101: nanosleep <- main 100; sleep, 70.0 % of the time");
	says(&f, "gain     at most 70.0 % of the time");
	/* The worker is one of a pipeline. */
	add_pipeline(&f);
	judge(&f);
	expect(&f, VERDICT_DATA, 70);
	says(&f, "main thread main 100 waits for 70.0 % of the time for the data pipeline, most "
		 "of all by MindData's Map(ID:2)");
	end(&f);

	/* Work that is shared is none that holds up, as long as it is not more. */
	begin(&f);
	main_and_worker(&f, 500, true);
	judge_waits(&f);
	expect(&f, VERDICT_HEALTHY, 100);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.main);
	says(&f, "Healthy: main thread main 100 is at work for 100.0 % of the time");
	says_not(&f, "do  ");
	says_not(&f, "gain");
	end(&f);
	begin(&f);
	main_and_worker(&f, 499, true);
	judge_waits(&f);
	expect(&f, VERDICT_HOST_CODE, 50.1);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	end(&f);

	/* Below a tenth it is no finding for a thread that works. */
	begin(&f);
	main_and_worker(&f, 900, false);
	judge_waits(&f);
	expect(&f, VERDICT_HEALTHY, 90);
	end(&f);
	begin(&f);
	main_and_worker(&f, 899, false);
	judge_waits(&f);
	expect(&f, VERDICT_HOST_CODE, 10.1);
	end(&f);
}

static void threads_without_cpu(void **state)
{
	struct fixture f;
	struct span *span;

	begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 500 * US, STATE_RUNNING);
	span = small_span(f.scene.model, f.scene.main, 500 * US, 1000 * US, STATE_RUNNABLE);
	span->other = f.scene.outsider;
	judge_waits(&f);
	expect(&f, VERDICT_CPU, 50);
	says(&f, "Starved by CPUs: main thread main 100 is held up for 50.0 % of the time because "
		 "others have the CPUs");
	end(&f);

	begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 500 * US, STATE_RUNNING);
	small_sleep(f.scene.model, f.scene.main, 500 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_NO_WAKE);
	judge_waits(&f);
	expect(&f, VERDICT_UNKNOWN, 50);
	says(&f, "main thread main 100 waits for 50.0 % of the time, and for most of it the "
		 "records do not say why");
	end(&f);
}

/* The threads launch: the device could be busier where they work themselves. */
static void threads_that_launch(void **state)
{
	struct fixture f;
	struct scene *scene = &f.scene;

	begin(&f);
	scene->model->functions.row[scene->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	scene->model->functions.row[scene->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	small_span(scene->model, scene->main, 0, 750 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 750 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_WOKEN_HARDIRQ);
	for (uint64_t i = 0; i < 12; i++)
		small_call(scene->model, scene->main, scene->launch, (700 + i) * US,
			   (701 + i) * US);
	small_call(scene->model, scene->main, scene->sync, 740 * US, 1000 * US);
	judge_waits(&f);
	expect(&f, VERDICT_HOST_CODE, 75);
	says(&f, "it takes 75.0 % of the time of thread main 100, most of all on CPU outside "
		 "of runtime calls; by the calls that wait for it the device is busy for at "
		 "least 21 %, at most 100 % of the time");
	says(&f, "root     main 100; user_code");
	end(&f);

	/* What little they wait is not known: that is no reason not to see what they do. */
	begin(&f);
	small_span(scene->model, scene->main, 0, 800 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 800 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_NO_WAKE);
	for (uint64_t i = 0; i < 12; i++)
		small_call(scene->model, scene->main, scene->launch, (700 + i) * US,
			   (701 + i) * US);
	judge_waits(&f);
	expect(&f, VERDICT_HOST_CODE, 80);
	end(&f);
}

/* The JSON report begins with it, and it can be chosen alone. */
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
		cmocka_unit_test(host_code),
		cmocka_unit_test(cpu),
		cmocka_unit_test(device_idle),
		cmocka_unit_test(busy),
		cmocka_unit_test(data_by_role),
		cmocka_unit_test(data_in_trainer),
		cmocka_unit_test(steps_alone),
		cmocka_unit_test(communication),
		cmocka_unit_test(unknown),
		cmocka_unit_test(untraced),
		cmocka_unit_test(lost),
		cmocka_unit_test(in_json),
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_without_cpu),
		cmocka_unit_test(threads_that_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
