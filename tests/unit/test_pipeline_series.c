/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_series.h: elements, CPU time of samples, and sizes of queues in the interval to which they belong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "tests/unit/small_model.h"

#define INTERVALS 3

/* Two operators, in three intervals from 100 to 400. */
struct scene {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	struct host_interval intervals[INTERVALS];
	const struct thread_usage **threads; /* by row of pipeline->threads */
	struct pipeline_series series;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ .model = small_model(0, 1000) };
	s->pipeline = pipeline_add(&s->pipelines, "test", small_process(s->model, 7, "python", true));
	for (uint32_t i = 0; i < 2; i++) {
		const struct pipeline_queue queue = { .from = i, .to = INDEX_NONE };

		assert_int_equal(pipeline_operator_add(s->model, s->pipeline, i, "map", "map"), i);
		assert_true(MODEL_PUSH(&s->pipeline->queues, queue));
	}
	for (uint64_t i = 0; i < INTERVALS; i++)
		s->intervals[i].start_ns = 100 + 100 * i;
	small_index(s->model);
}

static void compute(struct scene *s)
{
	const struct host_results host = { .intervals = s->intervals, .interval_count = INTERVALS };
	const struct process_results processes = { .window = { 100, 400 } };
	const struct pipeline_usage usage = { .pipeline = s->pipeline, .threads = s->threads };

	assert_int_equal(pipeline_series_compute(s->model, &host, &processes, &usage, &s->series), 0);
	assert_int_equal(s->series.interval_count, INTERVALS);
}

static const struct operator_interval *cell(const struct scene *s, uint32_t op, uint32_t interval)
{
	return &s->series.cells[op * INTERVALS + interval];
}

static void end(struct scene *s)
{
	pipeline_series_free(&s->series);
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/* An element counts where it was handed on; where its work began only if the operator's outputs are not recorded. */
static void elements(void **state)
{
	static const uint64_t AT_NS[] = { 99, 100, 199, 200, 399, 400 };
	struct scene s;

	(void)state;
	begin(&s);
	((struct pipeline_operator *)s.pipeline->operators.row)[1].counts_outputs = true;
	for (size_t i = 0; i < sizeof(AT_NS) / sizeof(*AT_NS); i++) {
		const struct pipeline_output output = { .ts_ns = AT_NS[i], .op = 0, .count = 10 };

		assert_true(MODEL_PUSH(&s.pipeline->outputs, output));
		for (uint32_t op = 0; op < 2; op++) {
			const struct pipeline_work work = { .start_ns = AT_NS[i], .end_ns = AT_NS[i] + 1, .op = op };

			assert_true(MODEL_PUSH(&s.pipeline->works, work));
		}
	}
	/* A row behind the last one. */
	s.pipeline->outputs.row[5].ts_ns = 150;
	s.pipeline->outputs.count = 5;
	compute(&s);
	assert_int_equal(cell(&s, 0, 0)->elements, 20 + 2);
	assert_int_equal(cell(&s, 0, 1)->elements, 10 + 1);
	assert_int_equal(cell(&s, 0, 2)->elements, 10 + 1);
	for (uint32_t i = 0; i < INTERVALS; i++)
		assert_int_equal(cell(&s, 1, i)->elements, 0);
	end(&s);
}

/* CPU time between two samples is spread evenly. */
static void samples(void **state)
{
	static const struct pipeline_cpu CPU[] = {
		{ .op = 0, .start_ns = 50, .end_ns = 250, .user_ns = 200, .system_ns = 100 },
		{ .op = 0, .start_ns = 250, .end_ns = 300, .user_ns = 10, .system_ns = 0 },
		{ .op = 0, .start_ns = 400, .end_ns = 500, .user_ns = 100, .system_ns = 100 },
		{ .op = 1, .start_ns = 0, .end_ns = 100, .user_ns = 100, .system_ns = 100 },
	};
	struct scene s;

	(void)state;
	begin(&s);
	for (size_t i = 0; i < sizeof(CPU) / sizeof(*CPU); i++)
		assert_true(MODEL_PUSH(&s.pipeline->cpu, CPU[i]));
	compute(&s);
	assert_int_equal(cell(&s, 0, 0)->user_ns, 100);
	assert_int_equal(cell(&s, 0, 0)->system_ns, 50);
	assert_int_equal(cell(&s, 0, 0)->run_ns, 150);
	assert_int_equal(cell(&s, 0, 1)->user_ns, 60);
	assert_int_equal(cell(&s, 0, 1)->run_ns, 85);
	assert_int_equal(cell(&s, 0, 2)->run_ns, 0);
	for (uint32_t i = 0; i < INTERVALS; i++)
		assert_int_equal(cell(&s, 1, i)->run_ns, 0);
	end(&s);
}

/* A thread that runs all the time: its system time is in proportion to the ticks of an interval, or of all, if it had none. */
static void system_time(void **state)
{
	static const struct account ACCOUNTS[] = {
		{ .ts_ns = 100, .run_ns = 0 },
		{ .ts_ns = 200, .run_ns = 100, .user_ns = 30, .system_ns = 10 },
		{ .ts_ns = 300, .run_ns = 200, .user_ns = 30, .system_ns = 10 },
		{ .ts_ns = 400, .run_ns = 300, .user_ns = 60, .system_ns = 60 },
	};
	static const uint64_t SYSTEM[] = { 25, 50, 62 }; /* 10 of 40, 60 of 120, 50 of 80 */
	struct thread_usage usage = { .source = USAGE_TIMELINE, .run_ns = 300 };
	const struct thread_usage *threads[] = { &usage };
	struct pipeline_thread row = { .op = 1 };
	struct scene s;

	(void)state;
	begin(&s);
	usage.thread = row.thread = small_thread(s.model, 0, 7, "python");
	small_span(s.model, row.thread, 0, 1000, STATE_RUNNING);
	for (size_t i = 0; i < sizeof(ACCOUNTS) / sizeof(*ACCOUNTS); i++) {
		assert_true(MODEL_PUSH(&s.model->accounts, ACCOUNTS[i]));
		s.model->accounts.row[i].thread = row.thread;
	}
	small_index(s.model);
	assert_true(MODEL_PUSH(&s.pipeline->threads, row));
	s.threads = threads;
	compute(&s);
	for (uint32_t i = 0; i < INTERVALS; i++) {
		assert_int_equal(cell(&s, 1, i)->run_ns, 100);
		assert_int_equal(cell(&s, 1, i)->system_ns, SYSTEM[i]);
		assert_int_equal(cell(&s, 1, i)->user_ns, 100 - SYSTEM[i]);
		assert_int_equal(cell(&s, 0, i)->run_ns, 0);
	}
	end(&s);
}

/* A queue's size is known from one event to the next one of the same queue, unless the first one left it unknown. */
static void queue_sizes(void **state)
{
	static const struct pipeline_queue_event EVENTS[] = {
		{ .queue = 0, .end_ns = 150, .size = 2 },  { .queue = 0, .end_ns = 250, .size = 4 },
		{ .queue = 0, .end_ns = 350, .size = 0 },  { .queue = 0, .end_ns = 380, .size = -1 },
		{ .queue = 0, .end_ns = 390, .size = 1 },  { .queue = 0, .end_ns = 450, .size = 1 },
		{ .queue = 1, .end_ns = 50, .size = 7 },   { .queue = 1, .end_ns = 320, .size = 9 },
		{ .queue = 1, .end_ns = 340, .size = 9 },
	};
	static const struct {
		uint64_t known_ns;
		double size;
	} EXPECTED[] = { { 50, 2 }, { 100, 3 }, { 90, 210 / 90.0 }, { 100, 7 }, { 100, 7 }, { 20, 7 } };
	struct scene s;

	(void)state;
	begin(&s);
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(*EVENTS); i++)
		assert_true(MODEL_PUSH(&s.pipeline->queue_events, EVENTS[i]));
	s.pipeline->queue_events.count--; /* the last one is behind the others */
	compute(&s);
	for (uint32_t i = 0; i < 2 * INTERVALS; i++) {
		assert_int_equal(s.series.cells[i].queue_known_ns, EXPECTED[i].known_ns);
		assert_float_equal(s.series.cells[i].queue_size, EXPECTED[i].size, 1e-9);
	}
	end(&s);
}

