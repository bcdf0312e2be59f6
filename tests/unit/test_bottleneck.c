/* SPDX-License-Identifier: Apache-2.0 */
/* The report's text on a bottleneck: kind, share, source, and advice in the framework's own words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

struct fixture {
	struct model *model;
	struct pipelines pipelines;
	struct operator_pipeline_usage operators[1];
	struct pipeline_usage usage;
	struct operator_cost costs[1];
	struct pipeline_steps steps[2];
	struct step_results results;
	double idle_cpus;
	struct advice_results advice;
};

/* One operator that costs 600 of 1000 ms in ten steps; its two workers were busy for 500 ms each. */
static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct pipeline *pipeline;

	assert_non_null(f);
	f->model = small_model(0, 1000 * MS);
	pipeline = pipeline_add(&f->pipelines, "MindData", small_process(f->model, 77, "python", true));
	assert_int_equal(pipeline_operator_add(f->model, pipeline, 2, "Map(ID:2)", "Map"), 0);
	pipeline->operators.row[0].workers = 2;
	f->operators[0] = (struct operator_pipeline_usage){
		.has_times = true, .work_ns = 1000 * MS, .has_element_ns = true, .element_ns = 2.5 * MS
	};
	f->usage = (struct pipeline_usage){ .pipeline = pipeline, .operators = f->operators };
	f->idle_cpus = NAN;
	f->costs[0].wait_ns = 600 * MS;
	f->steps[0] = (struct pipeline_steps){
		.usage = &f->usage, .costs = f->costs, .judged = 10, .judged_ns = 1000 * MS, .bottleneck = 0
	};
	f->results = (struct step_results){ .pipelines = f->steps, .count = 1 };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	pipelines_free(&f->pipelines);
	model_free(f->model);
	free(f);
	return 0;
}

static const struct bottleneck *judge(struct fixture *f)
{
	advice_free(&f->advice);
	assert_int_equal(advice_analyse(f->model, &f->results, f->idle_cpus, &f->advice), 0);
	return &f->advice.bottlenecks[0];
}

