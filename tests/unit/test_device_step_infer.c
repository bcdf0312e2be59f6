/* SPDX-License-Identifier: Apache-2.0 */
/* What repeats in a device's tasks: where a repetition begins, which one counts, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_step_find.h"
#include "tests/unit/small_model.h"

#define WORK_NS 10
#define GAP_NS 100

static struct model *model;
static struct step_finding finding;

/*
 * Each letter is a kernel of that name and of 10 ns, and '>' a copy to the device, one directly behind another. '.' is
 * a gap of 100 ns; what follows '|' begins 5 ns before the one in front of it ends. Names are numbered as in @names.
 */
static void infer_named(const char *names, const char *scene)
{
	static const struct analysis_options options;
	static const struct host_loops loops;
	struct device_tasks of = { .options = &options, .loops = &loops };
	uint64_t now_ns = 10000;

	model = small_model(0, 100000);
	finding = (struct step_finding){ 0 };
	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (; *names; names++)
		model_string(model, (char[]){ *names, 0 });
	for (; *scene; scene++) {
		struct device_task *task;

		if (*scene == '.') {
			now_ns += GAP_NS;
		} else if (*scene == '|') {
			now_ns -= WORK_NS / 2;
		} else {
			task = small_task(model, 0, now_ns, now_ns + WORK_NS);
			task->name = model_string(model, *scene == '>' ? "Memcpy HtoD" : (char[]){ *scene, 0 });
			task->kind = *scene == '>' ? PROFBPF__DEVICE_TASKS__KIND__COPY
						   : PROFBPF__DEVICE_TASKS__KIND__KERNEL;
			now_ns += WORK_NS;
		}
	}
	small_index(model);
	of.model = model;
	of.count = model->tasks.count;
	assert_int_equal(device_step_infer(&of, &finding), 0);
}

static void infer(const char *scene)
{
	infer_named("", scene);
}

static void done(void)
{
	free(finding.steps.row);
	model_free(model);
}

static void expect(enum step_source source, const char *begin, uint32_t steps)
{
	assert_int_equal(finding.source, source);
	assert_string_equal(model_text(model, finding.fp_name), begin);
	assert_int_equal(finding.steps.count, steps);
	done();
}

static void expect_repetition(const char *begin, uint32_t steps)
{
	expect(STEPS_REPETITION, begin, steps);
}

static void expect_none(void)
{
	assert_true(finding.confidence == 0);
	expect(STEPS_REPETITION, "", 0);
}

/* The device waits before each a. How long it waited before the first task, with which the recording begins, is unknown. */
static void begins_after_waiting(void **state)
{
	(void)state;
	infer("b.ab.ab.ab.a");
	expect_repetition("a", 4);
	infer_named("ab", "b.ab.ab.ab.a");
	expect_repetition("a", 4);
}

/* Before b the device does not wait: b begins while a runs, or as it ends. */
static void overlaps_are_no_waiting(void **state)
{
	(void)state;
	infer(".c.a|b.a|b.a|b.a|b");
	expect_repetition("a", 4);
	infer_named("ba", ".c.ab.ab.ab.ab");
	expect_repetition("a", 4);
}

/* A device that never waits: the repetition begins with the name that is first, whichever number that name has. */
static void begins_with_the_first(void **state)
{
	(void)state;
	infer_named("ab", "babababa");
	expect_repetition("b", 4);
	infer_named("ba", "babababa");
	expect_repetition("b", 4);
}

/* x occurs more often, and its name is between those of a and b: these are of one repetition nevertheless. */
static void names_of_one_number(void **state)
{
	(void)state;
	infer_named("axb", "u.bax.baxx.ba.baxxx");
	expect_repetition("b", 4);
	infer_named("bxa", "u.abx.abxx.ab.abxxx");
	expect_repetition("a", 4);
}

/* Nothing occurs three times. */
static void too_few(void **state)
{
	(void)state;
	infer("");
	expect_none();
	infer("abcd");
	expect_none();
	infer("abcd.abcd");
	expect_none();
}

/*
 * Of 8 kernels there can be 4 in the two turns between three begins; 2 are: half of the work is enough, less is not.
 */
static void half_of_the_work(void **state)
{
	(void)state;
	infer("uvwaaaxy");
	assert_true(finding.confidence == LOOP_CONFIDENCE_MIN);
	expect_repetition("a", 3);
	infer("uvwaaaxyz");
	expect_none();
}

/*
 * a to f repeat four times and explain 18 of 28.2 kernels. x occurs 23 times, with as many kernels less one, but
 * explains only 22 of 43.1.
 */
static void most_confident(void **state)
{
	(void)state;
	infer("xxxxxxx.abcdefxxxxx.abcdefxxx.abcdefxx.abcdefxxxxxx");
	assert_true(finding.confidence > 63 && finding.confidence < 64);
	expect_repetition("a", 4);
}

/* Each number of turns explains all work: the shorter turns are the repetition, whether tried first or last. */
static void shorter_of_equals(void **state)
{
	(void)state;
	infer("abcababcababcab");
	assert_true(finding.confidence == 100);
	expect_repetition("a", 6);
	infer("xpqrxxpqrxxpqrx");
	assert_true(finding.confidence == 100);
	expect_repetition("x", 6);
}

/* Only 16 numbers of occurrences are tried: that of most kernels is one of them, if 16 others are smaller. */
static void most_kernels_are_tried(void **state)
{
	char scene[1024];
	size_t used = 0;

	(void)state;
	for (int i = 0; i < 20; i++)
		for (char name = 'a'; name <= 't'; name++)
			scene[used++] = name;
	for (char name = 'A'; name <= 'P'; name++)
		for (int i = 0; i < 3 + name - 'A'; i++)
			scene[used++] = name;
	scene[used] = 0;
	infer(scene);
	expect_repetition("a", 20);
}

/* Copies begin the turns of a loop. A kernel begins them all only if it is the first one in each. */
static void first_kernel_of_turns(void **state)
{
	(void)state;
	infer(">ab>ab>ab>ab>ab");
	assert_int_equal(finding.evidence, LOOP_BY_FEED);
	expect(STEPS_DEVICE, "a", 5);
	infer(">ab>ab>ba>ab>ab");
	assert_int_equal(finding.evidence, LOOP_BY_FEED);
	expect(STEPS_DEVICE, "", 5);
	/* The recording ends before the last turn's kernels. */
	infer(">ab>ab>ab>ab>");
	assert_int_equal(finding.evidence, LOOP_BY_FEED);
	assert_string_equal(model_text(model, finding.fp_name), "");
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_after_waiting),	 cmocka_unit_test(overlaps_are_no_waiting),
		cmocka_unit_test(begins_with_the_first), cmocka_unit_test(names_of_one_number),
		cmocka_unit_test(too_few),		 cmocka_unit_test(half_of_the_work),
		cmocka_unit_test(most_confident),	 cmocka_unit_test(shorter_of_equals),
		cmocka_unit_test(most_kernels_are_tried), cmocka_unit_test(first_kernel_of_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
