/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a pipeline that other profilers' rules use: which queues, fetches and operators count. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/pipeline_rules.h"
#include "tests/unit/small_model.h"

#define QUEUES_MAX 8
#define TRAINER 1 /* a thread */

enum { SOURCE, OTHER_SOURCE, ZIP, SENDER, OPERATORS };

/* Two sources, whose elements a third operator joins; a fourth one sends them to a device. Each has two workers. */
struct scene {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	struct operator_pipeline_usage operators[OPERATORS];
	struct queue_usage queues[QUEUES_MAX];
	struct operator_cost costs[OPERATORS];
	struct pipeline_usage usage;
	struct pipeline_steps steps;
	struct advice advice;
};

static int set_up(void **state)
{
	static const char *const NAMES[] = { "source", "other", "zip", "sender" };
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->model = small_model(0, 1000);
	s->pipeline = pipeline_add(&s->pipelines, "MindData", small_process(s->model, 7, "python", true));
	for (uint32_t i = 0; i < OPERATORS; i++) {
		assert_int_equal(pipeline_operator_add(s->model, s->pipeline, i, NAMES[i], NAMES[i]), i);
		s->pipeline->operators.row[i].workers = 2;
		s->operators[i].queue = INDEX_NONE;
	}
	s->usage = (struct pipeline_usage){ .pipeline = s->pipeline, .operators = s->operators, .queues = s->queues };
	s->usage.fetch.thread = TRAINER;
	s->steps = (struct pipeline_steps){ .usage = &s->usage, .costs = s->costs };
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	pipelines_free(&s->pipelines);
	model_free(s->model);
	free(s);
	return 0;
}

/* Adds a queue for ten elements; @percent: how full it is, NAN = not known. */
static uint32_t add_queue(struct scene *s, uint32_t from, uint32_t to, double percent)
{
	struct pipeline_queue queue = { .from = from, .to = to, .capacity = 10 };
	uint32_t row = s->pipeline->queues.count;

	assert_true(MODEL_PUSH(&s->pipeline->queues, queue));
	s->queues[row] = (struct queue_usage){ .known = !isnan(percent), .mean_size = isnan(percent) ? 0 : percent / 10 };
	s->operators[from].queue = row;
	return row;
}

static void add_event(struct scene *s, uint32_t queue, uint64_t end_ns, int32_t size)
{
	const struct pipeline_queue_event event = { .queue = queue, .start_ns = end_ns, .end_ns = end_ns, .size = size };

	assert_true(MODEL_PUSH(&s->pipeline->queue_events, event));
}

/* The value with which advice about an operator cites a rule, NAN if it does not. */
static double cited(struct scene *s, uint32_t op, enum bottleneck_kind kind, enum peer_rule_id rule)
{
	const struct bottleneck bottleneck = { .op = op, .kind = kind };

	s->advice = (struct advice){ 0 };
	rules_cite(&s->steps, &bottleneck, NAN, &s->advice);
	for (uint32_t i = 0; i < s->advice.rule_count; i++)
		if (s->advice.rules[i].rule == peer_rule(rule))
			return s->advice.rules[i].value;
	return NAN;
}

static void expect(struct scene *s, uint32_t op, enum peer_rule_id rule, double value)
{
	double found = cited(s, op, BOTTLENECK_SLEEPS, rule);

	assert_true(isnan(value) ? isnan(found) : fabs(found - value) < 1e-6);
}

/* ---- Queues beside an operator */

/* Of several inputs the fullest one counts; one whose use is unknown says nothing. */
static void the_fullest_input_counts(void **state)
{
	static const struct {
		double first, second, drop;
	} CASES[] = {
		{ 80, 90, 85 }, { 90, 80, 85 }, { 90, 90, 85 }, { NAN, 90, 85 }, { 90, NAN, 85 }, { NAN, NAN, NAN },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct scene *s;

		set_up(state);
		s = *state;
		add_queue(s, SOURCE, ZIP, CASES[i].first);
		add_queue(s, OTHER_SOURCE, ZIP, CASES[i].second);
		add_queue(s, ZIP, INDEX_NONE, 5);
		expect(s, ZIP, RULE_QUEUE_DROP, CASES[i].drop);
		expect(s, ZIP, RULE_QUEUE_STEP, CASES[i].drop);
		tear_down(state);
	}
}

/* A source has only an output. */
static void sources_have_outputs(void **state)
{
	struct scene *s = *state;

	add_queue(s, SOURCE, ZIP, 40);
	expect(s, SOURCE, RULE_LEAF_QUEUE, 40);
	expect(s, SOURCE, RULE_LEAF_USAGE, 40);
	expect(s, SOURCE, RULE_QUEUE_STEP, NAN);
	s->pipeline->queues.row[0].capacity = 0;
	expect(s, SOURCE, RULE_LEAF_QUEUE, NAN);
	expect(s, OTHER_SOURCE, RULE_LEAF_QUEUE, NAN); /* and that of this one is not known */
}

/* Operators without workers of their own, or in the trainer, are left out. */
static void hands_on_operators_are_left_out(void **state)
{
	struct scene *s = *state;

	add_queue(s, SOURCE, ZIP, 40);
	s->pipeline->operators.row[SOURCE].in_trainer = true;
	expect(s, SOURCE, RULE_LEAF_QUEUE, NAN);
	s->pipeline->operators.row[SOURCE].in_trainer = false;
	s->pipeline->operators.row[SOURCE].workers = 0;
	expect(s, SOURCE, RULE_LEAF_QUEUE, NAN);
	s->pipeline->operators.row[SOURCE].workers = 1;
	expect(s, SOURCE, RULE_LEAF_QUEUE, 40);
}