static void kinds(void **state)
{
	static const struct {
		uint64_t run_ms, ready_ms, io_ms, lock_ms, cpu_ms;
		enum bottleneck_kind kind;
		const char *id, *with;
	} CASES[] = {
		{ 800, 0, 0, 0, 0, BOTTLENECK_BUSY, "pipeline_busy", "map(): raise num_parallel_workers" },
		{ 100, 0, 0, 0, 0, BOTTLENECK_SLEEPS, "pipeline_sleeps", "map(): raise num_parallel_workers" },
		{ 100, 0, 400, 0, 0, BOTTLENECK_STORAGE, "pipeline_storage", "More workers help little" },
		{ 100, 800, 0, 0, 0, BOTTLENECK_STARVED, "pipeline_starved", "num_parallel_workers of the" },
		/* The cost is longer than the seen work: shares are relative to the latter. */
		{ 600, 900, 0, 0, 0, BOTTLENECK_STARVED, "pipeline_starved", "num_parallel_workers of the" },
		{ 800, 0, 0, 900, 0, BOTTLENECK_LOCK, "pipeline_interpreter_lock", "python_multiprocessing" },
		{ 800, 0, 0, 0, 700, BOTTLENECK_TAKES_CPU, "pipeline_takes_cpu", "set_num_parallel_workers" },
		/*
		 * At the limits: 30 % waiting for a disk, half of that on a CPU, half on a CPU or ready; it waits for
		 * 600.
		 */
		{ 0, 0, 300, 0, 0, BOTTLENECK_STORAGE, "pipeline_storage", "More workers help little" },
		{ 500, 0, 299, 0, 0, BOTTLENECK_BUSY, "pipeline_busy", "raise num_parallel_workers" },
		{ 499, 1, 299, 0, 0, BOTTLENECK_STARVED, "pipeline_starved", "num_parallel_workers of the" },
		{ 499, 0, 299, 0, 0, BOTTLENECK_SLEEPS, "pipeline_sleeps", "raise num_parallel_workers" },
		{ 800, 0, 0, 600, 600, BOTTLENECK_BUSY, "pipeline_busy", "raise num_parallel_workers" },
		{ 800, 0, 0, 600, 0, BOTTLENECK_BUSY, "pipeline_busy", "raise num_parallel_workers" },
		{ 800, 0, 0, 601, 600, BOTTLENECK_LOCK, "pipeline_interpreter_lock", "python_multiprocessing" },
		{ 800, 0, 0, 601, 601, BOTTLENECK_TAKES_CPU, "pipeline_takes_cpu", "set_num_parallel_workers" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct bottleneck *b;

		f->operators[0].all_run_ns = CASES[i].run_ms * MS;
		f->operators[0].all_runnable_ns = CASES[i].ready_ms * MS;
		f->operators[0].all_io_ns = CASES[i].io_ms * MS;
		f->costs[0].lock_ns = CASES[i].lock_ms * MS;
		f->costs[0].cpu_ns = CASES[i].cpu_ms * MS;
		b = judge(f);
		assert_int_equal(b->kind, CASES[i].kind);
		assert_int_equal(f->advice.advice_count, 1);
		assert_string_equal(f->advice.list[0].id, CASES[i].id);
		assert_non_null(strstr(f->advice.list[0].remedy, CASES[i].with));
	}
	f->operators[0].has_times = false;
	f->costs[0].cpu_ns = f->costs[0].lock_ns = 0;
	assert_int_equal(judge(f)->kind, BOTTLENECK_SLOW);
	assert_non_null(strstr(f->advice.list[0].remedy, "Record with the topic sched"));
	/* Advice does not ask for records that the trace already has. */
	assert_true(MODEL_PUSH(&f->model->switches, (struct cpu_switch){ 0 }));
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "Record with"));
	/* Without workers nothing is known about them. */
	((struct pipeline_operator *)f->usage.pipeline->operators.row)[0].in_trainer = true;
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "It is unknown what its workers do"));
	assert_non_null(strstr(f->advice.list[0].remedy, "The trainer's own thread makes the batches"));
	((struct pipeline_operator *)f->usage.pipeline->operators.row)[0].in_trainer = false;
	f->model->switches.count = 0;
	advice_free(&f->advice);
}

static void words(void **state)
{
	struct fixture *f = *state;
	const struct bottleneck *b = judge(f);

	assert_true(b->percent == 60);
	assert_non_null(strstr(b->reason,
			       "60.0 % of the time of 10 steps: 60.0 % by waits for data; 2.50 ms for "
			       "each element, 2 workers"));
	assert_null(strstr(b->reason, "lock")); /* the lock has no share in it */
	assert_string_equal(f->advice.list[0].severity, "high");
	assert_ptr_equal(strstr(f->advice.list[0].title, "MindData: Map(ID:2) is"),
			 f->advice.list[0].title);
	f->costs[0].cpu_ns = 100 * MS;
	assert_non_null(strstr(judge(f)->reason, "60.0 % by waits for data, 10.0 % by CPUs taken;"));
	/* A source in Python: the number of threads that make its elements is unknown. */
	f->usage.pipeline->operators.row[0].workers = 1;
	((struct pipeline_operator *)f->usage.pipeline->operators.row)[0].source = true;
	((struct pipeline_operator *)f->usage.pipeline->operators.row)[0].python = true;
	assert_null(strstr(judge(f)->reason, "worker,"));
	assert_null(strstr(judge(f)->reason, "1 worker"));
	/* With several trainings, the text names the training. */
	f->steps[1] = f->steps[0];
	f->results.count = 2;
	judge(f);
	assert_non_null(strstr(f->advice.list[1].title, "MindData of process 77: Map(ID:2) is"));
	f->results.count = 1;
	f->steps[0].bottleneck = INDEX_NONE;
	assert_null(strstr(judge(f)->reason, "ready"));
	f->steps[0].other_cpu_ns = 400 * MS;
	assert_int_equal(judge(f)->kind, BOTTLENECK_NONE);
	assert_non_null(strstr(judge(f)->reason, "ready to run while others have the CPU for 40.0 %"));
	f->steps[0].judged = 2;
	assert_int_equal(judge(f)->kind, BOTTLENECK_NONE);
	assert_non_null(strstr(judge(f)->reason, "too few steps"));
	advice_free(&f->advice);
}

