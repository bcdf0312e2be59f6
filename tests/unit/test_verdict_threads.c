/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict without tasks of a device: from the waits of the job's threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/verdict_scene.h"

/* main computes until @until_us, then waits for the worker, which computes or sleeps. */
static void main_and_worker(struct verdict_scene *f, uint64_t until_us, bool computes)
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
	struct verdict_scene f;

	verdict_begin(&f);
	main_and_worker(&f, 300, false);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 70);
	assert_int_equal(f.verdict.of, VERDICT_OF_WALL_TIME);
	assert_string_equal(verdict_of_name(f.verdict.of), "wall_time");
	verdict_says(
		&f,
		"main thread main 100 waits for 70.0 % of the time for it, most of all sleeping");
	verdict_says(&f, "root     worker 101: nanosleep <- main 100; sleep, 70.0 % of the time");
	verdict_says(&f, "gain     at most 70.0 % of the time");
	/* The worker belongs to a pipeline. */
	verdict_add_pipeline(&f);
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 70);
	verdict_says(
		&f, "main thread main 100 waits for 70.0 % of the time for the data pipeline, most "
		    "of all by MindData's Map(ID:2)");
	verdict_end(&f);

	/* Work that main shares with the worker does not hold main up, as long as the worker's part is not longer. */
	verdict_begin(&f);
	main_and_worker(&f, 500, true);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 100);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.main);
	verdict_says(&f, "Healthy: main thread main 100 is at work for 100.0 % of the time");
	verdict_says_not(&f, "do  ");
	verdict_says_not(&f, "gain");
	verdict_end(&f);
	verdict_begin(&f);
	main_and_worker(&f, 499, true);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 50.1);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	verdict_end(&f);

	/* A wait of less than a tenth is no finding for a working thread. */
	verdict_begin(&f);
	main_and_worker(&f, 900, false);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HEALTHY, 90);
	verdict_end(&f);
	verdict_begin(&f);
	main_and_worker(&f, 899, false);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 10.1);
	verdict_end(&f);
}

static void threads_without_cpu(void **state)
{
	struct verdict_scene f;
	struct span *span;

	verdict_begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 500 * US, STATE_RUNNING);
	span = small_span(f.scene.model, f.scene.main, 500 * US, 1000 * US, STATE_RUNNABLE);
	span->other = f.scene.outsider;
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_CPU, 50);
	verdict_says(
		&f,
		"Starved by CPUs: main thread main 100 is held up for 50.0 % of the time because "
		"others have the CPUs");
	verdict_end(&f);

	verdict_begin(&f);
	small_span(f.scene.model, f.scene.main, 0, 500 * US, STATE_RUNNING);
	small_sleep(f.scene.model, f.scene.main, 500 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_NO_WAKE);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 50);
	verdict_says(&f,
		     "main thread main 100 waits for 50.0 % of the time, and for most of that time "
		     "the records do not show why");
	verdict_end(&f);
}

/* main computes until 750 us, launches from 700 us on, and waits for the device until 1000 us. */
static void launches_and_waits(struct verdict_scene *f)
{
	struct scene *scene = &f->scene;

	scene->model->functions.row[scene->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	scene->model->functions.row[scene->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	small_span(scene->model, scene->main, 0, 750 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 750 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_WOKEN_HARDIRQ);
	for (uint64_t i = 0; i < 12; i++)
		small_call(scene->model, scene->main, scene->launch, (700 + i) * US,
			   (701 + i) * US);
	small_call(scene->model, scene->main, scene->sync, 740 * US, 1000 * US);
}

/* The threads launch: the device could be busier while they work themselves. */
static void threads_that_launch(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;

	/* The device has completed all work by 50 us, and gets no more until 700 us. */
	verdict_begin(&f);
	small_call(scene->model, scene->main, scene->sync, 0, 50 * US);
	launches_and_waits(&f);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 75);
	verdict_says(&f,
		     "it takes 75.0 % of the time of thread main 100, most of all on CPU outside "
		     "of runtime calls; according to the calls that wait for it, the device is busy for at "
		     "least 11 %, at most 35 % of the time");
	verdict_says(&f, "root     main 100; user_code");
	verdict_end(&f);

	/* Their few waits are of unknown cause: the verdict is still their own activity. */
	verdict_begin(&f);
	small_span(scene->model, scene->main, 0, 800 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 800 * US, 1000 * US, FUTEX, INDEX_NONE,
		    SPAN_NO_WAKE);
	for (uint64_t i = 0; i < 12; i++)
		small_call(scene->model, scene->main, scene->launch, (700 + i) * US,
			   (701 + i) * US);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 80);
	verdict_end(&f);
}

