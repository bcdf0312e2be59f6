/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a hand-made pipeline's operators, queues and fetches from 100 to 900 ms: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/pipelines.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

struct fixture {
	struct model *model;
	struct pipeline *pipeline;
	struct pipeline_results results;
	struct thread_usage usages[4];
	struct process_results processes;
	struct analysis_options options;
	uint32_t process, helper_process, trainer, worker, helper, late;
};

static void begin(struct fixture *f, uint32_t operators)
{
	*f = (struct fixture){ .model = small_model(0, 1000 * MS) };
	f->process = small_process(f->model, 10, "python", true);
	f->helper_process = small_process(f->model, 20, "helper", true);
	f->trainer = small_thread(f->model, f->process, 10, "trainer");
	f->worker = small_thread(f->model, f->helper_process, 20, "worker");
	f->helper = small_thread(f->model, f->process, 12, "helper");
	f->late = small_thread(f->model, f->helper_process, 21, "late");
	f->options = (struct analysis_options){ .from_ns = 100 * MS, .to_ns = 900 * MS };
	f->processes = (struct process_results){ .window_ns = 800 * MS, .threads = f->usages };
	f->pipeline = pipeline_add(&f->results.pipelines, "test", f->process);
	for (uint32_t i = 0; i < operators; i++)
		pipeline_operator_add(f->model, f->pipeline, (int32_t)i, "op", "op");
}

static const struct pipeline_usage *measure(struct fixture *f)
{
	small_index(f->model);
	assert_int_equal(pipelines_measure(f->model, &f->options, &f->processes, &f->results), 0);
	assert_int_equal(f->results.window_ns, f->processes.window_ns);
	assert_int_equal(f->results.count, 1);
	return &f->results.rows[0];
}

static void end(struct fixture *f)
{
	pipelines_results_free(&f->results);
	model_free(f->model);
}

static void used(struct fixture *f, uint32_t thread, uint64_t run_ms, uint64_t ready_ms, uint64_t blocked_ms, uint64_t io_ms)
{
	f->usages[f->processes.thread_count++] = (struct thread_usage){ .thread = thread,
									.source = USAGE_TIMELINE,
									.run_ns = run_ms * MS,
									.runnable_ns = ready_ms * MS,
									.blocked_ns = blocked_ms * MS,
									.io_ns = io_ms * MS };
}

static void works_for(struct fixture *f, uint32_t thread, uint32_t op, bool descendant)
{
	assert_true(MODEL_PUSH(&f->pipeline->threads, ((struct pipeline_thread){ .thread = thread, .op = op,
										 .descendant = descendant })));
}

static void work(struct fixture *f, uint32_t op, uint64_t start_ns, uint64_t end_ns)
{
	assert_true(MODEL_PUSH(&f->pipeline->works,
			       ((struct pipeline_work){ .op = op, .start_ns = start_ns, .end_ns = end_ns, .thread = f->trainer })));
}

static void output(struct fixture *f, uint32_t op, uint64_t ts_ns, uint32_t count)
{
	assert_true(MODEL_PUSH(&f->pipeline->outputs, ((struct pipeline_output){ .ts_ns = ts_ns, .op = op, .count = count })));
}

static void queue(struct fixture *f, uint32_t from, uint32_t to, uint32_t capacity)
{
	assert_true(MODEL_PUSH(&f->pipeline->queues,
			       ((struct pipeline_queue){ .from = from, .to = to, .capacity = capacity })));
}

static void event(struct fixture *f, uint32_t of, int32_t change, uint64_t start_ms, uint64_t end_ms, int32_t size)
{
	assert_true(MODEL_PUSH(&f->pipeline->queue_events,
			       ((struct pipeline_queue_event){ .start_ns = start_ms * MS,
							       .end_ns = end_ms * MS,
							       .queue = of,
							       .change = change,
							       .size = size })));
}

