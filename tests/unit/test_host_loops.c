/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_loops.h: which calls of which threads make a loop, and where its turns begin and end.
 *
 * Calls of a thread are written as a text, a character for each instant: letters launch work, equal letters equal
 * work, "O" an optimizer's; '>' copies to the device, '<' waits for it, '!' launches or '~' waits in vain, "i" is a
 * wait inside another call, '.' marks something, "(" and ")" begin and end the range of a step, "[" and "]" another
 * range, "S" marks a step's begin. Blanks are no call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/host_loops.h"
#include "tests/unit/small_model.h"

struct job {
	struct model *model;
	uint32_t process;
	uint32_t launch, copy, sync, push, pop, mark;
};

static struct job begin(void)
{
	struct job job = { .model = small_model(0, 1000000) };

	job.process = small_process(job.model, 100, "job", true);
#define FUNCTION(name, kind) small_function(job.model, "cuda", name, PROFBPF__FUNCTION__KIND__##kind)
	job.launch = FUNCTION("cudaLaunchKernel", LAUNCH);
	job.copy = FUNCTION("cuMemcpyHtoDAsync_v2", COPY);
	job.sync = FUNCTION("cudaStreamSynchronize", SYNC);
	job.push = FUNCTION("nvtxRangePushA", MARKER);
	job.pop = FUNCTION("nvtxRangePop", MARKER);
	job.mark = FUNCTION("nvtxMarkA", MARKER);
	return job;
}

static uint32_t function_of(const struct job *job, char c)
{
	switch (c) {
	case '>': return job->copy;
	case '<':
	case '~':
	case 'i': return job->sync;
	case '(':
	case '[': return job->push;
	case ')':
	case ']': return job->pop;
	case '.':
	case 'S': return job->mark;
	default: return job->launch;
	}
}

/* Adds a thread with calls that take a nanosecond each, in the order of the text. */
static uint32_t run(struct job *job, uint32_t tid, const char *text)
{
	uint32_t thread = small_thread(job->model, job->process, tid, "thread");

	for (uint32_t i = 0; text[i]; i++) {
		char name[2] = { text[i] };
		struct call *call;
		uint32_t row;

		if (text[i] == ' ')
			continue;
		row = small_call(job->model, thread, function_of(job, text[i]), i + 1, i + 2);
		call = &job->model->calls.row[row];
		if (text[i] == 'O')
			call->text = model_string(job->model, "adam");
		else if (text[i] == '(' || text[i] == 'S')
			call->text = model_string(job->model, "step");
		else
			call->text = model_string(job->model, name);
		if (text[i] == '!' || text[i] == '~')
			call->flags = MODEL_CALL_ERROR;
		if (text[i] == 'i')
			call->flags = MODEL_CALL_INNER;
	}
	return thread;
}

/* The loops found must be @expected: of each its thread, confidence and turns from and to which place of the text. */
static void check(struct job *job, const char *expected)
{
	static const struct analysis_options options;
	struct host_loops loops;
	char text[4096] = "";
	size_t used = 0;

	small_index(job->model);
	assert_int_equal(host_loops_find(job->model, &options, &loops), 0);
	for (uint32_t i = 0; i < loops.loops.count; i++) {
		const struct host_loop *loop = &loops.loops.row[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %d%%:", i ? "; " : "",
					 loop->thread == INDEX_NONE ? "all" :
					 loop->thread == 0          ? "first" :
								      "other",
					 (int)loop->confidence);
		for (uint32_t k = 0; k < loop->count; k++) {
			const struct host_turn *turn = &loops.turns.row[loop->first + k];

			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d-%d", (int)turn->start_ns - 1,
						 (int)turn->end_ns - 1);
		}
	}
	assert_string_equal(text, expected);
	host_loops_free(&loops);
	model_free(job->model);
}

static void check_one(const char *text, const char *expected)
{
	struct job job = begin();

	run(&job, 100, text);
	check(&job, expected);
}

static void check_two(const char *first, const char *other, const char *expected)
{
	struct job job = begin();

	run(&job, 100, first);
	run(&job, 101, other);
	check(&job, expected);
}

/* ---- Calls */

