/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comparison of synthetic jobs' traces, from the files to the output: it names the change in a job, and calls equal
 * jobs equal. The page shows the same figures as the JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/cli/diff_run.h"
#include "analyzer/view/diff.h"
#include "tests/unit/json_path.h"
#include "tests/unit/report_of.h"
#include "tests/unit/sample_trace.h"

#define STEPS 160
#define PAIRS 40
#define LAUNCH 1
#define COPY 2
#define SCATTER 0.08 /* deviation of each duration */
#define NANOSLEEP 35 /* system call of x86-64 */
#define MAIN 100
#define OTHER 200

/* Mean milliseconds of a step. */
struct job {
	double matmul, softmax; /* on the device, one after the other */
	double pause; /* the loop sleeps, the device has nothing to do */
	double code; /* and then computes */
};

static const struct job USUAL = { .matmul = 4, .softmax = 2, .pause = 2, .code = 2 };

/* Approximately normal: mean 1. */
static double scattered(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += drand48();
	return 1 + SCATTER * (sum - 6);
}

static uint64_t some(double ms)
{
	return (uint64_t)(ms * scattered() * (double)MS);
}

static void begin(struct trace_builder *b)
{
	static const uint32_t target = MAIN;
	const struct trace_segment segment = { .start_ns = SAMPLE_START,
					       .start_realtime_ns = 1700000000000000000,
					       .targets = &target,
					       .target_count = 1 };
	const struct trace_function launch = { .id = LAUNCH,
					       .runtime = "opencl",
					       .name = "clEnqueueNDRangeKernel",
					       .kind = PROFBPF__FUNCTION__KIND__LAUNCH };
	const struct trace_function copy = { .id = COPY,
					     .runtime = "opencl",
					     .name = "clEnqueueWriteBuffer",
					     .kind = PROFBPF__FUNCTION__KIND__COPY };
	const struct trace_device device = { .id = 1,
					     .tgid = MAIN,
					     .name = "device",
					     .clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC };

	trace_segment(b, &segment);
	trace_target(b, SAMPLE_START, MAIN, MAIN, "trainer");
	trace_function(b, &launch);
	trace_function(b, &copy);
	trace_device(b, &device);
}

/* The loop sleeps until @until_ns. */
static void sleeps(struct trace_builder *b, uint64_t from_ns, uint64_t until_ns)
{
	trace_switch(b, &(struct trace_switch_row){ 0, from_ns, MAIN, 0,
						     PROFBPF__SWITCHES__STATE__SLEEP, NANOSLEEP,
						     PROFBPF__SWITCHES__FLAG__PREV_TARGET, 0 });
	trace_wake(b, &(struct trace_wake_row){ 0, until_ns, 0, MAIN, 0,
						PROFBPF__WAKES__FLAG__TIMER, NULL });
	trace_switch(b, &(struct trace_switch_row){ 0, until_ns + 5 * US, 0, MAIN,
						     PROFBPF__SWITCHES__STATE__PREEMPTED, -1,
						     PROFBPF__SWITCHES__FLAG__NEXT_TARGET, 0 });
}

static uint64_t launches(struct trace_builder *b, uint64_t at_ns, uint64_t free_ns, const char *name,
			 uint64_t lasts_ns)
{
	static uint64_t correlation;
	uint64_t start_ns = free_ns > at_ns + 20 * US ? free_ns : at_ns + 20 * US;

	correlation++;
	trace_call(b, &(struct trace_call_row){ .tid = MAIN,
						.tgid = MAIN,
						.function = LAUNCH,
						.start_ns = at_ns,
						.end_ns = at_ns + 10 * US,
						.text = name });
	trace_device_task(b, &(struct trace_device_task_row){ .device = 1,
							      .queued_ns = at_ns + 5 * US,
							      .submit_ns = at_ns + 6 * US,
							      .start_ns = start_ns,
							      .end_ns = start_ns + lasts_ns,
							      .stream = 1,
							      .kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL,
							      .name = name,
							      .tid = MAIN,
							      .enqueue_ns = at_ns,
							      .enqueue_dur_ns = 10 * US,
							      .correlation = correlation });
	return start_ns + lasts_ns;
}