static void fetch(struct fixture *f, uint64_t start_ms, uint64_t end_ms, uint32_t thread)
{
	assert_true(MODEL_PUSH(&f->pipeline->fetches, ((struct pipeline_fetch){
							      .start_ns = start_ms * MS, .end_ns = end_ms * MS, .thread = thread })));
}

/*
 * A worker in another process, with a helper; a thread without usage figures; an operator that runs in the trainer.
 */
static void some_threads(struct fixture *f)
{
	begin(f, 3);
	f->pipeline->operators.row[2].in_trainer = true;
	works_for(f, f->worker, 0, false);
	works_for(f, f->helper, 0, true);
	works_for(f, f->late, 1, false);
	works_for(f, f->worker, 1, false); /* outside of the array's count */
	f->pipeline->threads.count--;
	used(f, f->worker, 80, 8, 700, 12);
	used(f, f->helper, 160, 16, 600, 24);
	used(f, f->late, 1, 1, 1, 1); /* also outside */
	f->processes.thread_count--;
}

static void threads(void **state)
{
	const struct operator_pipeline_usage *ops;
	const struct pipeline_usage *usage;
	struct fixture f;

	(void)state;
	some_threads(&f);
	usage = measure(&f);
	ops = usage->operators;
	assert_ptr_equal(usage->threads[0], &f.usages[0]);
	assert_null(usage->threads[2]);
	assert_int_equal(ops[0].own_threads, 1);
	assert_int_equal(ops[0].descendants, 1);
	assert_int_equal(ops[0].run_ns, 80 * MS);
	assert_int_equal(ops[0].runnable_ns, 8 * MS);
	assert_int_equal(ops[0].blocked_ns, 700 * MS);
	assert_int_equal(ops[0].io_ns, 12 * MS);
	assert_int_equal(ops[0].all_run_ns, 240 * MS);
	assert_int_equal(ops[0].all_runnable_ns, 24 * MS);
	assert_int_equal(ops[0].all_blocked_ns, 1300 * MS);
	assert_int_equal(ops[0].all_io_ns, 36 * MS);
	assert_true(ops[0].utilization == 10 && ops[0].all_utilization == 30);
	assert_int_equal(ops[1].own_threads, 1);
	assert_int_equal(ops[1].all_run_ns, 0);
	assert_true(ops[0].has_times && ops[1].has_times);
	assert_false(ops[2].has_times);
	end(&f);
}

/* Unknown times: of a thread that was left out, or without records. */
static void unknown_times(void **state)
{
	const uint32_t pids[] = { 10 };
	const struct pipeline_usage *usage;
	struct fixture f;

	(void)state;
	some_threads(&f);
	f.usages[1].source = USAGE_UNKNOWN;
	usage = measure(&f);
	assert_false(usage->operators[0].has_times);
	assert_true(usage->operators[1].has_times);
	end(&f);
	/* The worker's process is not selected. */
	some_threads(&f);
	f.options.pids = pids;
	f.options.pid_count = 1;
	usage = measure(&f);
	assert_true(usage->operators[0].has_times);
	assert_false(usage->operators[1].has_times);
	end(&f);
	/* Without any time there is no share. */
	some_threads(&f);
	f.processes.window_ns = 0;
	usage = measure(&f);
	assert_true(usage->operators[0].utilization == 0 && usage->operators[0].all_utilization == 0);
	end(&f);
}

static void not_asked_for(void **state)
{
	const uint32_t pids[] = { 20 };
	struct fixture f;

	(void)state;
	some_threads(&f);
	f.options.pids = pids;
	f.options.pid_count = 1;
	small_index(f.model);
	assert_int_equal(pipelines_measure(f.model, &f.options, &f.processes, &f.results), 0);
	assert_int_equal(f.results.count, 0);
	end(&f);
}

