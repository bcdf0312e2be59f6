/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time of a device: sums of parts, gaps and causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/idle_causes.h"
#include "tests/unit/idle_scene.h"

/* Checks that the parts of each gap have no holes, and lie behind those of the gap before. */
static void expect_parts_without_holes(const struct idle_result *idle)
{
	const struct idle_part *part = idle->parts.row;

	for (uint32_t i = 0; i < idle->gap_count; i++) {
		uint64_t now_ns = idle->gaps[i].gap.start_ns;

		assert_ptr_equal(idle->gaps[i].parts, part);
		for (uint32_t n = 0; n < idle->gaps[i].part_count; n++, part++) {
			assert_int_equal(part->start_ns, now_ns);
			now_ns = part->end_ns;
		}
		assert_int_equal(now_ns, idle->gaps[i].gap.end_ns);
	}
	assert_int_equal(part - idle->parts.row, idle->parts.count);
}

/* Totals over several gaps: sums, counts, order, and only the longest gaps listed. */
static void test_totals(void **state)
{
	struct scene scene = scene_make();
	const struct analysis_options options = { .top = 2, .idle_threshold_ns = 20 * US };
	struct idle_result *idle = &scene.results.idle;

	small_task(scene.model, 0, 310 * US, 400 * US)->thread = scene.main;
	small_task(scene.model, 0, 500 * US, 600 * US)->thread = scene.worker;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 450 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 450 * US, 1000 * US, STATE_RUNNABLE)->other =
		scene.main;
	small_index(scene.model);
	assert_int_equal(device_results_compute(scene.model, &options, &scene.results), 0);
	assert_int_equal(idle->gaps_total, 3);
	assert_int_equal(idle->total_ns, 210 * US);
	assert_int_equal(idle->gap_count, 2);
	assert_int_equal(idle->gaps[0].gap.start_ns, 100 * US);
	assert_int_equal(idle->gaps[1].gap.start_ns, 400 * US);
	expect_parts_without_holes(idle);
	assert_int_equal(idle->total_count, 4);
	assert_int_equal(idle->totals[0].cause, IDLE_USER_CODE);
	assert_string_equal(model_text(scene.model, idle->totals[0].who), "main 100");
	assert_int_equal(idle->totals[0].ns, 95 * US);
	assert_int_equal(idle->totals[0].gaps, 2);
	assert_int_equal(idle->totals[3].cause, IDLE_DEVICE_WAIT);
	assert_int_equal(idle->totals[3].ns, 15 * US);
	assert_true(idle->totals[0].percent > 45.2 && idle->totals[0].percent < 45.3);
	scene_end(&scene);
}

/* A gap exactly as long as the threshold is listed. */
static void test_threshold(void **state)
{
	for (uint64_t more = 0; more < 2; more++) {
		struct scene scene = scene_make();
		const struct analysis_options options = { .top = 2,
							  .idle_threshold_ns = 100 * US + more };

		small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
		small_index(scene.model);
		assert_int_equal(device_results_compute(scene.model, &options, &scene.results), 0);
		assert_int_equal(scene.results.idle.gaps_total, 1);
		assert_int_equal(scene.results.idle.gap_count, 1 - more);
		scene_end(&scene);
	}
}

/* Several threads of a process used the CPU: one row for all with the same name. */
static void test_runner_names(void **state)
{
	struct scene scene = scene_make();
	uint32_t second = small_thread(scene.model, scene.process, 102, "worker");
	const struct idle_result *idle = &scene.results.idle;

	small_span(scene.model, scene.main, 0, 130 * US, STATE_RUNNABLE)->other = scene.worker;
	small_span(scene.model, scene.main, 130 * US, 160 * US, STATE_RUNNABLE)->other = second;
	small_span(scene.model, scene.main, 160 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 130, IDLE_RUNNABLE, "worker of process 100",
		     "main 100 waited for a CPU that worker 101 had");
	scene_expect(&scene, 1, 130, 160, IDLE_RUNNABLE, "worker of process 100",
		     "main 100 waited for a CPU that worker 102 had");
	assert_int_equal(idle->gaps[0].parts[1].thread, second);
	assert_int_equal(idle->totals[0].ns, 60 * US);
	assert_int_equal(idle->totals[0].gaps, 1);
	scene_end(&scene);
}

static uint64_t up_to(uint64_t limit)
{
	return (uint64_t)rand() % limit;
}