/* Writes the job's trace; the caller unlinks and frees the path. */
static char *trace_of(const struct job *job)
{
	struct trace_builder *b = trace_builder_new();
	char *path = strdup("/tmp/profbpf-test-XXXXXX");
	uint64_t at_ns = SAMPLE_START + MS;

	begin(b);
	for (int i = 0; i < STEPS; i++) {
		uint64_t woken_ns = at_ns + some(job->pause), done_ns;

		sleeps(b, at_ns, woken_ns);
		at_ns = woken_ns + some(job->code);
		/* The loop's turns are recognized by these copies. */
		trace_call(b, &(struct trace_call_row){ .tid = MAIN,
							.tgid = MAIN,
							.function = COPY,
							.start_ns = at_ns,
							.end_ns = at_ns + 5 * US });
		at_ns += 6 * US;
		done_ns = launches(b, at_ns, 0, "matmul", some(job->matmul));
		done_ns = launches(b, at_ns + 50 * US, done_ns, "softmax", some(job->softmax));
		sleeps(b, at_ns + 70 * US, done_ns);
		at_ns = done_ns + 10 * US;
	}
	trace_source(b, "sched", 6 * STEPS, 6 * STEPS, NULL, 0);
	trace_statistics(b, at_ns, true, "stopped");
	close(mkstemp(path));
	trace_write(b, path);
	trace_builder_free(b);
	return path;
}

/* Returns the output of `analyzer diff` for two jobs. */
static char *compared(const struct job *before, const struct job *after, enum format format)
{
	char *paths[] = { trace_of(before), trace_of(after) }, error[512] = "", *text = NULL;
	const struct options options = {
		.command = COMMAND_DIFF, .traces = paths, .trace_count = 2, .format = format
	};
	const struct report_options report = { .sections = SECTION_DEFAULT };
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (diff_run(out, &options, &report, error, sizeof(error)) != 0)
		fail_msg("%s", error);
	fclose(out);
	for (int i = 0; i < 2; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
	return text;
}

static yajl_val compared_json(const struct job *before, const struct job *after)
{
	char *text = compared(before, after, FORMAT_JSON);
	yajl_val json = json_parse(text);

	free(text);
	return json;
}

static int equal_pairs_that_claim(void)
{
	int claimed = 0;

	for (int i = 0; i < PAIRS; i++) {
		yajl_val json = compared_json(&USUAL, &USUAL);

		assert_in_range(json_int(json, "compared"), 4, 100);
		claimed += strcmp(json_string(json, "verdict.state"), "unchanged") != 0;
		yajl_tree_free(json);
	}
	return claimed;
}

static void test_equal_jobs_claim_nothing(void **state)
{
	(void)state;
	assert_in_range(equal_pairs_that_claim(), 0, PAIRS * 5 / 100);
}

/* Checks that the row of this kind and name is significant, and changed by a factor of about @ratio. */
static void expect_change(yajl_val json, const char *what, const char *name, double ratio)
{
	char path[64];

	for (size_t i = 0; i < json_length(json, "changes"); i++) {
		double before, after;

		snprintf(path, sizeof(path), "changes.%zu.what", i);
		if (strcmp(json_string(json, path), what) != 0)
			continue;
		snprintf(path, sizeof(path), "changes.%zu.name", i);
		if (strcmp(json_string(json, path), name) != 0)
			continue;
		snprintf(path, sizeof(path), "changes.%zu.significant", i);
		assert_true(json_true(json, path));
		snprintf(path, sizeof(path), "changes.%zu.before", i);
		before = json_double(json, path);
		snprintf(path, sizeof(path), "changes.%zu.after", i);
		after = json_double(json, path);
		assert_true(after / before > 0.9 * ratio && after / before < 1.1 * ratio);
		return;
	}
	fail_msg("no %s %s", what, name);
}

static void test_a_planted_change_is_named(void **state)
{
	static const struct {
		struct job job;
		const char *what, *name, *words;
		double ratio;
	} CASES[] = {
		{ { 6, 2, 2, 2 }, "operator", "matmul", "operator matmul", 1.5 },
		{ { 4, 3, 2, 2 }, "operator", "softmax", "operator softmax", 1.5 },
		{ { 4, 2, 6, 2 }, "root", "sleep trainer", "root sleep trainer", 3 * 10 / 14.0 },
		{ { 4, 2, 2, 5 }, "root", "user_code trainer", "root user_code trainer", 2.5 * 10 / 13 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		yajl_val json = compared_json(&USUAL, &CASES[i].job);

		assert_string_equal(json_string(json, "verdict.state"), "worse");
		assert_says(json_string(json, "verdict.sentence"), CASES[i].words);
		expect_change(json, CASES[i].what, CASES[i].name, CASES[i].ratio);
		yajl_tree_free(json);
		json = compared_json(&CASES[i].job, &USUAL);
		assert_string_equal(json_string(json, "verdict.state"), "better");
		expect_change(json, CASES[i].what, CASES[i].name, 1 / CASES[i].ratio);
		yajl_tree_free(json);
	}
}

/* ---- The page */

static char *page_of(const struct diff *diff)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(diff_html(out, diff), 0);
	fclose(out);
	return text;
}

static yajl_val json_of(const struct diff *diff)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	yajl_val json;

	assert_int_equal(diff_json(out, diff), 0);
	fclose(out);
	json = json_parse(text);
	free(text);
	return json;
}