/* Samples of CPU time: three quarters of the first one lie in the part. */
static void sampled(void **state)
{
	const struct pipeline_cpu row = { .end_ns = 400 * MS, .user_ns = 40 * MS, .system_ns = 20 * MS };
	struct fixture f;

	(void)state;
	for (int with_window = 0; with_window < 2; with_window++) {
		const struct pipeline_usage *usage;

		begin(&f, 2);
		f.pipeline->sampled = true;
		assert_true(MODEL_PUSH(&f.pipeline->cpu, row));
		assert_true(MODEL_PUSH(&f.pipeline->cpu, row)); /* outside of the array's count */
		f.pipeline->cpu.count--;
		if (!with_window)
			f.processes.window_ns = 0;
		usage = measure(&f);
		assert_int_equal(usage->operators[0].run_ns, 45 * MS);
		assert_int_equal(usage->operators[0].all_run_ns, 45 * MS);
		assert_true(usage->operators[0].utilization == (with_window ? 5.625 : 0));
		assert_true(usage->operators[0].all_utilization == usage->operators[0].utilization);
		assert_true(usage->operators[0].has_times);
		assert_false(usage->operators[1].has_times);
		end(&f);
	}
}

/* Work that begins at the part's first instant is in it, work that begins at its end is not. */
static void works(void **state)
{
	const struct operator_pipeline_usage *ops;
	struct fixture f;

	(void)state;
	begin(&f, 5);
	small_span(f.model, f.trainer, 0, 1000 * MS, STATE_RUNNING);
	for (uint32_t op = 1; op < 4; op++)
		f.pipeline->operators.row[op].counts_outputs = true;
	work(&f, 0, 100 * MS, 110 * MS);
	work(&f, 0, 100 * MS - 1, 110 * MS);
	work(&f, 0, 900 * MS, 910 * MS);
	work(&f, 0, 900 * MS - 1, 920 * MS - 1);
	work(&f, 1, 200 * MS, 260 * MS);
	work(&f, 3, 200 * MS, 260 * MS);
	work(&f, 4, 200 * MS, 260 * MS);
	f.pipeline->works.count--;
	output(&f, 1, 100 * MS, 2);
	output(&f, 1, 900 * MS - 1, 1);
	output(&f, 1, 100 * MS - 1, 5);
	output(&f, 1, 900 * MS, 5);
	output(&f, 1, 200 * MS, 5);
	f.pipeline->outputs.count--;
	ops = measure(&f)->operators;
	/* Works of 10 and 20 ms. */
	assert_true(ops[0].has_elements && ops[0].has_element_ns);
	assert_int_equal(ops[0].elements, 2);
	assert_true(ops[0].element_ns == 15 * MS);
	assert_int_equal(ops[0].work_ns, 20 * MS + 1);
	/* 60 ms for three elements that were passed on. */
	assert_int_equal(ops[1].elements, 3);
	assert_true(ops[1].has_elements && ops[1].has_element_ns && ops[1].element_ns == 20 * MS);
	/* No element was passed on: without work, and with some. */
	assert_true(ops[2].has_elements && !ops[2].has_element_ns);
	assert_true(ops[3].has_elements && !ops[3].has_element_ns);
	assert_int_equal(ops[3].work_ns, 60 * MS);
	assert_int_equal(ops[3].work.run_ns, 60 * MS);
	assert_false(ops[4].has_elements || ops[4].has_element_ns);
	end(&f);
}

/*
 * Without records of work, it is estimated as one thread's time between its waits: of 300 ms, 200 for input and 60
 * for room.
 */
