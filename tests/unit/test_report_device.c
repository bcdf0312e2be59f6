/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>

#include "analyzer/analyse/device/results.h"
#include "analyzer/view/report.h"
#include "tests/unit/small_model.h"

#define US 1000ull

/* A thread that launches a kernel and, after a wait for a lock, another one. */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 1000 * US);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t main = small_thread(model, process, 100, "main\x1b[31m");
	uint32_t worker = small_thread(model, process, 101, "work\xff\"er");
	uint32_t launch = small_function(model, "opencl", "clEnqueueNDRangeKernel",
					 PROFBPF__FUNCTION__KIND__LAUNCH);
	uint64_t enqueue_us[] = { 40, 180 };

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (int i = 0; i < 2; i++) {
		uint64_t enqueue_ns = enqueue_us[i] * US;
		struct device_task *task =
			small_task(model, 0, enqueue_ns + 10 * US, enqueue_ns + 60 * US);

		task->thread = main;
		task->enqueue_ns = enqueue_ns;
		task->submit_ns = enqueue_ns + 4 * US;
		task->name = model_string(model, "blur");
		small_call(model, main, launch, enqueue_ns - US, enqueue_ns + 5 * US);
	}
	small_span(model, main, 0, 50 * US, STATE_RUNNING);
	small_sleep(model, main, 50 * US, 170 * US, 202, worker, 0);
	small_span(model, main, 170 * US, 1000 * US, STATE_RUNNING);
	small_span(model, worker, 0, 1000 * US, STATE_RUNNING);
	small_index(model);
	return model;
}

static const struct report_options all = { .sections = SECTION_DEVICES | SECTION_JOIN |
						       SECTION_OPERATORS | SECTION_OVERLAP |
						       SECTION_COMMUNICATION | SECTION_IDLE };

