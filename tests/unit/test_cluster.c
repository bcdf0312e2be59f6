/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of ranks: work, imbalance, and the findings of the rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
 * Three pipeline stages of 1,000 ns: the first computes 900 and receives 100; the second computes 500, receives 400
 * and is free for 100; the third computes 500, reduces 100 and receives 400.
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
	assert_int_equal(results.mean_own_ns, 700);
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
	/* One link is the only one of its transport; another one has no known figures. */
	assert_null(find(&results, CLUSTER_LINK, 2));
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* Less than four fifths of the mean of two links is a finding; exactly four fifths is none. */
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

/* Means of steps from a file: of several steps without the first; of each device up to where step numbers restart. */
static void told_steps(void **state)
{
	static const struct cluster_step STEPS[] = {
		{ .device = 0, .number = 1, .computation_ns = 9000, .communication_ns = 9000, .gap_ns = 9000 },
		{ .device = 0, .number = 2, .computation_ns = 100, .communication_ns = 10, .gap_ns = 7 },
		{ .device = 0, .number = 3, .computation_ns = 300, .communication_ns = 30, .gap_ns = 9 },
		{ .device = 0, .number = 1, .computation_ns = 5000, .communication_ns = 5000, .gap_ns = 1 },
		{ .device = 1, .number = 4, .computation_ns = 200, .communication_ns = 20, .gap_ns = UINT64_MAX },
		{ .device = 2, .number = 5, .computation_ns = UINT64_MAX, .communication_ns = 20 },
	};
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);
	struct device_fact fact = { .device = 1, .value = 5e9 };
	uint32_t told = devices.overlap.count;

	fact.unit = model_string(model, "operations/s");
	for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
		struct cluster_step step = STEPS[i];

		step.stage_ns = step.receive_ns = step.collective_ns = UINT64_MAX;
		assert_true(MODEL_PUSH(&model->cluster_steps, step));
	}
	assert_true(MODEL_PUSH(&model->device_facts, fact));
	fact.value = 7e9; /* the first fact counts */
	assert_true(MODEL_PUSH(&model->device_facts, fact));
	fact.device = 0;
	fact.unit = model_string(model, "bytes");
	assert_true(MODEL_PUSH(&model->device_facts, fact));
	fact.unit = model_string(model, "operations/s");
	fact.text = fact.unit;
	assert_true(MODEL_PUSH(&model->device_facts, fact));
	devices.overlap.count = 0;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 2);
	assert_int_equal(results.ranks[0].device, 0);
	assert_int_equal(results.ranks[0].parts.computation_ns, 200);
	assert_int_equal(results.ranks[0].parts.collective_ns, 20);
	assert_int_equal(results.ranks[0].parts.work_ns, 220);
	assert_true(results.ranks[0].has_steps && results.ranks[0].gap_ns == 8);
	assert_true(results.ranks[0].flops_rate < 0);
	assert_int_equal(results.ranks[1].device, 1);
	assert_int_equal(results.ranks[1].parts.computation_ns, 200);
	assert_false(results.ranks[1].has_steps);
	assert_true(results.ranks[1].flops_rate == 5e9);
	cluster_free(&results);
	/* If there are tasks, the file's steps are not compared. */
	devices.overlap.count = told;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, RANKS);
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* Ranks without any work have no mean and no imbalance; a value at a rule's limit is no finding. */
static void borders_of_means(void **state)
{
	struct device_step_trace traces[] = { { .device = 0, .means = { .steps = 3, .gap_ns = 90 } },
					      { .device = 1, .means = { .steps = 3, .gap_ns = 90 } },
					      { .device = 2, .means = { .steps = 3, .gap_ns = 120 } } };
	struct device_step_results steps = { .traces = traces, .count = RANKS };
	struct cluster_results results;
	struct device_results devices;
	struct model *model = make_model(&devices);

	assert_int_equal(cluster_analyse(model, &devices, &steps, &results), 0);
	assert_null(find(&results, CLUSTER_GAP, 2)); /* 1.2 times the mean of 100 */
	cluster_free(&results);
	traces[2].means.gap_ns = 121;
	assert_int_equal(cluster_analyse(model, &devices, &steps, &results), 0);
	assert_non_null(find(&results, CLUSTER_GAP, 2));
	cluster_free(&results);
	traces[0].means.gap_ns = traces[1].means.gap_ns = traces[2].means.gap_ns = 0;
	for (uint32_t i = 0; i < RANKS; i++) {
		devices.overlap.devices[i].all.receive_ns = devices.overlap.devices[i].stage_ns;
		devices.overlap.devices[i].all.computation_ns = 0;
		model->devices.row[i].stages = 3;
		model->devices.row[i].stage = i;
	}
	assert_int_equal(cluster_analyse(model, &devices, &steps, &results), 0);
	assert_true(results.imbalance == 0);
	assert_int_equal(results.slowest, 0);
	for (uint32_t i = 0; i < RANKS; i++) {
		assert_true(results.ranks[i].parts.work_percent == 0);
		assert_true(results.stages[i].parts.work_percent == 0 && results.stages[i].imbalance == 0);
		assert_null(find(&results, CLUSTER_WORK, i));
		assert_null(find(&results, CLUSTER_GAP, i));
	}
	cluster_free(&results);
	/* Two ranks are compared, a single one is not. */
	devices.overlap.count = 2;
	assert_int_equal(cluster_analyse(model, &devices, &steps, &results), 0);
	assert_int_equal(results.count, 2);
	devices.overlap.count = RANKS;
	cluster_free(&results);
	assert_string_equal(cluster_rule_name(CLUSTER_RULES), "");
	assert_string_equal(cluster_rule_name(CLUSTER_COLLECTIVE), "collective");
	overlap_free(&devices.overlap);
	model_free(model);
}

