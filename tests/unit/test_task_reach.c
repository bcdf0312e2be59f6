/* SPDX-License-Identifier: Apache-2.0 */
/* task_reach.h: the tasks in a time range and the two beside it, each with its enqueue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/join/launch/task_reach.h"
#include "tests/unit/small_model.h"

#define FROM_NS 200
#define TO_NS 300

/* A model with two devices. */
static struct model *begin(void)
{
	struct model *model = small_model(0, 1000);

	for (int i = 0; i < 2; i++)
		small_device(model, INDEX_NONE, "gpu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	return model;
}

static void add(struct model *model, uint32_t device, uint64_t enqueue_ns, uint64_t start_ns, uint64_t end_ns)
{
	small_task(model, device, start_ns, end_ns)->enqueue_ns = enqueue_ns;
}

/* What is needed for the range must be that from @first to @last. */
static void expect(const struct model *model, uint64_t first, uint64_t last)
{
	uint64_t first_ns, last_ns;

	assert_true(task_reach(model, FROM_NS, TO_NS, &first_ns, &last_ns));
	assert_int_equal(first_ns, first);
	assert_int_equal(last_ns, last);
}

static void without_tasks_it_is_the_range_itself(void **state)
{
	struct model *model = begin();

	(void)state;
	expect(model, FROM_NS, TO_NS);
	model_free(model);
}

/* From the enqueue or the start of a task that runs in the range, whichever is first, to its end or its enqueue. */
static void a_task_in_the_range(void **state)
{
	static const struct {
		uint64_t enqueue_ns, start_ns, end_ns, first, last;
	} CASES[] = {
		{ 210, 220, 230, FROM_NS, TO_NS }, { 150, 220, 230, 150, TO_NS },    { 210, 160, 230, 160, TO_NS },
		{ 210, 220, 340, FROM_NS, 340 },   { 350, 220, 230, FROM_NS, 350 }, /* clocks may differ */
		{ 170, 180, 201, 170, TO_NS },	   { 210, 299, 360, FROM_NS, 360 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct model *model = begin();

		add(model, i % 2, CASES[i].enqueue_ns, CASES[i].start_ns, CASES[i].end_ns);
		expect(model, CASES[i].first, CASES[i].last);
		model_free(model);
	}
}

/* Of each device, in whatever order its tasks are stored; of two that end or begin together the first one stored. */
static void the_nearest_task_on_each_side(void **state)
{
	struct model *model = begin();

	(void)state;
	add(model, 0, 80, 90, 150);
	expect(model, 80, TO_NS);
	add(model, 0, 100, 110, FROM_NS); /* the end of the range is no part of it, nor is its begin of what was before */
	expect(model, 100, TO_NS);
	add(model, 0, 60, 70, FROM_NS);
	add(model, 0, 50, 60, 199);
	expect(model, 100, TO_NS);
	add(model, 0, 310, 450, 460);
	expect(model, 100, 460);
	add(model, 0, 290, TO_NS, 400);
	expect(model, 100, 400);
	add(model, 0, 290, TO_NS, 500);
	add(model, 0, 290, 301, 600);
	expect(model, 100, 400);
	/* The other device has its own neighbours, which are farther away. */
	add(model, 1, 20, 30, 40);
	add(model, 1, 290, 700, 800);
	expect(model, 20, 800);
	model_free(model);
}

static void unknown_times(void **state)
{
	uint64_t first_ns, last_ns;
	struct model *model = begin();

	(void)state;
	add(model, 0, 0, 10, 20);
	assert_false(task_reach(model, FROM_NS, TO_NS, &first_ns, &last_ns));
	/* A task that was only counted has no times that matter. */
	model->tasks.row[0].flags |= MODEL_TASK_UNTIMED;
	add(model, 0, 30, 40, 50);
	expect(model, 30, TO_NS);
	model->devices.row[0].clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	assert_false(task_reach(model, FROM_NS, TO_NS, &first_ns, &last_ns));
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_tasks_it_is_the_range_itself),
		cmocka_unit_test(a_task_in_the_range),
		cmocka_unit_test(the_nearest_task_on_each_side),
		cmocka_unit_test(unknown_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
