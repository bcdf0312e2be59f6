/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, their links, and ranks that were late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/communication.h"
#include "tests/unit/small_model.h"

static const struct analysis_options everything;

static void add(struct model *model, uint32_t device, const char *name, uint64_t start_ns,
		uint64_t end_ns)
{
	struct device_task *task = small_task(model, device, start_ns, end_ns);

	task->kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	task->name = model_string(model, name);
}

static struct model *make_model(uint32_t devices)
{
	struct model *model = small_model(0, 100000);

	for (uint32_t i = 0; i < devices; i++) {
		small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		model->devices.row[i].has_rank = true;
		model->devices.row[i].rank = 10 + i;
	}
	return model;
}

/* Numbers in names do not matter; parts are added up. */
static void operations(void **state)
{
	struct model *model = make_model(1);
	struct communication_results results;
	struct communication_time times[] = {
		{ 100, 40, 50, 30, 10, 0, model_string(model, "hcom_allReduce__5_0_1") },
		{ UINT64_MAX, 60, 20, UINT64_MAX, 120, 0,
		  model_string(model, "hcom_allReduce__5_1_1") },
		{ 7, 7, 7, 7, 7, 0, model_string(model, "hcom_elsewhere__5_1_1") },
	};

	add(model, 0, "hcom_allReduce__5_0_1", 1000, 1100);
	add(model, 0, "hcom_allReduce__5_1_1", 2000, 2200);
	add(model, 0, "hcom_allReduceX", 3000, 3010);
	small_index(model);
	for (int i = 0; i < 3; i++)
		assert_true(MODEL_PUSH(&model->communication_times, times[i]));
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.operation_count, 2);
	assert_int_equal(results.operations[0].count, 2);
	assert_int_equal(results.operations[0].total_ns, 300);
	assert_int_equal(results.operations[0].min_ns, 100);
	assert_int_equal(results.operations[0].max_ns, 200);
	assert_int_equal(results.operations[0].timed, 2);
	assert_int_equal(results.operations[0].transit_ns, 100);
	assert_int_equal(results.operations[0].wait_ns, 70);
	assert_int_equal(results.operations[0].synchronization_ns, 30);
	assert_int_equal(results.operations[1].timed, 0);
	assert_int_equal(results.rank_count, 0);
	communication_free(&results);
	model_free(model);
}

/* Of tasks that each miss one condition only the first one counts, which misses none. */
static void which_tasks_are_collectives(void **state)
{
	const struct analysis_options part = { .from_ns = 1000, .to_ns = 2000, .pids = (uint32_t[]){ 7 }, .pid_count = 1 };
	struct model *model = make_model(2);
	struct communication_results results;

	for (uint32_t i = 0; i < 2; i++)
		model->devices.row[i].process = small_process(model, 7 + i, "rank", true);
	add(model, 0, "allReduce", 1000, 1001);
	add(model, 0, "allReduce", 1010, 1020);
	model->tasks.row[1].kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	add(model, 0, "allReduce", 1030, 1050);
	model->tasks.row[2].flags = MODEL_TASK_UNTIMED;
	add(model, 0, "allReduce", 999, 1100);
	add(model, 0, "allReduce", 2000, 2100);
	add(model, 1, "allReduce", 1200, 1300);
	add(model, 2, "allReduce", 1400, 1500);
	small_index(model);
	assert_int_equal(communication_analyse(model, &part, &results), 0);
	assert_int_equal(results.operation_count, 1);
	assert_int_equal(results.operations[0].count, 1);
	assert_int_equal(results.operations[0].total_ns, 1);
	assert_int_equal(results.skew_count, 0);
	communication_free(&results);
	model_free(model);
}

/* A collective of four ranks. */
static void add_sized(struct model *model, const char *name, uint64_t ns, uint64_t bytes, uint32_t types)
{
	struct task_detail detail = { .members = 4, .input_types = types };

	assert_true(MODEL_PUSH(&model->task_details, detail));
	add(model, 0, name, 1000, 1000 + ns);
	model->tasks.row[model->tasks.count - 1].bytes = bytes;
	model->tasks.row[model->tasks.count - 1].detail = model->task_details.count;
}