/* Random threads, calls, ioctls and tasks. */
static void fill_at_random(struct scene *scene)
{
	static const int16_t syscalls[] = { -1, READ, POLL, IOCTL, NANOSLEEP, FUTEX, 999 };
	static const uint8_t flags[] = { 0, 0, SPAN_WOKEN_TIMER, SPAN_NO_WAKE, SPAN_IOWAIT };
	struct model *model = scene->model;

	model->devices.row[0].kind = model_string(model, rand() % 2 ? "cpu" : "gpu");
	for (uint32_t thread = 0; thread < 2; thread++) {
		uint64_t now_ns = up_to(50 * US);

		while (now_ns < 900 * US) {
			uint64_t end_ns = now_ns + 1 + up_to(30 * US);
			struct span *span = small_span(model, thread, now_ns, end_ns,
						       (enum thread_state)(rand() % 6));

			span->syscall = syscalls[rand() % 7];
			span->flags = flags[rand() % 5];
			span->other = rand() % 4 ? (uint32_t)up_to(3) : INDEX_NONE;
			now_ns = end_ns;
		}
	}
	for (int i = 0; i < 60; i++) {
		uint64_t start_ns = up_to(900 * US);
		struct ioctl_call ioctl = { .start_ns = start_ns,
					    .end_ns = start_ns + up_to(4 * US),
					    .thread = (uint32_t)up_to(2),
					    .driver = (uint32_t)up_to(3) };

		small_call(model, (uint32_t)up_to(2), (uint32_t)up_to(3), start_ns,
			   start_ns + up_to(20 * US));
		assert_true(MODEL_PUSH(&model->ioctls, ioctl));
	}
	for (int i = 0; i < 30; i++) {
		uint64_t start_ns = up_to(900 * US);
		struct device_task *task =
			small_task(model, 0, start_ns, start_ns + up_to(20 * US));

		task->thread = (uint32_t)up_to(4);
		task->enqueue_ns = rand() % 4 ? up_to(start_ns + 1) : 0;
		task->enqueue_dur_ns = up_to(5 * US);
		task->submit_ns = rand() % 2 ? up_to(start_ns + 10 * US) : 0;
	}
}

/* Each gap is covered without holes, and all sums agree to the nanosecond. */
static void test_random(void **state)
{
	srand(20261121);
	for (int round = 0; round < 300; round++) {
		struct scene scene = scene_make();
		const struct device_usage *usage;
		struct idle_splitter *splitter;
		uint64_t parts_ns = 0;

		fill_at_random(&scene);
		scene_compute(&scene);
		usage = &scene.results.devices[0];
		splitter = idle_splitter_new(scene.model);
		assert_non_null(splitter);
		for (uint32_t gap = 0; gap < usage->gap_count; gap++) {
			const struct idle_part *parts;
			int count = idle_split(splitter, &usage->gaps[gap], true, &parts);
			uint64_t now_ns = usage->gaps[gap].start_ns;

			assert_true(count > 0);
			for (int i = 0; i < count; i++) {
				assert_int_equal(parts[i].start_ns, now_ns);
				assert_true(parts[i].end_ns > now_ns);
				assert_true(parts[i].cause < IDLE_CAUSES);
				parts_ns += parts[i].end_ns - parts[i].start_ns;
				now_ns = parts[i].end_ns;
			}
			assert_int_equal(now_ns, usage->gaps[gap].end_ns);
		}
		assert_int_equal(parts_ns, scene.results.idle.total_ns);
		assert_int_equal(parts_ns, usage->idle_ns);
		idle_splitter_free(splitter);
		scene_end(&scene);
	}
}

/* Causes in order of their time: each once, equal ones in their own order, none without time. */
static void test_ranked(void **state)
{
	const uint64_t ns[IDLE_CAUSES + 1] = { [IDLE_USER_CODE] = 5, [IDLE_LOCK] = 9,
					       [IDLE_IO] = 5, [IDLE_NO_WORK] = 10,
					       [IDLE_CAUSES] = 99 /* outside of the array: must not be read */ };

	assert_int_equal(idle_cause_ranked(ns, 0), IDLE_NO_WORK);
	assert_int_equal(idle_cause_ranked(ns, 1), IDLE_LOCK);
	assert_int_equal(idle_cause_ranked(ns, 2), IDLE_USER_CODE);
	assert_int_equal(idle_cause_ranked(ns, 3), IDLE_IO);
	assert_int_equal(idle_cause_ranked(ns, 4), IDLE_CAUSES);
	assert_int_equal(idle_cause_ranked(ns, 99), IDLE_CAUSES);
}

/* Numbers that are no cause have a name, too. */
static void test_names(void **state)
{
	assert_string_equal(idle_cause_name(IDLE_NO_WORK), "no_work");
	assert_string_equal(idle_cause_name(IDLE_CAUSES), "unknown");
	assert_string_equal(idle_cause_text(IDLE_NO_WORK), "waiting for work from outside");
	assert_string_equal(idle_cause_text(IDLE_CAUSES), "cause not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals), cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_runner_names),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ranked),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