/* The device may compute tasks launched earlier while the thread computes: either of them may be the bottleneck. */
static void device_may_be_busy(void **state)
{
	struct verdict_scene f;

	verdict_begin(&f);
	launches_and_waits(&f);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 75);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_BUSY);
	verdict_says(&f,
		     "What holds the job up cannot be known: the code of thread main 100 takes 75.0 % of the time, "
		     "but according to the calls that wait for it, the device is busy for at least 11 %, at most 100 % of the "
		     "time.");
	verdict_says(&f, "to know  Load the runtime's device layer into the job (libprofbpf-*.so)");
	verdict_says_not(&f, "root");
	verdict_says_not(&f, "gain");
	verdict_end(&f);
}

/* A value exactly at a limit is on the side that verdict.h states. Microseconds of a millisecond. */
struct border {
	uint64_t own, host, unknown; /* the threads' own activity, waits for the host's code, waits of unknown cause */
	double at_least; /* the device's busy time in percent; negative: unknown */
	double blamed; /* the cost of a lock by the pipeline's own rules; 0 = none */
	uint64_t wait; /* time in fetches of the steps' millisecond */
	enum verdict_state state;
	double percent;
	double at_most; /* likely upper bound of the device's busy time */
	uint64_t cpu; /* waits for CPUs */
	uint64_t copied; /* the part of own in synchronous copies that waited for the device */
};

static void judge_border(const struct border *border)
{
	struct idle_hop hop = { .thread = INDEX_NONE };
	struct idle_root rows[3] = { { .ns = border->host * US, .hops = &hop, .hop_count = 1 },
				     { .ns = border->unknown * US, .hops = &hop, .hop_count = 1 },
				     { .ns = border->cpu * US, .hops = &hop, .hop_count = 1 } };
	struct verdict_scene f;
	struct host_waits kept;

	verdict_begin(&f);
	main_and_worker(&f, 500, false);
	verdict_judge_waits(&f);
	if (border->blamed || border->wait) {
		verdict_add_pipeline(&f);
		f.steps.judged_wait_ns = border->wait * US;
		verdict_blame(&f, border->blamed ? BOTTLENECK_LOCK : BOTTLENECK_BUSY, border->blamed);
	}
	kept = f.waits;
	rows[0].root.cause = IDLE_SLEEP;
	rows[0].root.thread = rows[1].root.thread = rows[2].root.thread = INDEX_NONE;
	rows[1].root.cause = IDLE_UNKNOWN;
	rows[2].root.cause = IDLE_RUNNABLE;
	f.waits.window_ns = 1000 * US;
	f.waits.waits = (struct idle_roots){ .row = rows,
					     .count = 3,
					     .total_ns = (border->host + border->unknown + border->cpu) * US };
	f.waits.own = (struct idle_roots){ .total_ns = border->own * US };
	f.waits.bounds.known = border->at_least >= 0;
	f.waits.bounds.at_least_percent = border->at_least;
	f.waits.bounds.at_most_percent = border->at_most > 0 ? 100 : 0;
	f.waits.bounds.likely_most_percent = border->at_most;
	f.waits.bounds.copied_ns = border->copied * US;
	f.waits.of_steps = border->wait > 0;
	verdict_judge(&f);
	f.waits = kept;
	verdict_expect(&f, border->state, border->percent);
	verdict_end(&f);
}

