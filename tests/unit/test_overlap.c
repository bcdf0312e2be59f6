/* SPDX-License-Identifier: Apache-2.0 */
/* A device's computation, communication and copies, with known overlaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/overlap.h"
#include "analyzer/analyse/intervals.h"
#include "tests/unit/small_model.h"

#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COPY PROFBPF__DEVICE_TASKS__KIND__COPY
#define SYNC PROFBPF__DEVICE_TASKS__KIND__SYNC
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION

static void add(struct model *model, uint64_t start_ns, uint64_t end_ns, uint64_t stream,
		uint8_t kind, const char *name)
{
	struct device_task *task = small_task(model, 0, start_ns, end_ns);

	task->stream = stream;
	task->kind = kind;
	task->name = model_string(model, name);
}

/*
 * computation     100-200    150-250        400-500
 * communication         180-------350 360-380 450-600 (the last two receive)
 * copies      50-120
 */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 10000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, 50, 120, 1, COPY, "copy");
	add(model, 100, 200, 1, KERNEL, "a");
	add(model, 150, 250, 2, KERNEL, "b");
	add(model, 180, 350, 3, COMMUNICATION, "hcom_allReduce__1");
	add(model, 360, 380, 3, COMMUNICATION, "hcom_receive__2");
	add(model, 400, 500, 1, KERNEL, "a");
	add(model, 450, 600, 3, COMMUNICATION, "ncclDevKernel_SendRecv");
	add(model, 700, 900, 9, SYNC, "event");
	small_index(model);
	return model;
}

static void whole_device(void **state)
{
	static const struct analysis_options options;
	struct model *model = make_model();
	struct overlap_results results;
	const struct overlap_device *device;

	assert_int_equal(overlap_analyse(model, &options, &results), 0);
	assert_int_equal(results.count, 1);
	device = &results.devices[0];
	assert_int_equal(device->start_ns, 100);
	assert_int_equal(device->stage_ns, 500);
	assert_int_equal(device->all.computation_ns, 250);
	assert_int_equal(device->all.communication_ns, 170 + 20 + 150);
	assert_int_equal(device->all.overlapped_ns, 70 + 50);
	assert_int_equal(device->all.pure_communication_ns, 220);
	assert_int_equal(device->all.receive_ns, 20 + 100);
	assert_int_equal(device->all.free_ns, 10 + 20);
	assert_int_equal(device->all.copy_ns, 70);
	assert_int_equal(device->all.pure_copy_ns, 50);
	assert_int_equal(device->all.computation_ns + device->all.pure_communication_ns +
				 device->all.free_ns,
			 device->stage_ns);
	/* The stream with only events does not count. */
	assert_int_equal(device->stream_count, 3);
	assert_int_equal(device->streams[0].computation_ns, 200);
	assert_int_equal(device->streams[0].copy_ns, 70);
	assert_int_equal(device->streams[0].pure_copy_ns, 50);
	assert_int_equal(device->streams[0].free_ns, 300);
	assert_int_equal(device->streams[2].stream, 3);
	assert_int_equal(device->streams[2].pure_communication_ns, 340);
	overlap_free(&results);
	model_free(model);
}

static void cut_at_the_window(void **state)
{
	const struct analysis_options options = { .from_ns = 190, .to_ns = 420 };
	struct model *model = make_model();
	struct overlap_results results;

	assert_int_equal(overlap_analyse(model, &options, &results), 0);
	assert_int_equal(results.devices[0].start_ns, 190);
	assert_int_equal(results.devices[0].stage_ns, 230);
	assert_int_equal(results.devices[0].all.computation_ns, 60 + 20);
	assert_int_equal(results.devices[0].all.communication_ns, 160 + 20);
	assert_int_equal(results.devices[0].all.overlapped_ns, 60);
	assert_int_equal(results.devices[0].all.free_ns, 10 + 20);
	assert_int_equal(results.devices[0].all.copy_ns, 0);
	overlap_free(&results);
	model_free(model);
}

static void nothing_known(void **state)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 10000);
	struct overlap_results results;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, 700, 900, 9, SYNC, "event");
	small_index(model);
	assert_int_equal(overlap_analyse(model, &options, &results), 0);
	assert_int_equal(results.count, 0);
	overlap_free(&results);
	model_free(model);
}

/* More names than the cache holds, each twice; one in three receives. */
static void many_names(void **state)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 20000);
	struct overlap_results results;

	(void)state;
	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (unsigned int i = 0; i < 1200; i++) {
		char name[64];

		snprintf(name, sizeof(name), "hcom_%s__%u", i % 3 ? "allReduce" : "receive", i % 600);
		add(model, 100 + 10 * i, 104 + 10 * i, 3, COMMUNICATION, name);
	}
	small_index(model);
	assert_int_equal(overlap_analyse(model, &options, &results), 0);
	assert_int_equal(results.devices[0].all.receive_ns, 400 * 4);
	assert_int_equal(results.devices[0].all.communication_ns, 1200 * 4);
	overlap_free(&results);
	model_free(model);
}

/* Intervals in order of their starts, compared with the sets themselves. */
static void covered(void **state)
{
	uint32_t seed = 1;

	for (unsigned int round = 0; round < 200; round++) {
		struct intervals sets[3] = { 0 };
		struct cover covers[3] = { 0 };
		uint64_t now_ns = 1;

		for (unsigned int i = 0; i < 40; i++) {
			uint64_t end_ns;
			unsigned int set;

			seed = seed * 1664525 + 1013904223;
			set = seed >> 30 & 1;
			now_ns += seed >> 20 & 7;
			end_ns = now_ns + (seed >> 12 & 15);
			for (unsigned int k = set; k < 3; k += 2 - set) {
				assert_int_equal(intervals_add(&sets[k], now_ns, end_ns), 0);
				cover_add(&covers[k], now_ns, end_ns);
			}
		}
		for (unsigned int k = 0; k < 3; k++) {
			intervals_unite(&sets[k]);
			assert_int_equal(covers[k].length_ns, intervals_length(&sets[k]));
			assert_int_equal(covers[k].first_ns, sets[k].row[0].start_ns);
			assert_int_equal(covers[k].reach_ns, sets[k].row[sets[k].count - 1].end_ns);
		}
		assert_int_equal(covers[0].length_ns + covers[1].length_ns - covers[2].length_ns,
				 intervals_overlap(&sets[0], &sets[1]));
		for (unsigned int k = 0; k < 3; k++)
			intervals_free(&sets[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_device),
		cmocka_unit_test(many_names),
		cmocka_unit_test(cut_at_the_window),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