/* The first and the third rank in one stage: 900 and 600 of work; the second in another stage: 600. */
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
	/* The stage of one rank is unknown. */
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

/* Adds a rank of a job of its own process, which computes for @us from 1 ms on. */
static void add_rank(struct model *model, uint32_t pid, uint64_t us)
{
	uint32_t process = small_process(model, pid, "rank", true), device;

	small_thread(model, process, pid, "rank");
	model->processes.row[process].parent_pid = 1;
	device = small_device(model, process, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, device, "fc", 1000000, 1000000 + us * 1000, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
}

/*
 * In one recording two ranks of a small job, which compute for 100 and 110 us, two of a large one, 1,000 and 1,300 us, and
 * a job of one rank. Which ranks belong together is known from their collectives.
 */
static struct model *make_jobs(struct device_results *devices, struct rank_usage *usages)
{
	static const struct analysis_options options;
	static const uint64_t US[] = { 100, 110, 1000, 1300, 5000 };
	struct model *model = small_model(0, 100000000);

	assert_true(MODEL_PUSH(&model->files, 0));
	for (uint32_t i = 0; i < 5; i++)
		add_rank(model, 100 + i, US[i]);
	small_index(model);
	*devices = (struct device_results){ 0 };
	assert_int_equal(overlap_analyse(model, &options, &devices->overlap), 0);
	for (uint32_t i = 0; i < 4; i++)
		usages[i] = (struct rank_usage){ .device = i, .job = i < 2 ? 0 : 2 };
	devices->communication.ranks = usages;
	devices->communication.rank_count = 4;
	return model;
}

static void two_jobs(void **state)
{
	struct link_usage links[] = {
		{ .device = 0, .transport = 1, .bytes = 100, .transit_ns = 100 },
		{ .device = 1, .transport = 1, .bytes = 100, .transit_ns = 110 },
		{ .device = 2, .transport = 1, .bytes = 9000, .transit_ns = 100 },
		{ .device = 4, .transport = 1, .bytes = 9000, .transit_ns = 100 },
	};
	struct cluster_results results;
	struct device_results devices;
	struct rank_usage usages[4];
	struct model *model = make_jobs(&devices, usages);

	devices.communication.links = links;
	devices.communication.link_count = 4;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_true(results.several_jobs);
	/* The job of one rank is compared with none. */
	assert_int_equal(results.count, 4);
	assert_true(results.ranks[0].job == results.ranks[1].job && results.ranks[1].job != results.ranks[2].job);
	assert_int_equal(results.slowest, 3);
	assert_int_equal(results.mean_work_ns, 1150000);
	assert_int_equal(results.mean_own_ns, 1150000);
	assert_true(results.imbalance > 13.04 && results.imbalance < 13.05);
	assert_true(results.ranks[0].parts.work_percent > 95.2 && results.ranks[0].parts.work_percent < 95.3);
	assert_int_equal(results.finding_count, 0);
	cluster_free(&results);
	/* A rank may differ from its own job. */
	usages[3].job = 0;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 3);
	assert_non_null(find(&results, CLUSTER_WORK, 3));
	assert_int_equal(results.slowest, 2);
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* Who belongs together if no collectives tell that. */
static void jobs_without_collectives(void **state)
{
	struct link_usage links[] = {
		{ .device = 0, .transport = 1, .bytes = 9000, .transit_ns = 100 },
		{ .device = 2, .transport = 1, .bytes = 100, .transit_ns = 100 },
		{ .device = 3, .transport = 1, .bytes = 100, .transit_ns = 110 },
	};
	struct cluster_results results;
	struct device_results devices;
	struct rank_usage usages[4];
	struct model *model = make_jobs(&devices, usages);

	devices.communication.rank_count = 0;
	/* The processes have nothing to do with each other. */
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 0);
	assert_int_equal(results.finding_count, 0);
	cluster_free(&results);
	/* The first one started the others but the last. */
	for (uint32_t i = 1; i < 4; i++)
		model->processes.row[i].parent_pid = 100;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 4);
	assert_false(results.several_jobs);
	assert_non_null(find(&results, CLUSTER_WORK, 3));
	cluster_free(&results);
	/* Files tell the ranks of all. */
	for (uint32_t i = 0; i < 5; i++) {
		model->processes.row[i].parent_pid = 1;
		model->devices.row[i].has_rank = true;
		model->devices.row[i].rank = i;
	}
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 5);
	assert_false(results.several_jobs);
	assert_int_equal(results.slowest, 4);
	cluster_free(&results);
	/* Two traced ranks are one job, and devices of processes that were not traced are of that. */
	for (uint32_t i = 0; i < 5; i++) {
		model->devices.row[i].has_rank = false;
		model->processes.row[i].target = i < 2;
	}
	model->processes.row[1].parent_pid = 100;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 5);
	assert_false(results.several_jobs);
	cluster_free(&results);
	/*
	 * If those that were traced are two jobs, it is not known of which one the others are: these are compared with each
	 * other, also by their stages. The others' links are none of theirs.
	 */
	model->processes.row[1].parent_pid = 1;
	for (uint32_t i = 2; i < 5; i++) {
		model->devices.row[i].stages = 2;
		model->devices.row[i].stage = i % 2;
	}
	devices.communication.links = links;
	devices.communication.link_count = 3;
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	assert_int_equal(results.count, 3);
	assert_false(results.several_jobs);
	assert_int_equal(results.stage_count, 2);
	assert_null(find(&results, CLUSTER_LINK, 2));
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
}