/* Empty queues have a size, too. */
static void sizes_of_empty_queues(void **state)
{
	static const uint32_t EXPECTED[] = { 3, 0, 5, 0, 0, 0, 777 };
	static const struct pipeline_queue_event EVENTS[] = {
		{ .queue = 1, .end_ns = 10, .size = 0 },
		{ .queue = 1, .end_ns = 20, .size = 5 },
		{ .queue = 1, .end_ns = 30, .size = 0 },
		{ .queue = 1, .end_ns = 40, .size = 9 },
	};
	uint32_t sizes[7] = { [6] = 777 };
	struct scene s;

	(void)state;
	begin(&s);
	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(*EVENTS); i++)
		assert_true(MODEL_PUSH(&s.pipeline->queue_events, EVENTS[i]));
	s.pipeline->queue_events.count--; /* the last one is behind the others */
	s.pipeline->queues.row[1].first_size = 3;
	assert_true(pipeline_queue_sizes(s.pipeline, 1, 0, 10, 6, sizes));
	assert_memory_equal(sizes, EXPECTED, sizeof(sizes));
	s.pipeline->queues.row[1].to_device = true;
	assert_true(pipeline_queue_sizes(s.pipeline, 1, 0, 10, 6, sizes));
	assert_int_equal(sizes[0], 0); /* the first one that is known */
	s.pipeline->queue_events.row[3].queue = 0;
	assert_false(pipeline_queue_sizes(s.pipeline, 0, 0, 10, 6, sizes));
	s.pipeline->queue_events.count = 1;
	assert_true(pipeline_queue_sizes(s.pipeline, 1, 0, 10, 6, sizes));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements),
		cmocka_unit_test(samples),
		cmocka_unit_test(system_time),
		cmocka_unit_test(queue_sizes),
		cmocka_unit_test(sizes_of_empty_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