static void borders(void **state)
{
	static const struct border CASES[] = {
		/* Below the noise, or nine tenths of the time at work. */
		{ 500, 30, 0, -1, 0, 0, VERDICT_HOST_CODE, 3 },	 { 500, 29, 0, -1, 0, 0, VERDICT_HEALTHY, 50 },
		{ 900, 100, 0, -1, 0, 0, VERDICT_HEALTHY, 90 },	 { 899, 101, 0, -1, 0, 0, VERDICT_HOST_CODE, 10.1 },
		/* More than half of the waiting is of unknown cause, and more than noise. */
		{ 500, 50, 50, -1, 0, 0, VERDICT_HOST_CODE, 5 }, { 500, 49, 51, -1, 0, 0, VERDICT_UNKNOWN, 5.1 },
		{ 900, 0, 100, -1, 0, 0, VERDICT_HEALTHY, 90 },	 { 899, 0, 101, -1, 0, 0, VERDICT_UNKNOWN, 10.1 },
		{ 500, 0, 30, -1, 0, 0, VERDICT_UNKNOWN, 3 },	 { 500, 0, 29, -1, 0, 0, VERDICT_HEALTHY, 50 },
		/* For submitting threads a busy device; otherwise their own activity counts as the host's code. */
		{ 500, 0, 0, 90, 0, 0, VERDICT_DEVICE, 90 },	 { 500, 0, 0, 89.9, 0, 0, VERDICT_HOST_CODE, 50 },
		{ 500, 100, 600, 50, 0, 0, VERDICT_HOST_CODE, 60 }, { 499, 100, 600, 50, 0, 0, VERDICT_UNKNOWN, 60 },
		/* Threads wait for a device that may be busy: whether their own activity costs anything is unknown. */
		{ 500, 0, 0, 89.9, 0, 0, VERDICT_UNKNOWN, 50, 90 }, { 500, 0, 0, 50, 0, 0, VERDICT_HOST_CODE, 50, 89.9 },
		{ 500, 0, 0, 3, 0, 0, VERDICT_UNKNOWN, 50, 100 }, { 500, 0, 0, 2.9, 0, 0, VERDICT_HOST_CODE, 50, 100 },
		{ 500, 99, 0, 40, 0, 0, VERDICT_UNKNOWN, 50, 100 }, { 500, 100, 0, 40, 0, 0, VERDICT_HOST_CODE, 60, 100 },
		{ 51, 50, 0, 40, 0, 0, VERDICT_UNKNOWN, 5.1, 100 }, { 50, 50, 0, 40, 0, 0, VERDICT_HOST_CODE, 10, 100 },
		{ 29, 0, 0, 40, 0, 0, VERDICT_HEALTHY, 2.9, 100 },
		/* Waits for CPUs are part of their activity if they are short. */
		{ 500, 0, 0, 40, 0, 0, VERDICT_UNKNOWN, 50, 100, 124 }, { 500, 0, 0, 40, 0, 0, VERDICT_HOST_CODE, 50, 100, 125 },
		{ 100, 0, 0, 40, 0, 0, VERDICT_UNKNOWN, 10, 100, 99 }, { 500, 99, 0, 40, 0, 0, VERDICT_UNKNOWN, 50, 100, 124 },
		/* Copies that waited for the device cost something. */
		{ 500, 0, 0, 40, 0, 0, VERDICT_UNKNOWN, 50, 100, 0, 99 }, { 500, 0, 0, 40, 0, 0, VERDICT_HOST_CODE, 50, 100, 0, 100 },
		{ 50, 0, 0, 40, 0, 0, VERDICT_UNKNOWN, 5, 100, 0, 24 }, { 50, 0, 0, 40, 0, 0, VERDICT_HOST_CODE, 5, 100, 0, 25 },
		{ 50, 0, 0, 40, 0, 0, VERDICT_HOST_CODE, 5, 100, 0, 60 },
		/* A finding of the pipeline's rules, if it is as large as all others. */
		{ 500, 30, 0, -1, 3, 0, VERDICT_DATA, 3 },	 { 500, 31, 0, -1, 3, 0, VERDICT_HOST_CODE, 3.1 },
		{ 500, 0, 0, -1, 2.9, 0, VERDICT_HEALTHY, 50 },
		/* The part of fetches that exceeds all waits, if the pipeline has workers. */
		{ 500, 40, 0, -1, 0, 100, VERDICT_DATA, 6 },	 { 500, 50, 0, -1, 0, 100, VERDICT_DATA, 5 },
		{ 500, 51, 0, -1, 0, 100, VERDICT_HOST_CODE, 5.1 }, { 500, 0, 0, -1, 0, 30, VERDICT_DATA, 3 },
		{ 500, 0, 0, -1, 0, 29, VERDICT_HEALTHY, 50 },	 { 50, 0, 0, -1, 0, 100, VERDICT_DATA, 5 },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		judge_border(&CASES[i]);
}

/* main is the trainer of a pipeline, whose steps spend @wait_percent in fetches. */
static void judge_fetches(struct verdict_scene *f, uint64_t wait_percent)
{
	f->steps.judged_wait_ns = wait_percent * 10 * US;
	f->steps.judged_to_ns = 1000 * US;
	f->all_steps.main = 0;
	verdict_blame(f, BOTTLENECK_SLEEPS, (double)wait_percent);
	verdict_judge_waits(f);
}

/* The trainer waits for a loader with workers: while the trainer lacks a CPU no batch is made. */
static void fetches_without_cpu(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	small_span(scene->model, scene->main, 0, 300 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 300 * US, 600 * US, FUTEX, scene->worker, 0);
	small_span(scene->model, scene->main, 600 * US, 1000 * US, STATE_RUNNABLE)->other =
		scene->outsider;
	small_sleep(scene->model, scene->worker, 0, 1000 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	judge_fetches(&f, 70);
	assert_string_equal(waits_why_name(f.waits.why), "fetches");
	verdict_expect(&f, VERDICT_CPU, 40);
	assert_true(f.verdict.own_percent > 29.99 && f.verdict.own_percent < 30.01);
	verdict_end(&f);
}

/* The trainer's activity in fetches is not the root of its waits for CPUs, though each kind of those is smaller. */
static void fetches_between_waits_for_cpus(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	small_span(scene->model, scene->main, 0, 700 * US, STATE_RUNNING);
	small_span(scene->model, scene->main, 700 * US, 860 * US, STATE_RUNNABLE)->other =
		scene->outsider;
	small_span(scene->model, scene->main, 860 * US, 1000 * US, STATE_RUNNABLE)->other =
		scene->worker;
	small_span(scene->model, scene->worker, 0, 1000 * US, STATE_RUNNING);
	judge_fetches(&f, 50);
	verdict_expect(&f, VERDICT_CPU, 30);
	assert_int_equal(f.verdict.idle.most->root.cause, IDLE_RUNNABLE);
	assert_int_equal(f.verdict.idle.most->root.who, scene->outsider);
	verdict_says_not(&f, "cheaper");
	verdict_says(&f, "others have the CPUs");
	verdict_end(&f);
}

/* main works until 700 us, then waits for many activities of its worker, for the longest 90 us. */
static void works_and_waits(struct verdict_scene *f)
{
	struct scene *scene = &f->scene;

	verdict_begin(f);
	verdict_add_pipeline(f);
	small_span(scene->model, scene->main, 0, 700 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 700 * US, 1000 * US, FUTEX, scene->worker, 0);
	small_sleep(scene->model, scene->worker, 0, 790 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	small_sleep(scene->model, scene->worker, 790 * US, 870 * US, FSYNC, INDEX_NONE,
		    SPAN_NO_WAKE);
	small_sleep(scene->model, scene->worker, 870 * US, 940 * US, RECVFROM, INDEX_NONE,
		    SPAN_WOKEN_SOFTIRQ);
	small_span(scene->model, scene->worker, 940 * US, 1000 * US, STATE_RUNNING);
}

/* The trainer's activity in fetches belongs to the loader; its own code is the root only if it is most of it. */
static void own_code_in_fetches(void **state)
{
	struct verdict_scene f;

	works_and_waits(&f);
	judge_fetches(&f, 40);
	verdict_expect(&f, VERDICT_DATA, 40);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	assert_int_equal(f.verdict.idle.most->root.cause, IDLE_SLEEP);
	verdict_end(&f);

	works_and_waits(&f);
	judge_fetches(&f, 65);
	verdict_expect(&f, VERDICT_DATA, 65);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.worker);
	verdict_end(&f);

	works_and_waits(&f);
	judge_fetches(&f, 66);
	verdict_expect(&f, VERDICT_DATA, 66);
	assert_int_equal(f.verdict.idle.most->root.who, f.scene.main);
	assert_int_equal(f.verdict.idle.most->root.cause, IDLE_USER_CODE);
	verdict_end(&f);
}

/*
 * A pool's thread works for any operator: the operator for which the steps wait is responsible, not the one that took
 * from the pool.
 */
static void pool_threads(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;
	struct pipeline_thread row = { .role = PIPELINE_WORKER };
	struct pipeline *pipeline;
	uint32_t pool;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	pipeline = &f.pipelines.list.row[0];
	assert_int_equal(pipeline_operator_add(scene->model, pipeline, 3, "Batch(ID:1)", "Batch"), 1);
	pipeline->threads.row[0].op = 1;
	pool = small_thread(scene->model, scene->process, 103, "pool");
	small_span(scene->model, scene->main, 0, 300 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 300 * US, 1000 * US, FUTEX, scene->worker, 0);
	small_sleep(scene->model, scene->worker, 0, 999 * US, FUTEX, pool, 0);
	small_span(scene->model, scene->worker, 999 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene->model, pool, 0, 998 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(scene->model, pool, 998 * US, 1000 * US, STATE_RUNNING);
	judge_fetches(&f, 70);
	verdict_expect(&f, VERDICT_DATA, 70);
	assert_int_equal(f.verdict.idle.most->root.who, pool);
	assert_int_equal(f.verdict.op, 0);
	/*
	 * The same if a thread of the pipeline has started it; but an operator's own thread belongs to that operator.
	 */
	row.thread = pool;
	row.op = 1;
	row.descendant = true;
	assert_true(MODEL_PUSH(&pipeline->threads, row));
	verdict_judge(&f);
	assert_int_equal(f.verdict.op, 0);
	pipeline->threads.row[1].descendant = false;
	verdict_judge(&f);
	assert_int_equal(f.verdict.op, 1);
	verdict_end(&f);
}

/*
 * A thread of another process belongs to no pool: the operator that waits for it is responsible, whatever the steps
 * wait for.
 */
static void end_in_another_process(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;
	struct pipeline_thread row = { .role = PIPELINE_WORKER_PROCESS, .op = 1, .descendant = true };
	struct pipeline *pipeline;
	uint32_t process, server;

	verdict_begin(&f);
	verdict_add_pipeline(&f);
	pipeline = &f.pipelines.list.row[0];
	assert_int_equal(pipeline_operator_add(scene->model, pipeline, 3, "Batch(ID:1)", "Batch"), 1);
	pipeline->threads.row[0].op = 1;
	process = small_process(scene->model, 300, "server", true);
	server = small_thread(scene->model, process, 300, "server");
	small_span(scene->model, scene->main, 0, 300 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 300 * US, 1000 * US, FUTEX, scene->worker, 0);
	small_sleep(scene->model, scene->worker, 0, 1000 * US, FUTEX, server, 0);
	small_sleep(scene->model, server, 0, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	judge_fetches(&f, 70);
	verdict_expect(&f, VERDICT_DATA, 70);
	assert_int_equal(f.verdict.idle.most->root.who, server);
	assert_int_equal(f.verdict.op, 1);
	/* The same if an operator started it: then it belongs to that operator. */
	row.thread = server;
	assert_true(MODEL_PUSH(&pipeline->threads, row));
	verdict_judge(&f);
	assert_int_equal(f.verdict.op, 1);
	/* A thread in the trainer's process could belong to its pool. */
	scene->model->threads.row[server].process = scene->process;
	verdict_judge(&f);
	assert_int_equal(f.verdict.op, 0);
	verdict_end(&f);
}

/* main sleeps in poll() until its timeout except for @work_us, and waits for @kind. */
static void judge_poll(struct verdict_scene *f, Profbpf__SleepObjects__Kind kind, uint64_t work_us)
{
	struct sleep_object object = { .kind = (uint8_t)kind };
	struct model *model = f->scene.model;

	assert_true(MODEL_PUSH(&model->sleep_objects, object));
	small_span(model, f->scene.main, 0, work_us * US, STATE_RUNNING);
	small_sleep(model, f->scene.main, work_us * US, 1000 * US, POLL, INDEX_NONE, SPAN_WOKEN_TIMER);
	model->spans.row[model->spans.count - 1].object = 0;
	verdict_judge_waits(f);
}

/* No event and no work: an idle thread and a hanging one look the same, and neither is the host's code. */
static void events(void **state)
{
	static const struct {
		Profbpf__SleepObjects__Kind kind;
		uint64_t work_us;
		enum verdict_state state;
	} CASES[] = {
		{ PROFBPF__SLEEP_OBJECTS__KIND__EPOLL, 29, VERDICT_UNKNOWN },
		{ PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL, 29, VERDICT_UNKNOWN },
		{ PROFBPF__SLEEP_OBJECTS__KIND__EPOLL, 30, VERDICT_HOST_CODE }, /* it works in between */
		{ PROFBPF__SLEEP_OBJECTS__KIND__TIMERFD, 29, VERDICT_HOST_CODE }, /* it keeps a pace */
		{ PROFBPF__SLEEP_OBJECTS__KIND__NOTHING, 29, VERDICT_HOST_CODE },
	};
	struct verdict_scene f;

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		verdict_begin(&f);
		judge_poll(&f, CASES[i].kind, CASES[i].work_us);
		verdict_expect(&f, CASES[i].state,
			       (double)(1000 - CASES[i].work_us) / 10);
		if (CASES[i].state == VERDICT_UNKNOWN) {
			assert_int_equal(f.verdict.lack, VERDICT_LACK_EVENTS);
			assert_int_equal(f.verdict.idle.most->root.who, f.scene.main);
			verdict_says(&f, "main thread main 100 waits for 97.1 % of the time, and no event arrived");
			verdict_says(&f, "to know  If it should have had work");
		}
		verdict_end(&f);
	}
}

/* A healthy job's verdict names the function with most samples, if there are enough. */
static void where_it_works(void **state)
{
	struct verdict_scene f;

	(void)state;
	for (uint64_t samples = 3; samples <= 4; samples++) {
		struct code_frame frame = { .file = INDEX_NONE, .kind = PROFBPF__STACKS__KIND__PYTHON };

		verdict_begin(&f);
		frame.name = model_string(f.scene.model, "decode");
		assert_true(MODEL_PUSH(&f.scene.model->code_frames, frame));
		assert_true(MODEL_PUSH(&f.scene.model->stack_frames, 0));
		assert_true(MODEL_PUSH(&f.scene.model->code_stacks, ((struct code_stack){ 0, 1 })));
		for (uint64_t i = 0; i < samples; i++)
			assert_true(MODEL_PUSH(&f.scene.model->stack_samples,
					       ((struct stack_sample){ .ts_ns = (100 + i) * US, .thread = f.scene.main })));
		main_and_worker(&f, 900, false);
		verdict_judge_waits(&f);
		verdict_expect(&f, VERDICT_HEALTHY, 90);
		if (samples == 4)
			verdict_says(&f, "nothing holds it up for long. Most often it is in decode.");
		else
			verdict_says_not(&f, "Most often");
		verdict_end(&f);
	}
}

/* A server that waits for its client, or the other way round: the activity of an untraced process is unknown. */
static void untraced_peer(void **state)
{
	struct verdict_scene f;
	struct scene *scene = &f.scene;

	verdict_begin(&f);
	small_span(scene->model, scene->main, 0, 200 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 200 * US, 1000 * US, RECVFROM, scene->outsider, 0);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_UNKNOWN, 80);
	assert_int_equal(f.verdict.lack, VERDICT_LACK_PROCESS);
	verdict_says(&f, "to know  Record that process, too (--pid 100,200, or profctl record --system). A server");
	verdict_says(&f, "was not traced <- main 100; network, 80.0 % of the time");
	verdict_end(&f);
	/* Of two other processes the one that ended a short wait is not named. */
	for (uint64_t other_us = 20; other_us <= 40; other_us += 20) {
		uint32_t process, other;

		verdict_begin(&f);
		process = small_process(scene->model, 300, "bus", false);
		other = small_thread(scene->model, process, 300, "bus");
		small_span(scene->model, scene->main, 0, 200 * US, STATE_RUNNING);
		small_sleep(scene->model, scene->main, 200 * US, (1000 - other_us) * US, RECVFROM, scene->outsider, 0);
		small_sleep(scene->model, scene->main, (1000 - other_us) * US, 1000 * US, RECVFROM, other, 0);
		verdict_judge_waits(&f);
		verdict_says(&f, other_us == 20 ? "(--pid 100,200, or" : "(--pid 100,200,300, or");
		verdict_end(&f);
	}
	/* For a loader's thread the data is late. */
	verdict_begin(&f);
	small_span(scene->model, scene->main, 0, 200 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 200 * US, 1000 * US, RECVFROM, scene->outsider, 0);
	verdict_judge_waits(&f);
	verdict_add_pipeline(&f);
	f.pipelines.list.row[0].threads.row[0].thread = scene->main;
	verdict_judge(&f);
	verdict_expect(&f, VERDICT_DATA, 80);
	verdict_end(&f);
	/* If the peer is on another host, it is the network. */
	verdict_begin(&f);
	small_span(scene->model, scene->main, 0, 200 * US, STATE_RUNNING);
	small_sleep(scene->model, scene->main, 200 * US, 1000 * US, RECVFROM, INDEX_NONE, SPAN_WOKEN_SOFTIRQ);
	verdict_judge_waits(&f);
	verdict_expect(&f, VERDICT_HOST_CODE, 80);
	verdict_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_without_cpu),
		cmocka_unit_test(threads_that_launch),
		cmocka_unit_test(device_may_be_busy),
		cmocka_unit_test(borders),
		cmocka_unit_test(fetches_without_cpu),
		cmocka_unit_test(fetches_between_waits_for_cpus),
		cmocka_unit_test(own_code_in_fetches),
		cmocka_unit_test(pool_threads),
		cmocka_unit_test(end_in_another_process),
		cmocka_unit_test(events),
		cmocka_unit_test(where_it_works),
		cmocka_unit_test(untraced_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