static void estimated(void **state)
{
	enum { ESTIMATED, ALL_WAITS, MORE_WAITS, NOT_ASKED, TWO_THREADS, NO_TIMES, NO_ELEMENTS, WORKS };

	(void)state;
	for (int what = ESTIMATED; what <= WORKS; what++) {
		const struct operator_pipeline_usage *op;
		struct fixture f;

		begin(&f, 1);
		f.pipeline->operators.row[0].estimate_work = what != NOT_ASKED;
		f.pipeline->operators.row[0].counts_outputs = true;
		works_for(&f, f.trainer, 0, false);
		if (what == TWO_THREADS)
			works_for(&f, f.helper, 0, false);
		used(&f, f.trainer, 100, 50, what == ALL_WAITS ? 110 : what == MORE_WAITS ? 109 : 150, 0);
		if (what == NO_TIMES)
			f.usages[0].source = USAGE_UNKNOWN;
		queue(&f, 0, INDEX_NONE, 0);
		queue(&f, 0, 0, 0);
		f.pipeline->queues.row[1].from = 0;
		event(&f, 0, 1, 200, 260, -1);
		event(&f, 1, -1, 300, 500, -1);
		if (what != NO_ELEMENTS)
			output(&f, 0, 500 * MS, 4);
		if (what == WORKS)
			work(&f, 0, 200 * MS, 208 * MS);
		op = &measure(&f)->operators[0];
		assert_int_equal(op->input_wait_ns, 200 * MS);
		assert_int_equal(op->output_wait_ns, 60 * MS);
		assert_int_equal(op->estimated, what == ESTIMATED || what == ALL_WAITS);
		assert_int_equal(op->has_element_ns, what == ESTIMATED || what == ALL_WAITS || what == WORKS);
		if (op->has_element_ns)
			assert_true(op->element_ns == (what == ESTIMATED ? 10 : what == ALL_WAITS ? 0 : 2) * (double)MS);
		end(&f);
	}
}

/* A size applies until the next event of its queue; a queue with as many elements as its capacity is full. */
static void queues(void **state)
{
	const struct pipeline_usage *usage;
	struct fixture f;

	(void)state;
	begin(&f, 4);
	queue(&f, 0, 1, 4);
	queue(&f, 1, INDEX_NONE, 0);
	queue(&f, 2, 1, 2);
	queue(&f, 3, 1, 2);
	f.pipeline->queues.count--;
	event(&f, 0, 1, 95, 100, 1); /* 1 element for 100 ms, */
	event(&f, 0, 1, 150, 200, 4); /* 4 for 100 ms, */
	event(&f, 0, -1, 200, 300, 0); /* none for 100 ms, */
	event(&f, 0, 1, 300, 400, -1); /* and an unknown size */
	event(&f, 0, -1, 850, 950, 2);
	event(&f, 1, 0, 10, 10, 7); /* 7 elements for 400 ms of the part, */
	event(&f, 1, 0, 500, 500, 2); /* and 2 elements for 400 ms */
	event(&f, 1, -1, 890, 900, 1);
	event(&f, 2, 1, 200, 200, 1);
	event(&f, 2, 1, 300, 300, 1);
	f.pipeline->queue_events.count--;
	usage = measure(&f);
	assert_true(usage->queues[0].known && usage->queues[1].known);
	assert_int_equal(usage->queues[0].observed_ns, 300 * MS);
	assert_true(usage->queues[0].mean_size == 500.0 * MS / (300.0 * MS));
	assert_int_equal(usage->queues[0].empty_ns, 100 * MS);
	assert_int_equal(usage->queues[0].full_ns, 100 * MS);
	assert_int_equal(usage->queues[0].pushes, 3);
	assert_int_equal(usage->queues[0].pops, 1);
	assert_int_equal(usage->queues[0].push_wait_ns, 150 * MS);
	assert_int_equal(usage->queues[0].pop_wait_ns, 150 * MS);
	assert_int_equal(usage->queues[1].observed_ns, 800 * MS);
	assert_true(usage->queues[1].mean_size == 4.5);
	assert_int_equal(usage->queues[1].full_ns + usage->queues[1].empty_ns, 0);
	assert_int_equal(usage->queues[1].pops + usage->queues[1].pushes, 0);
	assert_int_equal(usage->queues[1].pop_wait_ns, 10 * MS);
	assert_int_equal(usage->queues[1].push_wait_ns, 0);
	assert_false(usage->queues[2].known);
	assert_int_equal(usage->queues[2].pushes, 1);
	assert_int_equal(usage->operators[0].output_wait_ns, 150 * MS);
	assert_int_equal(usage->operators[0].input_wait_ns, 0);
	assert_int_equal(usage->operators[1].input_wait_ns, 150 * MS);
	for (uint32_t op = 0; op < 4; op++)
		assert_int_equal(usage->operators[op].queue, op < 3 ? op : INDEX_NONE);
	end(&f);
}

