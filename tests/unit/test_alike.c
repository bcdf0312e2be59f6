/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that the text report shows once: each value in which devices and advice may differ, at its limit and beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/view/alike.h"
#include "tests/unit/small_model.h"

#define DEVICES 4

/* Ranks 0 to 3 with the same figures. */
static struct model *make_ranks(struct device_usage *usages, struct device_results *devices)
{
	struct model *model = small_model(0, 10000);

	for (uint32_t i = 0; i < DEVICES; i++) {
		small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		model->devices.row[i].has_rank = true;
		model->devices.row[i].rank = i;
		usages[i] = (struct device_usage){ .device = i,
						   .tasks = 100,
						   .window_ns = 1000,
						   .busy_ns = 500,
						   .compute_ns = 400,
						   .communication_ns = 100 };
	}
	*devices = (struct device_results){ .devices = usages, .device_count = DEVICES };
	return model;
}

static uint32_t groups_of(const struct model *model, const struct device_results *devices)
{
	struct alike alike;
	uint32_t groups;

	assert_int_equal(alike_devices(model, devices, &alike), 0);
	groups = alike.groups;
	alike_free(&alike);
	return groups;
}

/* One device is changed: it is still like the first one, or not. */
static void devices_that_differ(void **state)
{
	static const struct {
		struct device_usage usage;
		bool alike;
	} CASES[] = {
		{ { 0, 100, .window_ns = 950, .busy_ns = 475, .compute_ns = 400, .communication_ns = 100 }, true },
		{ { 0, 100, .window_ns = 949, .busy_ns = 475, .compute_ns = 400, .communication_ns = 100 }, false },
		{ { 0, 99, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 100 }, true },
		{ { 0, 98, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 100 }, false },
		{ { 0, 101, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 100 }, true },
		{ { 0, 102, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 100 }, false },
		/* A twentieth of 1,400, and of 1,100. */
		{ { 0, 100, .window_ns = 1000, .busy_ns = 500, .compute_ns = 330, .communication_ns = 100 }, true },
		{ { 0, 100, .window_ns = 1000, .busy_ns = 500, .compute_ns = 329, .communication_ns = 100 }, false },
		{ { 0, 100, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 45 }, true },
		{ { 0, 100, .window_ns = 1000, .busy_ns = 500, .compute_ns = 400, .communication_ns = 44 }, false },
		{ { 0, 100, .window_ns = 1000, .busy_ns = 510, .compute_ns = 400, .communication_ns = 100 }, true },
		{ { 0, 100, .window_ns = 1000, .busy_ns = 511, .compute_ns = 400, .communication_ns = 100 }, false },
		{ { 0, 100, .window_ns = 0 }, false },
	};
	struct device_usage usages[DEVICES];
	struct device_results devices;
	struct model *model = make_ranks(usages, &devices);

	assert_int_equal(groups_of(model, &devices), 1);
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		/* Both orders: the changed row is the first of the two, or the second. */
		for (uint32_t which = 0; which < 2; which++) {
			struct device_usage kept = usages[which];
			struct device_results two = { .devices = usages, .device_count = 2 };

			usages[which] = CASES[i].usage;
			usages[which].device = which;
			assert_int_equal(groups_of(model, &two), CASES[i].alike ? 1 : 2);
			usages[which] = kept;
		}
	}
	for (uint32_t which = 0; which < 2; which++) {
		struct device *row = &model->devices.row[which], kept = *row;

		row->has_rank = false;
		assert_int_equal(groups_of(model, &devices), 2);
		*row = kept;
		row->name = model_string(model, "another");
		assert_int_equal(groups_of(model, &devices), 2);
		*row = kept;
		row->whole = true;
		assert_int_equal(groups_of(model, &devices), 2);
		*row = kept;
	}
	model_free(model);
}

/* Two kinds of rows that alternate: which row represents which, and the text about them. */
static void two_kinds(void **state)
{
	struct device_usage usages[DEVICES];
	struct device_results devices;
	struct model *model = make_ranks(usages, &devices);
	struct alike_range range;
	struct alike alike;
	char text[64];

	usages[1].tasks = usages[3].tasks = 200;
	usages[2].busy_ns = 505;
	usages[2].window_ns = 1001;
	usages[2].tasks = 101;
	assert_int_equal(alike_devices(model, &devices, &alike), 0);
	assert_int_equal(alike.groups, 2);
	for (uint32_t i = 0; i < DEVICES; i++) {
		assert_int_equal(alike.of[i], i % 2);
		assert_int_equal(alike.count[i], i < 2 ? 2 : 0);
	}
	alike_words(&alike, 0, text, sizeof(text));
	assert_string_equal(text, ", and 1 more like this");
	alike_ranks(model, &devices, &alike, 0, text, sizeof(text));
	assert_string_equal(text, "0, 2");
	alike_ranks(model, &devices, &alike, 1, text, sizeof(text));
	assert_string_equal(text, "1, 3");
	range = alike_range_of(&devices, &alike, 0);
	assert_int_equal(range.least_ns, 1000);
	assert_int_equal(range.most_ns, 1001);
	assert_int_equal(range.least_tasks, 100);
	assert_int_equal(range.most_tasks, 101);
	assert_true(range.least_percent == 50 && range.most_percent > 50.4);
	range = alike_range_of(&devices, &alike, 1);
	assert_true(range.least_tasks == 200 && range.most_tasks == 200 && range.most_percent == 50);
	alike_free(&alike);
	/* All alike: consecutive ranks become a range, and a text that is too long is cut. */
	model->devices.row[3].rank = 7;
	for (uint32_t i = 1; i < DEVICES; i++) {
		usages[i] = usages[0];
		usages[i].device = i;
	}
	assert_int_equal(alike_devices(model, &devices, &alike), 0);
	alike_ranks(model, &devices, &alike, 0, text, sizeof(text));
	assert_string_equal(text, "0-2, 7");
	alike_ranks(model, &devices, &alike, 0, text, 32);
	assert_string_equal(text, "0-2, ...");
	alike_free(&alike);
	model_free(model);
}