static struct change change_of(uint8_t kind, const char *name, double before, double after, double noise)
{
	struct change change = { .kind = kind,
				 .name = name,
				 .before = before,
				 .after = after,
				 .noise = noise,
				 .significant = after - before > noise || before - after > noise,
				 .before_parts = CHANGE_PARTS,
				 .after_parts = CHANGE_PARTS - 1 };

	for (int i = 0; i < CHANGE_PARTS; i++) {
		change.before_part[i] = before + i * noise / 20;
		change.after_part[i] = after - i * noise / 20;
	}
	return change;
}

static struct diff diff_of(struct change *rows, uint32_t count)
{
	struct diff diff = { .before = { "a.pbt", 0, 1000000000 },
			     .after = { "b.pbt", 0, 2000000000 },
			     .changes = { .row = rows, .count = count } };

	for (uint32_t i = 0; i < count; i++)
		diff.changes.significant += rows[i].significant;
	return diff;
}

/* Checks that each figure of the page equals that of the JSON. Returns the number of figures. */
static int check_figures(const char *page, yajl_val json)
{
	int figures = 0;

	for (const char *at = page; (at = strstr(at, "data-key=\"")); figures++) {
		char key[128], value[512], *told;
		yajl_val here;

		assert_int_equal(sscanf(at, "data-key=\"%127[^\"]\" data-value=\"%511[^\"]\"", key, value), 2);
		here = json_at(json, key);
		assert_non_null(here);
		told = YAJL_IS_NUMBER(here) ? YAJL_GET_NUMBER(here) : YAJL_GET_STRING(here);
		if (!strchr(told, '<'))
			assert_string_equal(value, told);
		at++;
	}
	return figures;
}

static int count_of(const char *text, const char *words)
{
	int count = 0;

	for (; (text = strstr(text, words)); text++)
		count++;
	return count;
}