static void failed_and_inner_calls_are_no_events(void **state)
{
	(void)state;
	check_one("a~b~c~d<a~b~c~d<a~b~c~d<", "all 100%: 0-8 8-16 16-24");
	check_one("aibicid<aibicid<aibicid<", "all 100%: 0-8 8-16 16-24");
	/* Failed launches are no work, however often. */
	check_one(">ab!>ab>ab!!!!>ab", "all 100%: 0-4 4-7 7-14 14-17");
}

static void other_calls_are_no_work_beside_work(void **state)
{
	(void)state;
	check_one(">ab....>ab>.ab>ab.", "all 100%: 0-7 7-10 10-14 14-18");
}

/* As in training on a CPU. */
static void without_work_all_calls_are(void **state)
{
	(void)state;
	check_one(">..>..>..", "all 100%: 0-3 3-6 6-9");
}

/* Calls of two threads are one sequence, by time: one copies, the other one works. */
static void threads_work_for_one_loop(void **state)
{
	(void)state;
	check_two(">  >  >  ", " ab ab ab", "all 100%: 0-3 3-6 6-9");
}

/* ---- Threads */

static void threads_in_step_are_one_loop(void **state)
{
	(void)state;
	check_two("a O   a O   a O   ", " b O   b O   b O ", "all 100%: 0-6 6-12 12-16");
}

/* Turns of three and of five instants: together they repeat only a part. */
static void threads_with_loops_of_their_own(void **state)
{
	struct job job = begin();

	(void)state;
	run(&job, 100, "aaO   aaO   aaO   aaO   aaO   aaO   ");
	run(&job, 101, "   cdefgO      cdefgO      cdefgO   ");
	check(&job, "first 100%: 0-6 6-12 12-18 18-24 24-30 30-33; other 100%: 3-15 15-27 27-33");
}

/* One thread with a loop does not replace that of the process. */
static void one_thread_alone_is_not_enough(void **state)
{
	(void)state;
	check_two("aaO   aaO   aaO   aaO   ", "   x     xxx    xx    xxxx", "all 66%: 0-3 3-9 9-16 16-22 22-26");
}

static void a_thread_has_a_loop_where_all_have_none(void **state)
{
	(void)state;
	check_two("aO      aO      aO      aO      ", "  xx      xxxxxx  xxxx    xxxx", "first 100%: 0-8 8-16 16-24 24-26");
}

/*
 * Another thread waits after each piece of the first one's work, as one that writes a log: together every piece is waited
 * for, which is no evidence. The first thread's own waits are.
 */
static void the_thread_with_all_the_work_has_a_loop_of_its_own(void **state)
{
	(void)state;
	check_two("a b c d<a b c d<a b c d<", " < < <   < < <   < < <  ", "first 100%: 0-8 8-16 16-24");
	/* Without it the first thread has the process's loop. */
	check_two("a b c d<a b c d<a b c d<", "", "all 100%: 0-8 8-16 16-24");
}

static void append(char *text, const char *turn, uint32_t turns)
{
	for (*text = '\0'; turns; turns--)
		strcat(text, turn);
}

/* The number of loops if a third thread has three turns of six pieces of work, and two others nine in each of @turns. */
static uint32_t loops_beside(uint32_t turns)
{
	static const struct analysis_options options;
	struct job job = begin();
	struct host_loops loops;
	uint32_t count;
	char text[1024];

	append(text, "aaO   ", turns);
	run(&job, 100, text);
	append(text, "   cdefgO   ", turns);
	run(&job, 101, text);
	run(&job, 102, "x O   x O   x O   ");
	small_index(job.model);
	assert_int_equal(host_loops_find(job.model, &options, &loops), 0);
	count = loops.loops.count;
	host_loops_free(&loops);
	model_free(job.model);
	return count;
}

static void a_thread_with_a_sixteenth_of_the_work_may_have_a_loop(void **state)
{
	(void)state;
	assert_int_equal(loops_beside(10), 3); /* 6 of 96 */
	assert_int_equal(loops_beside(11), 2);
}

/* ---- Marks */

