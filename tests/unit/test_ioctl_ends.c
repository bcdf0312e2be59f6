/* SPDX-License-Identifier: Apache-2.0 */
/* ioctl_ends.h: an ioctl whose return was not seen lasts at least until the sleep in which it was found ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/join/thread/ioctl_ends.h"
#include "tests/unit/small_model.h"

#define UNSEEN (MODEL_IOCTL_BEFORE | MODEL_IOCTL_UNSEEN)

/* The end of an ioctl that began at @start_ns, if it is known to have lasted until @end_ns. */
static uint64_t end_of(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns, uint8_t flags)
{
	const struct ioctl_call call = { .start_ns = start_ns, .end_ns = end_ns, .thread = thread, .flags = flags };

	model->ioctls.count = 0;
	for (int i = 0; i < 2; i++)
		assert_true(MODEL_PUSH(&model->ioctls, call));
	model->ioctls.count = 1; /* the second one is behind the last */
	ioctl_ends_find(model);
	assert_int_equal(model->ioctls.row[1].end_ns, end_ns);
	return model->ioctls.row[0].end_ns;
}

/*
 * The thread runs until 100, sleeps until 200, has no CPU until 250, waits for a disk until 400, and runs until 500. The
 * next one sleeps.
 */
static struct model *begin(void)
{
	struct model *model = small_model(0, 1000);
	uint32_t thread = small_thread(model, small_process(model, 7, "python", true), 7, "python");

	small_span(model, thread, 0, 100, STATE_RUNNING);
	small_span(model, thread, 100, 200, STATE_SLEEP);
	small_span(model, thread, 200, 250, STATE_RUNNABLE);
	small_span(model, thread, 250, 400, STATE_DISK);
	small_span(model, thread, 400, 500, STATE_RUNNING);
	small_span(model, small_thread(model, 0, 8, "thread"), 0, 900, STATE_SLEEP);
	return model;
}

static void it_ends_with_the_sleep(void **state)
{
	struct model *model = begin();

	(void)state;
	assert_int_equal(end_of(model, 0, 100, 100, UNSEEN), 200);
	assert_int_equal(end_of(model, 0, 199, 199, UNSEEN), 200);
	assert_int_equal(end_of(model, 0, 250, 250, UNSEEN), 400);
	/* A later end is known. */
	assert_int_equal(end_of(model, 0, 150, 230, UNSEEN), 230);
	model_free(model);
}

static void awake_or_not_recorded_it_keeps_its_end(void **state)
{
	static const uint64_t AWAKE[] = { 0, 99, 200, 249, 400, 499, 500 };
	struct model *model = begin();

	(void)state;
	for (size_t i = 0; i < sizeof(AWAKE) / sizeof(*AWAKE); i++)
		assert_int_equal(end_of(model, 0, AWAKE[i], AWAKE[i], UNSEEN), AWAKE[i]);
	assert_int_equal(end_of(model, INDEX_NONE, 100, 100, UNSEEN), 100);
	assert_int_equal(end_of(model, 1, 100, 100, UNSEEN), 900);
	assert_int_equal(end_of(model, 2, 100, 100, UNSEEN), 100);
	model_free(model);
}

/* Between two spans nothing is known of the thread; the sleep behind is not the ioctl's. */
static void a_hole_before_a_sleep(void **state)
{
	struct model *model = small_model(0, 1000);
	uint32_t thread = small_thread(model, small_process(model, 7, "python", true), 7, "python");

	(void)state;
	small_span(model, thread, 0, 100, STATE_RUNNING);
	small_span(model, thread, 120, 200, STATE_SLEEP);
	assert_int_equal(end_of(model, thread, 110, 110, UNSEEN), 110);
	assert_int_equal(end_of(model, thread, 120, 120, UNSEEN), 200);
	model_free(model);
}

static void a_return_that_was_seen_is_its_end(void **state)
{
	struct model *model = begin();

	(void)state;
	assert_int_equal(end_of(model, 0, 100, 150, 0), 150);
	assert_int_equal(end_of(model, 0, 100, 150, MODEL_IOCTL_BEFORE), 150);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_with_the_sleep),
		cmocka_unit_test(awake_or_not_recorded_it_keeps_its_end),
		cmocka_unit_test(a_hole_before_a_sleep),
		cmocka_unit_test(a_return_that_was_seen_is_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
