/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that are ranks of one job end collectives together; those of another job do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/rank_jobs.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

#define DEVICES 4
#define US 1000ull
#define PARTS 256
#define STEP_US 10000 /* between ends; a tenth of it is near */

struct jobs_scene {
	struct model *model;
	struct rank_part parts[PARTS];
	uint32_t count;
};

static void begin(struct jobs_scene *s)
{
	*s = (struct jobs_scene){ .model = small_model(0, 1000000 * US) };
	assert_true(MODEL_PUSH(&s->model->files, 0));
	for (uint32_t i = 0; i < DEVICES; i++)
		small_device(s->model, small_process(s->model, 100 + i, "rank", true), "device",
			     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
}

/* Adds ends of a kind on a device, the first at @at_us. */
static void add(struct jobs_scene *s, uint32_t kind, uint32_t device, uint32_t count, uint64_t at_us, uint64_t step_us)
{
	for (uint32_t i = 0; i < count; i++)
		s->parts[s->count++] = (struct rank_part){ (at_us + i * step_us) * US, device, kind, false };
}

static void find(struct jobs_scene *s, uint32_t *jobs)
{
	assert_int_equal(rank_jobs_find(s->model, s->parts, s->count, jobs), 0);
	model_free(s->model);
}

/* Two jobs of two ranks, which take equally many steps of different lengths. */
static void two_jobs(void **state)
{
	uint32_t jobs[DEVICES];
	struct jobs_scene s;

	(void)state;
	begin(&s);
	add(&s, 0, 0, 20, 1000, STEP_US);
	add(&s, 0, 1, 20, 1900, STEP_US + 137);
	add(&s, 0, 2, 20, 1020, STEP_US);
	add(&s, 0, 3, 20, 1910, STEP_US + 137);
	find(&s, jobs);
	assert_int_equal(jobs[0], 0);
	assert_int_equal(jobs[1], 1);
	assert_int_equal(jobs[2], 0);
	assert_int_equal(jobs[3], 1);
}

/* Two devices whose ends differ, on both sides of each limit. */
static void two_devices(void **state)
{
	enum { NOTHING, ROOTED, ONE_PROCESS, UNTRACED, FILES_ALONE, ANCHORED, SWEEPS_ANCHORED };
	static const struct {
		int what;
		uint32_t first, second; /* number of ends */
		uint64_t later_us, shorter_us; /* of the second device */
		bool together;
	} CASES[] = {
		{ NOTHING, 8, 8, 1000, 0, true },	 { NOTHING, 8, 8, 1010, 0, false },
		{ NOTHING, 8, 7, 5000, 0, true },	 { NOTHING, 7, 8, 5000, 0, true },
		{ NOTHING, 8, 80, 5000, 9000, true },	 { NOTHING, 80, 8, 5000, 0, false },
		{ ROOTED, 8, 8, 5000, 0, true },
		{ ONE_PROCESS, 8, 8, 5000, 0, true },	 { UNTRACED, 8, 8, 5000, 0, true },
		{ FILES_ALONE, 8, 8, 5000, 0, true },	 { ANCHORED, 20, 20, 4000, 0, true },
		{ SWEEPS_ANCHORED, 20, 20, 4000, 530, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint32_t jobs[DEVICES];
		struct jobs_scene s;

		begin(&s);
		add(&s, 0, 0, CASES[i].first, 1000, STEP_US);
		add(&s, 0, 1, CASES[i].second, 1000 + CASES[i].later_us, STEP_US - CASES[i].shorter_us);
		for (uint32_t k = 0; k < s.count; k++)
			s.parts[k].rooted = CASES[i].what == ROOTED;
		if (CASES[i].what == ONE_PROCESS)
			s.model->devices.row[1].process = s.model->devices.row[0].process;
		if (CASES[i].what == UNTRACED)
			s.model->processes.row[s.model->devices.row[1].process].target = false;
		if (CASES[i].what == FILES_ALONE)
			s.model->files.count = 0;
		if (CASES[i].what == ANCHORED || CASES[i].what == SWEEPS_ANCHORED)
			s.model->devices.row[1].anchored = true;
		find(&s, jobs);
		assert_int_equal(jobs[1], CASES[i].together ? 0 : 1);
	}
}

/* Ends that follow each other fast may differ by more than a tenth. */
static void fast(void **state)
{
	(void)state;
	for (uint32_t later_us = 100; later_us <= 101; later_us++) {
		uint32_t jobs[DEVICES];
		struct jobs_scene s;

		begin(&s);
		add(&s, 0, 0, 8, 1000, 400);
		add(&s, 0, 1, 8, 1000 + later_us, 400);
		find(&s, jobs);
		assert_int_equal(jobs[1], later_us == 100 ? 0 : 1);
	}
}

/* Half of the ends must be near. */
static void half(void **state)
{
	(void)state;
	for (uint32_t near = 3; near <= 4; near++) {
		uint32_t jobs[DEVICES];
		struct jobs_scene s;

		begin(&s);
		add(&s, 0, 0, 8, 1000, STEP_US);
		add(&s, 0, 1, near, 1000, STEP_US);
		add(&s, 0, 1, 8 - near, 6000 + near * STEP_US, STEP_US);
		find(&s, jobs);
		assert_int_equal(jobs[1], near == 4 ? 0 : 1);
	}
}

/* One name with common ends is enough; devices without a common name are jobs of their own, unless a third has both. */
static void names(void **state)
{
	uint32_t jobs[DEVICES];
	struct jobs_scene s;

	(void)state;
	begin(&s);
	add(&s, 0, 0, 8, 1000, STEP_US);
	add(&s, 0, 1, 8, 6000, STEP_US);
	add(&s, 1, 0, 8, 1000, STEP_US);
	add(&s, 1, 1, 8, 1000, STEP_US);
	add(&s, 2, 1, 8, 3000, STEP_US);
	add(&s, 2, 2, 8, 3000, STEP_US);
	add(&s, 3, 3, 8, 3000, STEP_US);
	find(&s, jobs);
	assert_int_equal(jobs[1], 0);
	assert_int_equal(jobs[2], 0);
	assert_int_equal(jobs[3], 3);
}

/* A few collectives of the same name do not join jobs that are apart. */
static void few_in_common(void **state)
{
	(void)state;
	for (int apart = 0; apart < 2; apart++) {
		uint32_t jobs[DEVICES];
		struct jobs_scene s;

		begin(&s);
		add(&s, 0, 0, 8, 1000, STEP_US);
		add(&s, 0, 1, 8, 1000, STEP_US);
		add(&s, 1, 1, 8, 1000, STEP_US);
		add(&s, 1, 2, apart ? 8 : 2, 6000, STEP_US);
		add(&s, 2, 0, 2, 1000, STEP_US);
		add(&s, 2, 2, 2, 6000, STEP_US);
		find(&s, jobs);
		assert_int_equal(jobs[1], 0);
		assert_int_equal(jobs[2], apart ? 2 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_jobs), cmocka_unit_test(two_devices), cmocka_unit_test(half), cmocka_unit_test(fast),
		cmocka_unit_test(names),    cmocka_unit_test(few_in_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