static void a_step_ends_with_its_range(void **state)
{
	(void)state;
	check_one("(ab) (ab) (ab) c", "all 100%: 0-3 5-8 10-13");
	/* The mark alone: where the next one begins, or the last call ends. */
	check_one("Sab Sab Sab c", "all 100%: 0-4 4-8 8-13");
}

/* A range around marks that have no end is not theirs. */
static void the_end_of_another_range_is_none_of_a_step(void **state)
{
	(void)state;
	check_one("[Sab] [Sab] [Sab]", "all 100%: 1-7 7-13 13-16");
}

/* The copy that feeds a step may begin as the last one ends, on another thread. */
static void a_step_begins_with_its_copy_not_before_the_last_step_ends(void **state)
{
	(void)state;
	check_two("(ab) (ab) (ab)", "   >    >", "all 100%: 0-3 3-8 8-13");
	check_two("(ab) (ab) (ab)", "  >    >", "all 100%: 0-3 5-8 10-13");
}

/* Of ranges that are nested more deeply the ends are not known. */
static void marks_nest_64_deep(void **state)
{
	char text[256];

	(void)state;
	memset(text, '[', 64);
	strcpy(text + 63, "(ab) (ab) ");
	check_one(text, "all 100%: 63-66 68-71");
	memset(text, '[', 64);
	strcpy(text + 64, "(ab) (ab) ");
	check_one(text, "all 100%: 64-69 69-72");
}

/* A step's mark that a file contains and calls show, too, counts once. */
static void marks_of_files_count_if_no_call_shows_them(void **state)
{
	(void)state;
	for (int unnamed = 0; unnamed < 2; unnamed++) {
		struct job job = begin();

		run(&job, 100, ">ab>ab>ab");
		for (uint64_t i = 0; i < 2; i++) {
			struct step_mark mark = { .start_ns = 2 + 3 * i, .end_ns = 4 + 3 * i, .number = i,
						  .process = job.process, .unnamed = unnamed };

			assert_true(MODEL_PUSH(&job.model->step_marks, mark));
		}
		check(&job, unnamed ? "all 100%: 0-3 3-6" : "all 100%: 0-3 3-6 6-9");
	}
}

/* ---- Processes */

static uint32_t main_of(const char *first, const char *other)
{
	static const struct analysis_options options;
	struct job job = begin();
	struct host_loops loops;
	uint32_t main;

	run(&job, 100, first);
	job.process = small_process(job.model, 200, "other", true);
	run(&job, 200, other);
	small_index(job.model);
	assert_int_equal(host_loops_find(job.model, &options, &loops), 0);
	assert_int_equal(loops.loops.count, 2);
	main = loops.main;
	host_loops_free(&loops);
	model_free(job.model);
	return main;
}

static void the_main_loop_has_most_turns_or_is_first(void **state)
{
	(void)state;
	assert_int_equal(main_of(">a>a>a", ">b>b>b"), 0);
	assert_int_equal(main_of(">a>a>a", ">b>b>b>b"), 1);
	assert_int_equal(main_of(">a>a>a>a", ">b>b>b"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failed_and_inner_calls_are_no_events),
		cmocka_unit_test(other_calls_are_no_work_beside_work),
		cmocka_unit_test(without_work_all_calls_are),
		cmocka_unit_test(threads_work_for_one_loop),
		cmocka_unit_test(threads_in_step_are_one_loop),
		cmocka_unit_test(threads_with_loops_of_their_own),
		cmocka_unit_test(one_thread_alone_is_not_enough),
		cmocka_unit_test(a_thread_has_a_loop_where_all_have_none),
		cmocka_unit_test(the_thread_with_all_the_work_has_a_loop_of_its_own),
		cmocka_unit_test(a_thread_with_a_sixteenth_of_the_work_may_have_a_loop),
		cmocka_unit_test(a_step_ends_with_its_range),
		cmocka_unit_test(the_end_of_another_range_is_none_of_a_step),
		cmocka_unit_test(a_step_begins_with_its_copy_not_before_the_last_step_ends),
		cmocka_unit_test(marks_nest_64_deep),
		cmocka_unit_test(marks_of_files_count_if_no_call_shows_them),
		cmocka_unit_test(the_main_loop_has_most_turns_or_is_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