/* Rates are those of tasks with a size and a time; on the bus only where the algorithm is known. */
static void sizes(void **state)
{
	struct model *model = make_model(1);
	struct communication_results results;
	uint32_t half = model_string(model, "FLOAT16"), full = model_string(model, "FLOAT");

	add_sized(model, "allReduce", 400, 1000, half);
	add_sized(model, "allReduce", 100, 0, half);
	add_sized(model, "allReduce", 0, 1000, half);
	add_sized(model, "exchange", 200, 3000, half);
	add_sized(model, "exchange", 20, 0, full);
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.operation_count, 2);
	assert_int_equal(results.operations[0].count, 3);
	assert_int_equal(results.operations[0].sized, 1);
	assert_int_equal(results.operations[0].bytes, 1000);
	assert_int_equal(results.operations[0].sized_ns, 400);
	assert_float_equal(results.operations[0].bus_bytes, 1500, 1e-9); /* 2 * 3 / 4 */
	assert_int_equal(results.operations[0].bus_ns, 400);
	assert_int_equal(results.operations[0].types, half);
	assert_int_equal(results.operations[1].bytes, 3000);
	assert_int_equal(results.operations[1].sized_ns, 200);
	assert_int_equal(results.operations[1].bus_ns, 0);
	assert_int_equal(results.operations[1].types, 0); /* several */
	communication_free(&results);
	model_free(model);
}

/* More alternating names than the cache holds, on two devices: each has its own sums. */
static void many_operations(void **state)
{
	enum { NAMES = 600, TIMES = 3 };
	struct model *model = make_model(2);
	struct communication_results results;

	for (uint32_t device = 0; device < 2; device++)
		for (uint64_t i = 0; i < NAMES * TIMES; i++) {
			char name[32];

			snprintf(name, sizeof(name), "op%d__%d", (int)(i % NAMES), (int)i);
			add(model, device, name, 10 * i, 10 * i + 1 + i % NAMES);
		}
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.operation_count, 2 * NAMES);
	for (uint32_t i = 0; i < 2 * NAMES; i++) {
		const struct communication_usage *row = &results.operations[i];
		uint64_t ns = NAMES - i / 2;
		char name[32], cut[32];

		snprintf(name, sizeof(name), "op%d", (int)(ns - 1));
		assert_int_equal(row->device, i % 2);
		assert_string_equal(communication_name(model_text(model, row->name), cut, sizeof(cut)),
				    name);
		assert_int_equal(row->count, TIMES);
		assert_int_equal(row->total_ns, TIMES * ns);
		assert_int_equal(row->min_ns, ns);
	}
	communication_free(&results);
	model_free(model);
}

/* A file's times for the parts of an operation go to the first group that has the operation. */
static void times_of_groups(void **state)
{
	static const char *const GROUPS[] = { "[0]", "[1]", "[1]", "[0]" };
	struct model *model = make_model(1);
	struct communication_results results;
	struct communication_time time = { .wait_ns = 5,
					   .operation = model_string(model, "sum__9") };

	for (uint32_t i = 0; i < 4; i++) {
		struct task_detail detail = { .group = model_string(model, GROUPS[i]), .members = 2 };

		assert_true(MODEL_PUSH(&model->task_details, detail));
		add(model, 0, i % 2 ? "sum__1" : "sum__2", 100 * i, 100 * i + (i % 3 ? 50 : 10));
		model->tasks.row[i].detail = model->task_details.count;
	}
	small_index(model);
	assert_true(MODEL_PUSH(&model->communication_times, time));
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.operation_count, 2);
	assert_string_equal(model_text(model, results.operations[0].group), "[1]");
	assert_int_equal(results.operations[0].total_ns, 100);
	assert_int_equal(results.operations[0].timed, 0);
	assert_string_equal(model_text(model, results.operations[1].group), "[0]");
	assert_int_equal(results.operations[1].total_ns, 20);
	assert_int_equal(results.operations[1].members, 2);
	assert_int_equal(results.operations[1].timed, 1);
	assert_int_equal(results.operations[1].wait_ns, 5);
	communication_free(&results);
	model_free(model);
}