static void test_the_page_says_what_the_json_says(void **state)
{
	struct change rows[] = {
		change_of(FIGURE_STEP, "mean", 10e6, 13e6, 1e6),
		change_of(FIGURE_ROOT, "lock <b>", 10, 30, 2),
		change_of(FIGURE_PROCESS, "job", 80, 81, 4),
	};
	struct diff diff = diff_of(rows, 3);
	char *page = page_of(&diff);
	yajl_val json = json_of(&diff);

	(void)state;
	/*
	 * Seven figures per row in its table and in the first screen, if it is listed there, and 12 of the verdict
	 * and the tiles.
	 */
	assert_in_range(check_figures(page, json), 3 * 5 + 2 * 6 + 12, 60);
	assert_says(page, "<section id=\"verdict\" data-state=\"worse\"><h2>Slower</h2>");
	assert_says(page, ">+30.0 %</span> <small>of a step’s time");
	assert_says(page, ">13.00 ms</span>");
	assert_says(page, ">+20.0 points</span>");
	assert_says(page, "lock &#60;b&#62;");
	assert_null(strstr(page, "lock <b>"));
	assert_int_equal(count_of(page, "<tr class=\"beyond\">"), 2 * 2);
	/* A chart per row: eight parts before, seven after. The last two are keys in the headings of four tables. */
	assert_int_equal(count_of(page, "<circle class=\"before\""), 5 * CHANGE_PARTS + 4);
	assert_int_equal(count_of(page, "<rect class=\"after\""), 5 * (CHANGE_PARTS - 1) + 4);
	assert_null(strstr(page, "http:"));
	assert_null(strchr(strstr(page, "<body>"), '@'));
	yajl_tree_free(json);
	free(page);
}

static void expect_state(struct change *rows, uint32_t count, const char *state, const char *title)
{
	struct diff diff = diff_of(rows, count);
	char words[128], *page = page_of(&diff);

	assert_string_equal(diff_state(&diff.changes), state);
	snprintf(words, sizeof(words), "data-state=\"%s\"><h2>%s</h2>", state, title);
	assert_says(page, words);
	free(page);
}

static void test_each_answer_has_a_title(void **state)
{
	struct change step = change_of(FIGURE_STEP, "mean", 10, 10, 1), less = change_of(FIGURE_STEP, "mean", 10, 5, 1);
	struct change root = change_of(FIGURE_ROOT, "lock", 10, 30, 1);
	struct change both[] = { root, step };

	(void)state;
	expect_state(&less, 1, "better", "Faster");
	expect_state(both, 2, "changed", "Changed, but not the steps’ time");
	expect_state(&root, 1, "changed", "Changed");
	expect_state(&step, 1, "unchanged", "Nothing changed");
	expect_state(NULL, 0, "unknown", "Nothing to compare");
}

/* The job's own code is a root, too, and it is no wait. */
static void test_the_legend_explains_roots(void **state)
{
	static const struct job LONGER = { 4, 2, 2, 5 };
	char *text = compared(&USUAL, &LONGER, FORMAT_TEXT);

	(void)state;
	assert_says(text, "user_code trainer");
	assert_says(text, "\nroot: what the job waits for in the end, or does itself on a CPU, as a share of the time\n");
	free(text);
}

/* Many steps in one part of a recording are not few. */
static void test_the_page_says_why_steps_are_not_compared(void **state)
{
	struct change root = change_of(FIGURE_ROOT, "lock", 10, 30, 1);
	struct diff diff = diff_of(&root, 1);
	char *page = page_of(&diff);

	(void)state;
	assert_says(page, "<small>no steps in both</small>");
	free(page);
	diff.changes.steps_too_few = true;
	page = page_of(&diff);
	assert_says(page, "<small>steps in too few parts of a recording</small>");
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_jobs_claim_nothing),
		cmocka_unit_test(test_a_planted_change_is_named),
		cmocka_unit_test(test_the_page_says_what_the_json_says),
		cmocka_unit_test(test_each_answer_has_a_title),
		cmocka_unit_test(test_the_legend_explains_roots),
		cmocka_unit_test(test_the_page_says_why_steps_are_not_compared),
	};

	srand48(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