static char *write_text_of(const struct model *model, struct device_results *devices, bool named)
{
	struct report_options options = all;
	char *text = NULL;
	size_t size = 0;
	const struct results results = { .devices = devices };
	FILE *out = open_memstream(&text, &size);

	options.named = named;
	assert_non_null(out);
	assert_int_equal(report_text(out, model, &results, &options), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *write_text(const struct model *model, struct device_results *devices)
{
	return write_text_of(model, devices, false);
}

static yajl_val write_json(const struct model *model, struct device_results *devices)
{
	char *text = NULL, error[200];
	size_t size = 0;
	const struct results results = { .devices = devices };
	FILE *out = open_memstream(&text, &size);
	yajl_val tree;

	assert_int_equal(report_json(out, model, &results, &all), 0);
	assert_int_equal(fclose(out), 0);
	tree = yajl_tree_parse(text, error, sizeof(error));
	if (!tree)
		fail_msg("%s in %s", error, text);
	free(text);
	return tree;
}

static yajl_val get(yajl_val from, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val value = yajl_tree_get(from, path, yajl_t_any);

	if (!value)
		fail_msg("no \"%s\"", key);
	return value;
}

static long long number(yajl_val from, const char *key)
{
	yajl_val value = get(from, key);

	assert_true(YAJL_IS_INTEGER(value));
	return YAJL_GET_INTEGER(value);
}

static const char *text_of(yajl_val from, const char *key)
{
	yajl_val value = get(from, key);

	assert_true(YAJL_IS_STRING(value));
	return YAJL_GET_STRING(value);
}

static yajl_val element(yajl_val from, const char *key, size_t i)
{
	yajl_val array = get(from, key);

	assert_true(YAJL_IS_ARRAY(array));
	assert_true(i < YAJL_GET_ARRAY(array)->len);
	return YAJL_GET_ARRAY(array)->values[i];
}

static long long sum(yajl_val from, const char *array_key, const char *key)
{
	yajl_val array = get(from, array_key);
	long long total = 0;

	for (size_t i = 0; i < YAJL_GET_ARRAY(array)->len; i++)
		total += number(YAJL_GET_ARRAY(array)->values[i], key);
	return total;
}

static void check_devices(yajl_val tree)
{
	yajl_val device = element(tree, "devices", 0);
	yajl_val join = get(tree, "join"), row = element(tree, "operators", 0);

	assert_string_equal(text_of(device, "name"), "dev");
	assert_int_equal(number(device, "pid"), 100);
	assert_int_equal(number(device, "tasks"), 2);
	assert_int_equal(number(device, "window_ns"), 190 * US);
	assert_int_equal(number(device, "busy_ns") + number(device, "idle_ns"),
			 number(device, "window_ns"));
	assert_int_equal(number(device, "compute_ns"), 100 * US);
	assert_int_equal(number(device, "free_ns"), 90 * US);
	assert_int_equal(number(element(device, "streams", 0), "busy_ns"), 100 * US);
	assert_int_equal(number(join, "launches"), 2);
	assert_int_equal(number(join, "matched"), 2);
	assert_int_equal(number(join, "unmatched_tasks"), 0);
	assert_int_equal(number(get(join, "clock"), "offset_ns"), 0);
	assert_string_equal(text_of(row, "name"), "blur");
	assert_string_equal(text_of(row, "type"), "kernel");
	assert_int_equal(number(row, "count"), 2);
	assert_int_equal(number(row, "mean_ns"), 50 * US);
}

static void check_idle(yajl_val tree)
{
	yajl_val idle = get(tree, "idle");
	yajl_val top = element(idle, "causes", 0), gap = element(idle, "gaps", 0);

	assert_int_equal(number(idle, "total_ns"), 90 * US);
	assert_int_equal(number(idle, "gaps_total"), 1);
	assert_int_equal(sum(idle, "causes", "ns"), 90 * US);
	assert_int_equal(sum(idle, "roots", "ns"), 90 * US);
	assert_string_equal(text_of(element(idle, "roots", 0), "cause"), "user_code");
	assert_int_equal(number(element(element(idle, "roots", 0), "chain", 0), "tid"), 100);
	assert_string_equal(text_of(top, "cause"), "lock");
	assert_string_equal(text_of(top, "who"), "work\xef\xbf\xbd\"er 101");
	assert_int_equal(number(top, "tid"), 101);
	assert_int_equal(number(gap, "start_ns"), 100 * US);
	assert_int_equal(number(gap, "duration_ns"), 90 * US);
	assert_int_equal(sum(gap, "parts", "ns"), 90 * US);
	assert_string_equal(text_of(gap, "after"), "blur");
}

static void test_json(void **state)
{
	const struct analysis_options options = { 0 };
	struct model *model = make_model();
	struct device_results results;
	yajl_val tree;

	assert_int_equal(device_results_compute(model, &options, &results), 0);
	tree = write_json(model, &results);
	check_devices(tree);
	check_idle(tree);
	yajl_tree_free(tree);
	device_results_free(&results);
	model_free(model);
}

static void test_text(void **state)
{
	const struct analysis_options options = { 0 };
	struct model *model = make_model();
	struct device_results results;
	char *text;

	assert_int_equal(device_results_compute(model, &options, &results), 0);
	text = write_text(model, &results);
	assert_non_null(strstr(text, "busy 52.6 % of 190.0 us between"));
	assert_non_null(strstr(text, "2 launching calls, 2 device tasks, 2 tasks matched"));
	assert_non_null(strstr(text, "was idle 47.4 % of 190.0 us, in "));
	assert_non_null(strstr(text, "Of that, by the root of the waits: "));
	assert_non_null(strstr(text, " on CPU outside of runtime calls; most of that, "));
	/* No name from a traced program reaches the terminal as an escape sequence. */
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\xff'));
	free(text);
	device_results_free(&results);
	model_free(model);
}

/* A summary follows where it has fewer rows than the list: by type and core, by core, none. */
static void test_summaries(void **state)
{
	static const struct { enum operator_by by; bool types, cores; } cases[] = {
		{ OPERATOR_BY_NAME, true, true },
		{ OPERATOR_BY_TYPE, false, true },
		{ OPERATOR_BY_CORE, false, false },
	};

	for (int i = 0; i < 3; i++) {
		const struct analysis_options options = { .operators.by = cases[i].by };
		struct model *model = make_model();
		struct device_results results;
		char *text;

		assert_int_equal(device_results_compute(model, &options, &results), 0);
		text = write_text(model, &results);
		assert_int_equal(strstr(text, "\nBy type:\n") != NULL, cases[i].types);
		assert_int_equal(strstr(text, "\nBy core:\n") != NULL, cases[i].cores);
		free(text);
		device_results_free(&results);
		model_free(model);
	}
}

/* Counts the sections: lines of hyphens. */
static int headings(const char *text)
{
	int count = 0;

	while ((text = strstr(text, "\n---"))) {
		count++;
		text += strspn(text + 1, "-") + 1;
	}
	return count;
}

/*
 * No device, or a device without tasks: a section without content is left out and listed, asked for by name it says
 * so, and none fails.
 */
static void test_nothing(void **state)
{
	const struct analysis_options options = { 0 };

	for (int devices = 0; devices < 2; devices++) {
		struct model *model = small_model(0, 1000);
		struct device_results results;
		char *text;
		yajl_val tree;

		if (devices)
			small_device(model, INDEX_NONE, "dev", 99);
		small_index(model);
		assert_int_equal(device_results_compute(model, &options, &results), 0);
		text = write_text(model, &results);
		assert_int_equal(headings(text), devices ? 3 : 0);
		if (devices)
			assert_non_null(strstr(text, "is unknown"));
		assert_non_null(strstr(text, devices ? "Nothing to show in: operators, overlap, communication (" :
						       "Nothing to show in: devices, join, operators, overlap, "
						       "communication, idle ("));
		free(text);
		text = write_text_of(model, &results, true);
		assert_int_equal(headings(text), 6);
		assert_non_null(strstr(text, devices ? "is unknown" : "No device task stream"));
		assert_non_null(strstr(text, "No device task that communicates."));
		assert_null(strstr(text, "Nothing to show"));
		free(text);
		tree = write_json(model, &results);
		assert_int_equal(number(get(tree, "idle"), "total_ns"), 0);
		assert_int_equal(YAJL_GET_ARRAY(get(tree, "devices"))->len, (size_t)devices);
		if (devices) {
			const char *path[] = { "busy_ns", NULL };

			/* Unknown is absent, not 0. */
			assert_null(yajl_tree_get(element(tree, "devices", 0), path, yajl_t_any));
		}
		yajl_tree_free(tree);
		device_results_free(&results);
		model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