/* Workers that are started anew for each epoch: 100 of 1000 ms, or more than all but their first fetches cost. */
static void restarts(void **state)
{
	static const struct {
		uint64_t restart_ms, fetch_ms, wait_ms;
		bool found;
	} CASES[] = {
		{ 100, 0, 100, true }, { 99, 0, 90, false }, { 100, 0, 101, false }, { 100, 50, 150, true },
		{ 100, 50, 151, false }, { 100, 0, 0, true },
	};
	struct fixture *f = *state;

	f->steps[0].judged_from_ns = 500 * MS;
	f->steps[0].judged_to_ns = 1500 * MS;
	f->steps[0].restarts = 4;
	f->costs[0].lock_ns = f->costs[0].cpu_ns = 0;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct bottleneck *b;

		f->steps[0].restart_ns = CASES[i].restart_ms * MS;
		f->steps[0].restart_fetch_ns = CASES[i].fetch_ms * MS;
		f->costs[0].wait_ns = CASES[i].wait_ms * MS;
		f->steps[0].bottleneck = CASES[i].wait_ms ? 0 : INDEX_NONE;
		b = judge(f);
		assert_int_equal(b->kind == BOTTLENECK_RESTARTS, CASES[i].found);
		if (CASES[i].found) {
			assert_float_equal(b->percent, 10, 1e-6);
			assert_int_equal(b->op, 0);
			assert_non_null(strstr(b->reason, "4 times, 25.0 ms each, 10.0 % of the time"));
			assert_string_equal(f->advice.list[0].id, "pipeline_restarts");
			assert_non_null(strstr(f->advice.list[0].remedy, "Keep the worker processes"));
		}
	}
	f->steps[0].restart_ns = 1000 * MS;
	f->steps[0].judged = 3;
	assert_int_equal(judge(f)->kind, BOTTLENECK_RESTARTS);
	f->steps[0].judged = 2;
	assert_int_equal(judge(f)->kind, BOTTLENECK_NONE);
	advice_free(&f->advice);
}

/* On both sides of each limit, and at the limit. */
static void limits(void **state)
{
	struct fixture *f = *state;

	f->costs[0].wait_ns = 300 * MS;
	judge(f);
	assert_string_equal(f->advice.list[0].severity, "high");
	f->costs[0].wait_ns = 300 * MS - 1;
	judge(f);
	assert_string_equal(f->advice.list[0].severity, "medium");
	f->costs[0].wait_ns = 1100 * MS;
	judge(f);
	assert_true(f->advice.list[0].gain_percent == 100);
	/* A share that would be shown as 0.0 % is left out. */
	f->costs[0].lock_ns = MS / 2;
	assert_non_null(strstr(judge(f)->reason, "by the interpreter lock"));
	f->costs[0].lock_ns = MS / 2 - 1;
	assert_null(strstr(judge(f)->reason, "by the interpreter lock"));
	f->steps[0].judged = 3;
	assert_non_null(strstr(judge(f)->reason, "of the time of 3 steps"));
	f->steps[0].judged = 2;
	assert_non_null(strstr(judge(f)->reason, "too few steps for a judgement: 2, without the first 2"));
	assert_int_equal(f->advice.advice_count, 0);
	f->operators[0].has_element_ns = false;
	f->steps[0].judged = 3;
	assert_null(strstr(judge(f)->reason, "for each element"));
	/* With samples, an operator counts as busy from half of its workers' time on. */
	((struct pipeline *)f->usage.pipeline)->sampled = true;
	f->operators[0].utilization = 100;
	assert_int_equal(judge(f)->kind, BOTTLENECK_BUSY);
	f->operators[0].utilization = 99.9;
	assert_int_equal(judge(f)->kind, BOTTLENECK_SLOW);
	((struct pipeline *)f->usage.pipeline)->sampled = false;
	/* No operator costs enough: other threads may use the CPUs. */
	f->steps[0].judged = 3;
	f->steps[0].bottleneck = INDEX_NONE;
	f->steps[0].judged_wait_ns = 70 * MS;
	f->steps[0].other_cpu_ns = 100 * MS;
	assert_non_null(strstr(judge(f)->reason, "waits for data 7.0 % of it, and is ready to run while others "
						  "have the CPU for 10.0 %"));
	f->steps[0].other_cpu_ns = 100 * MS - 1;
	assert_non_null(strstr(judge(f)->reason, "waits for data 7.0 % of it"));
	assert_null(strstr(judge(f)->reason, "ready to run while"));
	advice_free(&f->advice);
}