/* A fetch's time in the part counts, and the fetch itself if it begins there and returned. */
static void fetches(void **state)
{
	const struct fetch_usage *usage;
	struct fixture f;

	(void)state;
	begin(&f, 1);
	fetch(&f, 99, 110, f.helper);
	fetch(&f, 100, 130, f.trainer);
	fetch(&f, 200, 260, f.trainer);
	f.pipeline->fetches.row[2].end_of_data = true;
	fetch(&f, 300, 350, f.worker);
	f.pipeline->fetches.row[3].open = true;
	fetch(&f, 890, 920, f.late);
	fetch(&f, 900, 910, f.helper);
	fetch(&f, 500, 510, f.helper);
	f.pipeline->fetches.count--;
	usage = &measure(&f)->fetch;
	assert_int_equal(usage->wait_ns, (10 + 30 + 60 + 50 + 10) * MS);
	assert_int_equal(usage->fetches, 2);
	assert_int_equal(usage->ends, 1);
	assert_int_equal(usage->max_ns, 60 * MS);
	assert_int_equal(usage->first_ns, 100 * MS);
	assert_int_equal(usage->last_ns, 920 * MS);
	assert_int_equal(usage->thread, f.late);
	end(&f);
	begin(&f, 1);
	assert_int_equal(measure(&f)->fetch.thread, INDEX_NONE);
	end(&f);
}

static void edge(struct fixture *f, uint32_t from, uint32_t to)
{
	assert_true(MODEL_PUSH(&f->pipeline->edges, ((struct pipeline_edge){ from, to })));
}

/*
 * An operator's depth is its longest way to the trainer; operators are ordered by the framework's numbers, then by
 * appearance.
 */
static void places(void **state)
{
	static const int32_t IDS[] = { 5, 3, 4, 3, -1 };
	static const uint32_t ORDER[] = { 4, 1, 3, 2, 0 };
	const struct pipeline_usage *usage;
	struct fixture f;

	(void)state;
	begin(&f, 5);
	for (uint32_t i = 0; i < 5; i++)
		f.pipeline->operators.row[i].id = IDS[i];
	edge(&f, 3, 0);
	edge(&f, 3, 2);
	edge(&f, 2, 1);
	edge(&f, 1, 0);
	edge(&f, 4, 0);
	f.pipeline->edges.count--;
	usage = measure(&f);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(usage->operators[i].depth, i < 4 ? i : 0);
		assert_int_equal(usage->order[i], ORDER[i]);
	}
	end(&f);
	/* A circle does not loop forever. */
	begin(&f, 2);
	edge(&f, 1, 0);
	edge(&f, 0, 1);
	usage = measure(&f);
	assert_int_equal(usage->operators[0].depth, 0);
	assert_int_equal(usage->operators[1].depth, 1);
	end(&f);
}

/* CPU time between two instants of a sample; a sample that ends before it begins has no share. */
static void cpu_between(void **state)
{
	const struct pipeline_cpu cpu = { .start_ns = 100, .end_ns = 200 };

	(void)state;
	assert_int_equal(pipeline_cpu_between(50, &cpu, 120, 160), 20);
	assert_int_equal(pipeline_cpu_between(50, &cpu, 0, 100), 0);
	assert_int_equal(pipeline_cpu_between(50, &cpu, 200, 300), 0);
	assert_int_equal(pipeline_cpu_between(50, &cpu, 0, 300), 50);
	assert_int_equal(pipeline_cpu_between(50, &cpu, 160, 120), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads), cmocka_unit_test(unknown_times), cmocka_unit_test(not_asked_for),
		cmocka_unit_test(sampled), cmocka_unit_test(works),	    cmocka_unit_test(estimated),
		cmocka_unit_test(queues),  cmocka_unit_test(fetches),	    cmocka_unit_test(places),
		cmocka_unit_test(cpu_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