/* Returns the CPU time, in ticks of clock(), of a look at many links of @ranks ranks of one job. */
static double many_links_take(uint32_t ranks)
{
	static const struct analysis_options options;
	static struct link_usage links[1500];
	struct cluster_results results;
	struct device_results devices = { 0 };
	struct model *model = small_model(0, 10000);
	clock_t start;

	for (uint32_t i = 0; i < ranks; i++) {
		small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		add(model, i, "fc", 1000, 1900, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
	}
	for (uint32_t i = 0; i < 1500; i++)
		links[i] = (struct link_usage){ .device = i % ranks, .bytes = 100, .transit_ns = 100 };
	small_index(model);
	assert_int_equal(overlap_analyse(model, &options, &devices.overlap), 0);
	devices.communication = (struct communication_results){ .links = links, .link_count = 1500 };
	start = clock();
	assert_int_equal(cluster_analyse(model, &devices, NULL, &results), 0);
	start = clock() - start;
	assert_int_equal(results.count, ranks);
	cluster_free(&results);
	overlap_free(&devices.overlap);
	model_free(model);
	return (double)start;
}

/* The comparison of links takes no longer if there are more ranks. */
static void many_links(void **state)
{
	double few = many_links_take(2), again = many_links_take(2), many = many_links_take(400);

	(void)state;
	assert_true(many < 10 * (few > again ? few : again));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_of_stages),
		cmocka_unit_test(gaps_and_links),
		cmocka_unit_test(border_of_links),
		cmocka_unit_test(told_steps),
		cmocka_unit_test(borders_of_means),
		cmocka_unit_test(stages_of_pipeline),
		cmocka_unit_test(one_device),
		cmocka_unit_test(two_jobs),
		cmocka_unit_test(jobs_without_collectives),
		cmocka_unit_test(many_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