/* The number of workers is shown where more workers may help, idle CPUs where the workers need CPUs. */
static void settings(void **state)
{
	struct fixture *f = *state;
	struct pipeline_operator *op = (struct pipeline_operator *)f->usage.pipeline->operators.row;

	f->operators[0].all_run_ns = 800 * MS;
	f->idle_cpus = 0.5;
	f->model->info.cpus = 4;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "It has 2 workers now, and 0.5 of 4 CPUs are idle. "));
	f->idle_cpus = 0.4;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "No CPU is idle that more workers could use"));
	f->idle_cpus = NAN;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "It has 2 workers now. "));
	op->workers = 1;
	assert_non_null(strstr(judge(f)->reason, ", 1 worker"));
	assert_null(strstr(judge(f)->reason, "1 workers"));
	assert_non_null(strstr(f->advice.list[0].remedy, "It has 1 worker now. "));
	f->idle_cpus = 2;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "It has 1 worker now, and 2.0 of 4 CPUs are idle. "));
	/* The number is not shown for a source in Python: other threads may make its elements. */
	op->source = op->python = true;
	assert_null(strstr(judge(f)->reason, "1 worker"));
	op->workers = 2;
	assert_non_null(strstr(judge(f)->reason, "2 workers"));
	op->workers = 1;
	op->source = false;
	assert_non_null(strstr(judge(f)->reason, "1 worker"));
	op->source = true;
	op->python = false;
	assert_non_null(strstr(judge(f)->reason, "1 worker"));
	op->workers = 0;
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "It has"));
	advice_free(&f->advice);
}

/* A sleeping operator needs no CPU, and an operator that runs in the trainer has no workers. */
static void no_settings(void **state)
{
	struct fixture *f = *state;
	struct pipeline_operator *op = (struct pipeline_operator *)f->usage.pipeline->operators.row;

	f->idle_cpus = 0;
	f->operators[0].all_run_ns = 100 * MS;
	assert_int_equal(judge(f)->kind, BOTTLENECK_SLEEPS);
	assert_non_null(strstr(f->advice.list[0].remedy, "It has 2 workers now. "));
	f->operators[0].all_io_ns = 400 * MS;
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "It has"));
	f->operators[0].all_io_ns = 0;
	f->operators[0].all_run_ns = 800 * MS;
	f->costs[0].cpu_ns = 700 * MS;
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "Give the job more CPUs; do less"));
	op->workers = 1;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "Give the job more CPUs; do less per element."));
	op->workers = 2;
	op->in_trainer = true;
	judge(f);
	assert_non_null(strstr(f->advice.list[0].remedy, "Give the job more CPUs; do less per element."));
	f->costs[0].cpu_ns = 0;
	judge(f);
	assert_null(strstr(f->advice.list[0].remedy, "It has"));
	assert_null(strstr(f->advice.list[0].remedy, "No CPU is idle"));
	advice_free(&f->advice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(restarts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(settings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_settings, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