/* The operator that sends to a device, by its input; without observation nothing is said. */
static void senders_have_inputs(void **state)
{
	struct scene *s = *state;
	uint32_t input, output = add_queue(s, SENDER, INDEX_NONE, 50);

	s->pipeline->queues.row[output].to_device = true;
	expect(s, ZIP, RULE_SENDER_EMPTY, NAN);
	input = add_queue(s, ZIP, SENDER, 50);
	expect(s, ZIP, RULE_SENDER_EMPTY, NAN);
	s->queues[input].observed_ns = 100;
	s->queues[input].empty_ns = 70;
	expect(s, ZIP, RULE_SENDER_EMPTY, 70);
	s->pipeline->queues.row[output].to_device = false;
	expect(s, ZIP, RULE_SENDER_EMPTY, NAN);
}

/* ---- Workers: fewer help only if there are several */

static void idle_workers(void **state)
{
	struct scene *s = *state;
	struct pipeline_operator *op = (struct pipeline_operator *)&s->pipeline->operators.row[ZIP];

	s->operators[ZIP].all_utilization = 30;
	assert_true(cited(s, ZIP, BOTTLENECK_STARVED, RULE_WORKER_IDLE) == 15);
	assert_true(cited(s, ZIP, BOTTLENECK_TAKES_CPU, RULE_WORKER_IDLE) == 15);
	assert_true(isnan(cited(s, ZIP, BOTTLENECK_SLEEPS, RULE_WORKER_IDLE)));
	op->in_trainer = true;
	assert_true(isnan(cited(s, ZIP, BOTTLENECK_STARVED, RULE_WORKER_IDLE)));
	op->in_trainer = false;
	op->workers = 1;
	s->operators[ZIP].all_utilization = 10;
	assert_true(isnan(cited(s, ZIP, BOTTLENECK_STARVED, RULE_WORKER_IDLE)));
}

/* ---- Fetches and batches */

/* Fetches from 20 on, one each 10; the queue is empty from 30 on, and has elements again at 50. */
static void fetches_of_empty_queues(void **state)
{
	struct scene *s = *state;
	uint32_t other = add_queue(s, SOURCE, ZIP, 50), queue = add_queue(s, ZIP, INDEX_NONE, 50);

	assert_true(isnan(rules_fetch_empty(&s->usage))); /* no fetch, no observation */
	s->queues[queue].observed_ns = 100;
	s->queues[queue].empty_ns = 20;
	assert_true(rules_fetch_empty(&s->usage) == 20);
	for (uint64_t i = 0; i < STEPS_WARM_UP + 4; i++) {
		const struct pipeline_fetch fetch = { .start_ns = 10 * (i - STEPS_WARM_UP) + 20,
						      .end_ns = 10 * (i - STEPS_WARM_UP) + 21 };

		assert_true(MODEL_PUSH(&s->pipeline->fetches, fetch));
	}
	s->pipeline->fetches.row[STEPS_WARM_UP + 3].start_ns = 45; /* behind the last one */
	s->pipeline->fetches.count--;
	add_event(s, other, 15, 0);
	add_event(s, queue, 30, 0);
	add_event(s, queue, 50, 3);
	/* At 20 its size is not known, at 30 and 40 it is empty; then the first one is at 50. */
	assert_float_equal(rules_fetch_empty(&s->usage), 100, 1e-9);
	s->pipeline->fetches.row[STEPS_WARM_UP].start_ns = 50;
	assert_float_equal(rules_fetch_empty(&s->usage), 100 * 2.0 / 3, 1e-9);
	s->pipeline->fetches.row[STEPS_WARM_UP + 1].end_of_data = true;
	assert_float_equal(rules_fetch_empty(&s->usage), 50, 1e-9);
	s->pipeline->fetches.row[STEPS_WARM_UP + 2].open = true;
	assert_float_equal(rules_fetch_empty(&s->usage), 0, 1e-9);
	s->queues[queue].known = false;
	assert_true(isnan(rules_fetch_empty(&s->usage)));
}

/* Batches that found the device's queue empty, without the first ones; if there are no others nothing is known. */
static void batches_of_empty_queues(void **state)
{
	struct scene *s = *state;
	uint32_t queue = add_queue(s, SENDER, INDEX_NONE, 50), other = add_queue(s, ZIP, SENDER, 50);

	s->pipeline->queues.row[queue].to_device = true;
	for (uint64_t i = 0; i < STEPS_WARM_UP; i++)
		add_event(s, queue, i, 0);
	add_event(s, queue, 10, -1);
	add_event(s, other, 11, 0);
	assert_true(isnan(rules_device_queue_empty(&s->usage)));
	add_event(s, queue, 12, 0);
	assert_true(rules_device_queue_empty(&s->usage) == 1);
	add_event(s, queue, 13, 1);
	add_event(s, queue, 14, 0);
	assert_true(rules_device_queue_empty(&s->usage) == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fullest_input_counts),
		cmocka_unit_test_setup_teardown(sources_have_outputs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hands_on_operators_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(senders_have_inputs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(idle_workers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fetches_of_empty_queues, set_up, tear_down),
		cmocka_unit_test_setup_teardown(batches_of_empty_queues, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