/* Of equal times the one of the first device, then name, then group. */
static void order_of_operations(void **state)
{
	static const struct {
		uint32_t device;
		const char *name, *group;
	} ROWS[] = { { 0, "gather", "" }, { 0, "gather", "[0]" }, { 1, "all", "[0]" }, { 1, "gather", "" } };
	struct model *model = make_model(2);
	struct communication_results results;

	model_string(model, "all");
	for (uint32_t i = 4; i-- > 0;) {
		struct task_detail detail = { .group = model_string(model, ROWS[i].group) };

		assert_true(MODEL_PUSH(&model->task_details, detail));
		add(model, ROWS[i].device, ROWS[i].name, 1000, 1100);
		model->tasks.row[model->tasks.count - 1].detail = model->task_details.count;
	}
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.operation_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(results.operations[i].device, ROWS[i].device);
		assert_string_equal(model_text(model, results.operations[i].name), ROWS[i].name);
		assert_string_equal(model_text(model, results.operations[i].group), ROWS[i].group);
	}
	communication_free(&results);
	model_free(model);
}

/* The link with most time first, be it spent in transfers or waits; of equal ones that of the first ends. */
static void order_of_links(void **state)
{
	struct model *model = make_model(1);
	struct communication_results results;

	small_index(model);
	for (uint32_t i = 0; i < 4; i++) {
		struct link_use use = { .ns = i == 2 ? 20 : i == 3 ? 30 : 10, .destination = 3 - i, .count = 1, .wait = i == 3 };

		assert_true(MODEL_PUSH(&model->link_uses, use));
	}
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.link_count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(results.links[i].destination, i);
	communication_free(&results);
	model_free(model);
}

static void links(void **state)
{
	struct model *model = make_model(1);
	uint32_t hccs = model_string(model, "HCCS"), rdma = model_string(model, "RDMA");
	struct link_use uses[] = {
		{ .ns = 10,
		  .bytes = 1000,
		  .transport = hccs,
		  .source = 0,
		  .destination = 1,
		  .count = 1 },
		{ .ns = 500,
		  .transport = hccs,
		  .source = 0,
		  .destination = 1,
		  .count = 1,
		  .wait = true },
		{ .ns = 30,
		  .bytes = 7000,
		  .transport = rdma,
		  .source = 0,
		  .destination = 1,
		  .count = 1 },
		{ .ns = 10,
		  .bytes = 3000,
		  .transport = hccs,
		  .source = 0,
		  .destination = 1,
		  .count = 2 },
		{ .ns = 5,
		  .bytes = 1,
		  .transport = hccs,
		  .source = 0,
		  .destination = INDEX_NONE,
		  .count = 1,
		  .device = 99 },
	};
	struct communication_results results;

	small_index(model);
	for (int i = 0; i < 5; i++)
		assert_true(MODEL_PUSH(&model->link_uses, uses[i]));
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.link_count, 2);
	assert_int_equal(results.links[0].transport, hccs);
	assert_int_equal(results.links[0].transfers, 3);
	assert_int_equal(results.links[0].bytes, 4000);
	assert_int_equal(results.links[0].transit_ns, 20);
	assert_int_equal(results.links[0].waits, 1);
	assert_int_equal(results.links[0].wait_ns, 500);
	assert_int_equal(results.links[1].bytes, 7000);
	communication_free(&results);
	model_free(model);
}

/* Sets the group of the task added last. */
static void group(struct model *model, const char *ranks)
{
	struct task_detail detail = { .group = model_string(model, ranks) };

	assert_true(MODEL_PUSH(&model->task_details, detail));
	model->tasks.row[model->tasks.count - 1].detail = model->task_details.count;
}