static void ranges(void **state)
{
	char text[64];

	assert_string_equal(alike_range_text(3.14, 3.12, 1, text, sizeof(text)), "3.1");
	assert_string_equal(alike_range_text(3.12, 3.36, 1, text, sizeof(text)), "3.1 to 3.4");
	assert_string_equal(alike_range_text(3.12, 3.36, 0, text, sizeof(text)), "3");
}

/* Windows of microseconds are not "0.000 s". */
static void text_of_windows(void **state)
{
	static const struct {
		uint64_t least_ns, most_ns;
		const char *text;
	} CASES[] = {
		{ 2031000000, 2052000000, "2.031 to 2.052 s" },
		{ 1000000, 1000000, "0.001 s" },
		{ 9800, 999000, "9.8 to 999.0 us" },
		{ 9800, 9800, "9.8 us" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct alike_range range = { .least_ns = CASES[i].least_ns,
					     .most_ns = CASES[i].most_ns };

		assert_string_equal(alike_window_text(&range, text, sizeof(text)), CASES[i].text);
	}
}

/* Advice that differs only in the numbers of its evidence. */
static void advice(void **state)
{
	static const struct {
		const char *id, *severity, *title, *remedy, *evidence;
		bool alike;
	} CASES[] = {
		{ "a", "high", "t", "r", "5 of 10.5 ms", true },	  { "b", "high", "t", "r", "5 of 10.5 ms", false },
		{ "a", "low", "t", "r", "5 of 10.5 ms", false },	  { "a", "high", "u", "r", "5 of 10.5 ms", false },
		{ "a", "high", "t", "s", "5 of 10.5 ms", false },	  { "a", "high", "t", "r", "123 of 7 ms", true },
		{ "a", "high", "t", "r", "5 of 10.5 s", false },	  { "a", "high", "t", "r", "5 of 10.5 m", false },
		{ "a", "high", "t", "r", "5 of 10.5 ms more", false }, { "a", "high", "t", "r", "x of 10.5 ms", false },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct advice list[2];
		struct advice_results results = { .list = list, .advice_count = 2 };
		struct alike alike;
		char text[64];

		for (size_t k = 0; k < 2; k++) {
			size_t from = k ? i : 0;

			list[k] = (struct advice){ .id = CASES[from].id, .severity = CASES[from].severity };
			strcpy(list[k].title, CASES[from].title);
			strcpy(list[k].remedy, CASES[from].remedy);
			strcpy(list[k].evidence, CASES[from].evidence);
		}
		assert_int_equal(alike_advice(&results, &alike), 0);
		assert_int_equal(alike.groups, CASES[i].alike ? 1 : 2);
		alike_words(&alike, 0, text, sizeof(text));
		assert_string_equal(text, CASES[i].alike ? ", and 1 more like this" : "");
		alike_free(&alike);
	}
}

/* Two devices with the same number and without ranks are distinguished by their files. */
static void ambiguous(void **state)
{
	struct device_usage usages[DEVICES];
	struct device_results devices;
	struct model *model = make_ranks(usages, &devices);
	struct device *rows = model->devices.row;

	for (uint32_t i = 0; i < DEVICES; i++)
		rows[i] = (struct device){ .id = i, .file = 1, .process = INDEX_NONE };
	assert_false(device_is_ambiguous(model, 1));
	rows[3].id = 1;
	assert_true(device_is_ambiguous(model, 1));
	assert_true(device_is_ambiguous(model, 3));
	assert_false(device_is_ambiguous(model, 2));
	rows[3].has_rank = true;
	assert_false(device_is_ambiguous(model, 1));
	assert_false(device_is_ambiguous(model, 3));
	rows[3].has_rank = false;
	rows[1].file = 0; /* a device of the trace */
	assert_false(device_is_ambiguous(model, 1));
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_that_differ), cmocka_unit_test(two_kinds), cmocka_unit_test(ranges),
		cmocka_unit_test(advice),	       cmocka_unit_test(ambiguous), cmocka_unit_test(text_of_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
