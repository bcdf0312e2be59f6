/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks side by side: work, imbalance, and what the rules find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/cluster.h"
#include "tests/unit/small_model.h"

#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
#define RANKS 3

static void add(struct model *model, uint32_t device, const char *name, uint64_t start_ns,
		uint64_t end_ns, uint8_t kind)
{
	struct device_task *task = small_task(model, device, start_ns, end_ns);

	task->name = model_string(model, name);
	task->kind = kind;
}

/*
 * Three stages of 1,000 ns: the first computes 900 and receives 100; the second computes 500, receives
 * 400 and is free for 100; the third computes 500, reduces 100 and receives 400.
 */
static struct model *make_model(struct device_results *devices)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 10000);

	for (uint32_t i = 0; i < RANKS; i++)
		small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, 0, "fc", 1000, 1900, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
	add(model, 0, "hcom_receive_1", 1900, 2000, COMMUNICATION);
	add(model, 1, "hcom_receive_1", 1000, 1400, COMMUNICATION);
	add(model, 1, "fc", 1500, 2000, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
	add(model, 2, "hcom_receive_1", 1000, 1400, COMMUNICATION);
	add(model, 2, "fc", 1400, 1900, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
	add(model, 2, "hcom_allReduce_1", 1900, 2000, COMMUNICATION);
	small_index(model);
	*devices = (struct device_results){ 0 };
	assert_int_equal(overlap_analyse(model, &options, &devices->overlap), 0);
	return model;
}

static const struct cluster_finding *find(const struct cluster_results *results,
					  enum cluster_rule rule, uint32_t device)
{
	for (uint32_t i = 0; i < results->finding_count; i++) {
		if (results->findings[i].rule == rule && results->findings[i].device == device)
			return &results->findings[i];
	}
	return NULL;
}

static void work_of_stages(void **state)
{
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, RANKS);
	assert_int_equal(results.ranks[0].parts.work_ns, 900);
	assert_int_equal(results.ranks[1].parts.work_ns, 600);
	assert_int_equal(results.ranks[1].parts.free_ns, 100);
	assert_int_equal(results.ranks[2].parts.receive_ns, 400);
	assert_int_equal(results.ranks[2].parts.collective_ns, 100);
	assert_int_equal(results.mean_work_ns, 700);
	assert_int_equal(results.slowest, 0);
	assert_true(results.imbalance > 28.57 && results.imbalance < 28.58);
	assert_non_null(find(&results, CLUSTER_WORK, 0));
	assert_null(find(&results, CLUSTER_WORK, 1));
	assert_true(find(&results, CLUSTER_COMPUTATION, 0)->value == 900);
	assert_null(find(&results, CLUSTER_COMPUTATION, 2));
	assert_null(find(&results, CLUSTER_RECEIVE, 0)); /* exactly a tenth */
	assert_true(find(&results, CLUSTER_RECEIVE, 2)->value == 40);
	assert_null(find(&results, CLUSTER_COLLECTIVE, 2));
	assert_null(find(&results, CLUSTER_GAP, 0));
	assert_null(find(&results, CLUSTER_FLOPS, 0));
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

static void gaps_and_links(void **state)
{
	struct device_step_trace traces[] = { { .device = 0, .means = { .steps = 3, .gap_ns = 100 } },
					      { .device = 1, .means = { .steps = 3, .gap_ns = 100 } },
					      { .device = 2, .means = { .steps = 3, .gap_ns = 200 } } };
	struct device_step_results steps = { .traces = traces, .count = RANKS };
	struct link_usage links[] = {
		{ .device = 0, .transport = 1, .bytes = 100, .transit_ns = 100 },
		{ .device = 1, .transport = 1, .bytes = 100, .transit_ns = 200 },
		{ .device = 2, .transport = 2, .bytes = 100, .transit_ns = 900 },
		{ .device = 2, .transport = 1 },
	};
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	devices.communication = (struct communication_results){ .links = links, .link_count = 4 };
	assert_int_equal(cluster_analyse(model, &devices, &steps, &results), 0);
	assert_true(find(&results, CLUSTER_GAP, 2)->value == 200);
	assert_null(find(&results, CLUSTER_GAP, 0));
	assert_int_equal(find(&results, CLUSTER_LINK, 1)->link, 1);
	assert_true(find(&results, CLUSTER_LINK, 1)->mean == 0.75e9);
	/* The only one of its transport, and one of which nothing is told. */
	assert_null(find(&results, CLUSTER_LINK, 2));
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* Less than four fifths of the mean of two links is a finding; four fifths of it are none. */
static void border_of_links(void **state)
{
	struct link_usage links[] = {
		{ .device = 0, .transport = 1, .bytes = 200, .transit_ns = 100 },
		{ .device = 1, .transport = 1, .bytes = 300, .transit_ns = 100 },
	};
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	devices.communication = (struct communication_results){ .links = links, .link_count = 2 };
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_null(find(&results, CLUSTER_LINK, 0));
	cluster_free(&results);
	links[0].bytes--;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_non_null(find(&results, CLUSTER_LINK, 0));
	assert_null(find(&results, CLUSTER_LINK, 1));
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* The first and the third in one stage: 900 and 600 of work; the second in another: 600. */
static void stages_of_pipeline(void **state)
{
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	for (uint32_t i = 0; i < RANKS; i++) {
		model->devices.row[i].stages = 2;
		model->devices.row[i].stage = 1 - i % 2;
	}
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.stage_count, 2);
	assert_int_equal(results.stages[0].stage, 0);
	assert_int_equal(results.stages[0].ranks, 1);
	assert_int_equal(results.stages[0].parts.work_ns, 600);
	assert_int_equal(results.stages[0].parts.free_ns, 100);
	assert_int_equal(results.stages[1].ranks, 2);
	assert_int_equal(results.stages[1].parts.work_ns, 750);
	assert_int_equal(results.stages[1].parts.computation_ns, 700);
	assert_int_equal(results.stages[1].parts.receive_ns, 250);
	assert_int_equal(results.stages[1].parts.collective_ns, 50);
	assert_int_equal(results.stages[1].slowest, 0);
	assert_true(results.stages[1].imbalance > 19.99 && results.stages[1].imbalance < 20.01);
	assert_true(results.stages[1].parts.work_percent > 111.1 && results.stages[1].parts.work_percent < 111.12);
	assert_int_equal(results.slowest_stage, 1);
	cluster_free(&results);
	/* Of one it is not known. */
	model->devices.row[2].stages = 0;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.stage_count, 0);
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

static void one_device(void **state)
{
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	devices.overlap.count = 1;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 0);
	assert_int_equal(results.finding_count, 0);
	devices.overlap.count = RANKS;
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_of_stages),
		cmocka_unit_test(gaps_and_links),
		cmocka_unit_test(border_of_links),
		cmocka_unit_test(stages_of_pipeline),
		cmocka_unit_test(one_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
