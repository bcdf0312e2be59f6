/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_taken.h: the time that operators take from the trainer's other threads, if all CPUs are busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/cpu_taken.h"
#include "tests/unit/small_model.h"

#define FROM 1000
#define TO 2000

/* A trainer with two threads, and a worker of each of two operators in processes of their own; and a stranger. */
struct scene {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	uint32_t trainer, helper, workers[2], stranger;
	uint64_t taken_ns[3]; /* with one behind the last */
};

static void add_stat(struct scene *s, uint32_t cpu, uint64_t ts_ns, uint64_t idle_ns, uint64_t iowait_ns)
{
	const struct cpu_stat row = { .ts_ns = ts_ns, .cpu = cpu, .idle_ns = idle_ns, .iowait_ns = iowait_ns };

	assert_true(MODEL_PUSH(&s->model->cpu_stats, row));
}

/*
 * From 1000 to 2000 the workers run for 600 and 300, the trainer's threads are ready for 100 and 150, in part before and
 * after, too.
 */
static void begin(struct scene *s)
{
	uint32_t job;

	*s = (struct scene){ .model = small_model(0, 4000) };
	job = small_process(s->model, 10, "python", true);
	s->trainer = small_thread(s->model, job, 10, "python");
	s->helper = small_thread(s->model, job, 11, "python");
	for (uint32_t i = 0; i < 2; i++)
		s->workers[i] = small_thread(s->model, small_process(s->model, 20 + i, "worker", true), 20 + i, "worker");
	s->stranger = small_thread(s->model, small_process(s->model, 30, "other", true), 30, "other");
	s->pipeline = pipeline_add(&s->pipelines, "torch", job);
	for (uint32_t i = 0; i < 2; i++) {
		const struct pipeline_thread row = { .thread = s->workers[i], .op = i };

		assert_int_equal(pipeline_operator_add(s->model, s->pipeline, i, "worker", "worker"), i);
		assert_true(MODEL_PUSH(&s->pipeline->threads, row));
	}
	small_span(s->model, s->trainer, 0, 1100, STATE_RUNNABLE);
	small_span(s->model, s->trainer, 1100, 3000, STATE_RUNNING);
	small_span(s->model, s->helper, 500, 1850, STATE_SLEEP);
	small_span(s->model, s->helper, 1850, 2500, STATE_RUNNABLE);
	small_span(s->model, s->workers[0], 900, 1600, STATE_RUNNING);
	small_span(s->model, s->workers[0], 1600, 1700, STATE_RUNNABLE);
	small_span(s->model, s->workers[1], 1700, 2400, STATE_RUNNING);
	small_span(s->model, s->stranger, 0, 3000, STATE_RUNNABLE);
	small_index(s->model);
}

static void expect(struct scene *s, uint64_t from_ns, uint64_t to_ns, uint64_t first, uint64_t second)
{
	s->taken_ns[2] = 777;
	assert_true(cpu_taken_find(s->model, s->pipeline, from_ns, to_ns, s->taken_ns));
	assert_int_equal(s->taken_ns[0], first);
	assert_int_equal(s->taken_ns[1], second);
	assert_int_equal(s->taken_ns[2], 777);
}

static void end(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/* The trainer's threads were ready for 250 in all: no operator took more. With more CPUs a worker takes less. */
static void no_more_than_the_trainer_was_ready(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_stat(&s, 0, FROM, 0, 0);
	add_stat(&s, 0, TO, 0, 0);
	expect(&s, FROM, TO, 250, 250);
	add_stat(&s, 1, FROM, 0, 0);
	add_stat(&s, 1, TO, 0, 0);
	expect(&s, FROM, TO, 250, 150);
	for (uint32_t cpu = 2; cpu < 4; cpu++) {
		add_stat(&s, cpu, FROM, 0, 0);
		add_stat(&s, cpu, TO, 0, 0);
	}
	expect(&s, FROM, TO, 150, 75);
	expect(&s, FROM, FROM, 0, 0);
	expect(&s, TO, FROM, 0, 0);
	end(&s);
}

/* CPUs are busy if a tenth of their time is idle, waits for disks included. A CPU with one reading is not known. */
static void busy_cpus(void **state)
{
	static const struct {
		uint64_t idle_ns, iowait_ns;
		bool busy;
	} CASES[] = { { 0, 0, true }, { 200, 0, true }, { 201, 0, false }, { 100, 100, true }, { 100, 101, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct scene s;

		begin(&s);
		expect(&s, FROM, TO, 0, 0); /* no reading */
		add_stat(&s, 0, FROM, 7000, 8000);
		expect(&s, FROM, TO, 0, 0);
		add_stat(&s, 0, TO, 7000 + CASES[i].idle_ns, 8000 + CASES[i].iowait_ns);
		add_stat(&s, 1, FROM, 5000, 0);
		add_stat(&s, 1, TO, 5000, 0);
		add_stat(&s, 2, FROM, 0, 0);
		expect(&s, FROM, TO, CASES[i].busy ? 250 : 0, CASES[i].busy ? 150 : 0);
		end(&s);
	}
}

/* Between two readings idle time grows evenly; at a reading it is that reading's. */
static void readings_at_other_instants(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	add_stat(&s, 0, 0, 0, 0);
	add_stat(&s, 0, 500, 1000, 0);
	add_stat(&s, 0, FROM, 2000, 0);
	add_stat(&s, 0, 1500, 2000, 0);
	add_stat(&s, 0, 3000, 2300, 0);
	/* 100 of 1000 from 1500 to 2000: as idle as may be. */
	expect(&s, FROM, TO, 250, 250);
	s.model->cpu_stats.row[4].idle_ns = 2306;
	expect(&s, FROM, TO, 0, 0);
	s.model->cpu_stats.row[4].idle_ns = 2300;
	s.model->cpu_stats.row[2].idle_ns = 1999;
	expect(&s, FROM, TO, 0, 0);
	/* Behind the last reading nothing is known to be idle. */
	s.model->cpu_stats.count = 4;
	s.model->cpu_stats.row[2].idle_ns = 2000;
	expect(&s, FROM, TO, 250, 250);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_than_the_trainer_was_ready),
		cmocka_unit_test(busy_cpus),
		cmocka_unit_test(readings_at_other_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