/* Three ranks; the second one is 300 late at the second collective, the third 20 at the first. */
static void stragglers(void **state)
{
	struct model *model = make_model(3);
	struct communication_results results;

	add(model, 0, "allReduce", 1000, 1120);
	add(model, 1, "allReduce", 1010, 1120);
	add(model, 2, "allReduce", 1020, 1120);
	add(model, 0, "allReduce", 2000, 2400);
	add(model, 1, "allReduce", 2300, 2400);
	add(model, 2, "allReduce", 2100, 2400);
	/* One rank has one broadcast more: they cannot be matched. */
	add(model, 0, "broadcast", 3000, 3100);
	add(model, 1, "broadcast", 3000, 3100);
	add(model, 1, "broadcast", 3200, 3300);
	/* Two groups of the same name: ranks 0 and 1, and rank 2 with ranks that are not in the model. */
	add(model, 0, "gather", 5000, 5100);
	group(model, "[0, 1]");
	add(model, 1, "gather", 5050, 5100);
	group(model, "[0, 1]");
	add(model, 2, "gather", 7000, 7100);
	group(model, "[2, 3]");
	/* Only two ranks take part. */
	add(model, 0, "hcom_send__1", 4000, 4100);
	add(model, 1, "hcom_send__1", 4900, 5000);
	add(model, 0, "ncclRecv", 4000, 4100);
	add(model, 1, "ncclRecv", 4900, 5000);
	add(model, 0, "hcom_receive__1", 4000, 4100);
	add(model, 1, "hcom_receive__1", 4900, 5000);
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.unmatched, 4);
	assert_int_equal(results.rank_count, 3);
	assert_int_equal(results.skew_count, 3);
	assert_int_equal(results.skews[0].skew_ns, 300);
	assert_int_equal(results.skews[0].straggler, 1);
	assert_int_equal(results.skews[0].ranks, 3);
	assert_int_equal(results.skews[0].duration_ns, 400);
	assert_int_equal(results.skews[1].skew_ns, 50);
	assert_int_equal(results.skews[1].ranks, 2);
	assert_int_equal(results.skews[2].skew_ns, 20);
	assert_int_equal(results.skews[2].straggler, 2);
	assert_int_equal(results.ranks[0].wait_ns, 370);
	assert_int_equal(results.ranks[0].last, 0);
	assert_int_equal(results.ranks[1].last, 2);
	assert_int_equal(results.ranks[1].late_ns, 350);
	assert_int_equal(results.ranks[1].wait_ns, 10);
	assert_int_equal(results.ranks[2].wait_ns, 200);
	communication_free(&results);
	model_free(model);
}

/* The least that can be matched: one collective, of two ranks. The third device has one of its own. */
static void one_collective(void **state)
{
	static const char *const GROUPS[] = { "[0, 1]", "" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (uint32_t devices = 2; devices <= 3; devices++) {
			struct model *model = make_model(devices);
			struct communication_results results;

			add(model, 0, "allReduce", 1000, 1100);
			group(model, GROUPS[i]);
			add(model, 1, "allReduce", 1060, 1100);
			group(model, GROUPS[i]);
			if (devices == 3)
				add(model, 2, "broadcast", 1000, 1100);
			small_index(model);
			assert_int_equal(communication_analyse(model, &everything, &results), 0);
			assert_int_equal(results.unmatched, devices - 2);
			assert_int_equal(results.rank_count, 2);
			assert_int_equal(results.skew_count, 1);
			assert_int_equal(results.skews[0].ranks, 2);
			assert_int_equal(results.skews[0].skew_ns, 60);
			assert_int_equal(results.skews[0].duration_ns, 100);
			assert_int_equal(results.ranks[0].collectives, 1);
			assert_int_equal(results.ranks[0].wait_ns, 60);
			assert_int_equal(results.ranks[1].late_ns, 60);
			communication_free(&results);
			model_free(model);
		}
	}
}

/*
 * The clock of the first device is 100,000 ahead, and uncertain by 300. That says nothing against the third one's being
 * late by 200 to what it does with the second one; the first one is late by 250 to what it does with that: by less than
 * the uncertainty.
 */
static void only_uncertain_clocks_excuse(void **state)
{
	struct model *model = make_model(3);
	struct communication_results results;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		uint64_t end_ns = i * 1000000;

		add(model, 1, "allReduce", end_ns - 1000, end_ns);
		add(model, 2, "allReduce", end_ns - 800, end_ns);
	}
	for (uint64_t i = 1; i <= 3; i++) {
		uint64_t end_ns = i * 1000000 + 500000;

		add(model, 0, "allGather", end_ns + 100000 - 750, end_ns + 100000 - (i == 3 ? 300 : 0));
		add(model, 1, "allGather", end_ns - 1000, end_ns);
	}
	model->info.end_ns = 10000000;
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.rank_count, 3);
	assert_true(results.ranks[0].clock.moved);
	assert_int_equal(results.ranks[0].clock.offset_ns, -100000);
	assert_int_equal(results.ranks[0].clock.error_ns, 300);
	assert_int_equal(results.ranks[0].late_ns, 0);
	assert_int_equal(results.ranks[1].wait_ns, 3 * 200 + 3 * 250);
	assert_int_equal(results.ranks[2].late_ns, 3 * 200);
	communication_free(&results);
	model_free(model);
}

/* Ranks that begin at the same instant are not late; the first of two equally late ones is the straggler. */
static void together(void **state)
{
	struct model *model = make_model(3);
	struct communication_results results;

	add(model, 0, "allReduce", 1000, 1100);
	add(model, 1, "allReduce", 1000, 1120);
	add(model, 2, "allReduce", 1000, 1110);
	add(model, 0, "gather", 2000, 2100);
	add(model, 1, "gather", 2040, 2100);
	add(model, 2, "gather", 2040, 2100);
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.skew_count, 2);
	assert_int_equal(results.skews[0].skew_ns, 40);
	assert_int_equal(results.skews[0].straggler, 1);
	assert_int_equal(results.skews[1].skew_ns, 0);
	assert_int_equal(results.skews[1].duration_ns, 120);
	assert_int_equal(results.ranks[0].last, 0);
	assert_int_equal(results.ranks[0].wait_ns, 40);
	assert_int_equal(results.ranks[1].last, 1);
	assert_int_equal(results.ranks[1].late_ns, 40);
	assert_int_equal(results.ranks[2].last, 0);
	communication_free(&results);
	model_free(model);
}

/* Two jobs of two ranks have collectives of the same name equally often: each waits for its own ranks only. */
static void two_jobs(void **state)
{
	static const uint64_t STEP_NS[] = { 1000000, 1130000 };
	struct model *model = small_model(0, 100000000);
	struct communication_results results;

	assert_true(MODEL_PUSH(&model->files, 0));
	for (uint32_t i = 0; i < 4; i++)
		small_device(model, small_process(model, 10 + i, "rank", true), "npu",
			     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t k = 1; k <= 20; k++) {
			uint64_t end_ns = k * STEP_NS[i / 2] + (i / 2) * 400000;

			add(model, i, "allReduce", end_ns - (i % 2 ? 3000 : 1000), end_ns);
		}
	}
	small_index(model);
	assert_int_equal(communication_analyse(model, &everything, &results), 0);
	assert_int_equal(results.rank_count, 4);
	assert_int_equal(results.unmatched, 0);
	assert_int_equal(results.skew_count, 40);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(results.ranks[i].job, i / 2 * 2);
		assert_int_equal(results.ranks[i].wait_ns, i % 2 ? 20 * 2000 : 0);
		assert_int_equal(results.ranks[i].late_ns, i % 2 ? 0 : 20 * 2000);
	}
	communication_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations),
		cmocka_unit_test(which_tasks_are_collectives),
		cmocka_unit_test(sizes),
		cmocka_unit_test(many_operations),
		cmocka_unit_test(times_of_groups),
		cmocka_unit_test(order_of_operations),
		cmocka_unit_test(order_of_links),
		cmocka_unit_test(links),
		cmocka_unit_test(stragglers),
		cmocka_unit_test(one_collective),
		cmocka_unit_test(only_uncertain_clocks_excuse),
		cmocka_unit_test(together),
		cmocka_unit_test(two_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
