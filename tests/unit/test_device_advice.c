/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on devices: each rule just above and just below its threshold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL

static uint64_t now_ns;

static void add_on(struct model *model, uint32_t device, const char *type, const char *core, uint64_t ns, uint8_t kind)
{
	struct device_task *task = small_task(model, device, now_ns, now_ns + ns);

	now_ns += ns;
	task->name = model_string(model, type);
	task->type = task->name;
	task->core = model_string(model, core);
	task->kind = kind;
}

static void add(struct model *model, const char *type, const char *core, uint64_t ns, uint8_t kind)
{
	add_on(model, 0, type, core, ns, kind);
}

static struct model *begin(void)
{
	struct model *model = small_model(0, 100000 * MS);

	now_ns = 1000;
	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	return model;
}

/* Frees @model, too. */
static struct advice_results judge_part(struct model *model, const struct analysis_options *options,
					const struct device_step_results *steps,
					const struct api_results *api)
{
	struct advice_results advice = { 0 };
	struct device_results devices;

	small_index(model);
	assert_int_equal(device_results_compute(model, options, &devices), 0);
	assert_int_equal(device_advice_add(model, options, &devices, steps, api, &advice), 0);
	device_results_free(&devices);
	model_free(model);
	return advice;
}

static struct advice_results judge(struct model *model, const struct device_step_results *steps,
				   const struct api_results *api)
{
	static const struct analysis_options all;

	return judge_part(model, &all, steps, api);
}

static uint32_t index_of(const struct advice_results *advice, const char *id)
{
	uint32_t i = 0;

	while (i < advice->advice_count && strcmp(advice->list[i].id, id) != 0)
		i++;
	return i;
}

static const struct advice *find(const struct advice_results *advice, const char *id)
{
	uint32_t i = index_of(advice, id);

	assert_in_range(i, 0, advice->advice_count - 1);
	return &advice->list[i];
}

/* Its evidence also cites a rule of another tool, with this measured value. */
static void cites(const struct advice *advice, enum peer_rule_id rule, double value)
{
	assert_int_equal(advice->rule_count, 1);
	assert_ptr_equal(advice->rules[0].rule, peer_rule(rule));
	assert_float_equal(advice->rules[0].value, value, 1e-6);
	assert_true(peer_rule_says(rule, value));
}

static void steps(void **state)
{
	struct device_step_trace trace = { .means = { .steps = 4,
						      .bp_steps = 4,
						      .duration_ns = 10 * MS,
						      .gap_ns = 4 * MS,
						      .tail_ns = 2 * MS } };
	struct device_step_results results = { .traces = &trace, .count = 1 };
	struct model *model = begin();
	struct advice_results advice;

	add(model, "MatMul", "AI_CORE", MS, KERNEL);
	advice = judge(model, &results, NULL);
	assert_int_equal(advice.advice_count, 2);
	assert_string_equal(advice.list[0].id, "device_gap");
	assert_string_equal(advice.list[0].severity, "high");
	assert_non_null(strstr(advice.list[0].evidence, "40.0 %"));
	/* Roots, which would say more, are not known. */
	assert_non_null(strstr(advice.list[0].remedy, "The usual cause is data"));
	cites(&advice.list[0], RULE_STEP_GAP, 4);
	assert_float_equal(advice.list[0].gain_percent, 40, 1e-6);
	assert_string_equal(advice.list[1].id, "device_tail");
	assert_string_equal(advice.list[1].severity, "medium");
	free(advice.list);
	/* For half of the time before a step's first kernel other work ran: copies. */
	trace.means.busy_ns = 8 * MS;
	model = begin();
	add(model, "MatMul", "AI_CORE", MS, KERNEL);
	advice = judge(model, &results, NULL);
	assert_int_not_equal(index_of(&advice, "device_gap"), advice.advice_count);
	free(advice.list);
	/* For more than half. */
	trace.means.busy_ns = 8 * MS + 1;
	model = begin();
	add(model, "MatMul", "AI_CORE", MS, KERNEL);
	advice = judge(model, &results, NULL);
	assert_int_equal(index_of(&advice, "device_gap"), advice.advice_count);
	free(advice.list);
	trace.means.busy_ns = 0;
	trace.means.gap_ns = MS / 2;
	trace.means.tail_ns = MS - 1000;
	model = begin();
	add(model, "MatMul", "AI_CORE", MS, KERNEL);
	advice = judge(model, &results, NULL);
	assert_int_equal(advice.advice_count, 0);
	free(advice.list);
}

/* A gap is reported from a hundredth of a step on, a tail from a tenth on; neither without steps. */
static void borders_of_steps(void **state)
{
	static const struct {
		uint32_t steps, bp_steps;
		double gap_ms, tail_ms;
		uint32_t gaps, tails;
	} CASES[] = {
		{ 4, 4, 1, 10, 1, 1 },	  { 4, 4, 0.99, 9.99, 0, 0 }, { 4, 0, 1, 10, 1, 0 },
		{ 0, 4, 1, 10, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct device_step_trace trace = { .means = { .steps = CASES[i].steps,
							      .bp_steps = CASES[i].bp_steps,
							      .duration_ns = 100 * MS,
							      .gap_ns = CASES[i].gap_ms * MS,
							      .tail_ns = CASES[i].tail_ms * MS } };
		struct device_step_results results = { .traces = &trace, .count = 1 };
		struct model *model = begin();
		struct advice_results advice;

		add(model, "MatMul", "AI_CORE", MS, KERNEL);
		advice = judge(model, &results, NULL);
		assert_int_equal(advice.advice_count, CASES[i].gaps + CASES[i].tails);
		assert_int_equal(index_of(&advice, "device_gap") < advice.advice_count, CASES[i].gaps);
		assert_int_equal(index_of(&advice, "device_tail") < advice.advice_count, CASES[i].tails);
		free(advice.list);
	}
}

/* No advice for fewer than a hundred launches, nor for devices that are idle for less than three percent. */
static void borders_of_launches(void **state)
{
	static const struct {
		uint64_t launches, syncs, idle_ms; /* idle time beside 90 ms of work */
		bool advice;
	} CASES[] = { { 100, 51, 10, true }, { 99, 99, 10, false }, { 100, 50, 10, false }, { 100, 51, 2, false } };

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct model *model = begin();
		struct api_usage rows[] = { { .count = CASES[i].launches }, { .count = CASES[i].syncs } };
		struct api_results api = { .rows = rows, .row_count = 2 };
		struct advice_results advice;

		rows[0].function =
			small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
		rows[1].function =
			small_function(model, "acl", "aclrtSynchronizeStream", PROFBPF__FUNCTION__KIND__SYNC);
		add(model, "MatMul", "AI_CORE", 45 * MS, KERNEL);
		now_ns += CASES[i].idle_ms * MS;
		add(model, "MatMul", "AI_CORE", 45 * MS, KERNEL);
		advice = judge(model, NULL, &api);
		assert_int_equal(index_of(&advice, "device_synchronization") < advice.advice_count, CASES[i].advice);
		free(advice.list);
	}
}

/* 100 ms in total. */
static void operators(void **state)
{
	struct model *model = begin();
	struct advice_results advice;

	add(model, "MatMul", "AI_CORE", 80 * MS, KERNEL);
	add(model, "Unique", "AI_CPU", 6 * MS, KERNEL);
	for (int i = 0; i < 3; i++)
		add(model, "TransData", "AI_CORE", MS, KERNEL);
	add(model, "hcom_allReduce", "", 11 * MS, COMMUNICATION);
	advice = judge(model, NULL, NULL);
	assert_non_null(strstr(find(&advice, "device_aicpu")->evidence, "Unique: 1 tasks"));
	assert_string_equal(find(&advice, "device_aicpu")->severity, "low");
	cites(find(&advice, "device_aicpu"), RULE_AICPU, 6);
	cites(find(&advice, "device_transdata"), RULE_TRANSDATA, 3);
	cites(find(&advice, "device_communication"), RULE_ALONE, 11);
	assert_non_null(strstr(find(&advice, "device_transdata")->evidence, "3 TransData"));
	assert_string_equal(find(&advice, "device_communication")->severity, "medium");
	assert_string_equal(advice.list[0].severity, "medium");
	free(advice.list);
	model = begin();
	add(model, "MatMul", "AI_CORE", 80 * MS, KERNEL);
	add(model, "Unique", "AI_CPU", 4 * MS, KERNEL);
	for (int i = 0; i < 2; i++)
		add(model, "TransData", "AI_CORE", 4 * MS, KERNEL);
	add(model, "hcom_allReduce", "", 8 * MS, COMMUNICATION);
	advice = judge(model, NULL, NULL);
	assert_int_equal(advice.advice_count, 0);
	free(advice.list);
}

/* Conversions from a hundredth of the time on; as many and as long tasks of another type are none. */
static void conversions(void **state)
{
	static const struct {
		const char *type;
		uint64_t other_ms;
		bool advice;
	} CASES[] = { { "TransData", 297, true }, { "TransData", 298, false }, { "Cast", 97, false } };

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct model *model = begin();
		struct advice_results advice;

		add(model, "MatMul", "AI_CORE", CASES[i].other_ms * MS, KERNEL);
		for (int k = 0; k < 3; k++)
			add(model, CASES[i].type, "AI_CORE", MS, KERNEL);
		advice = judge(model, NULL, NULL);
		assert_int_equal(index_of(&advice, "device_transdata") < advice.advice_count, CASES[i].advice);
		free(advice.list);
	}
}

/* What one device does is no part of another one's shares: advice is only about the second one. */
static void devices_apart(void **state)
{
	struct model *model = begin();
	struct task_metric metric = { .name = model_string(model, "memory_bound"), .value = 1.5 };
	struct task_detail detail = { .metric_count = 1 };
	struct advice_results advice;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	assert_true(MODEL_PUSH(&model->task_metrics, metric));
	assert_true(MODEL_PUSH(&model->task_details, detail));
	add_on(model, 0, "MatMul", "AI_CORE", 100 * MS, KERNEL);
	add_on(model, 1, "Unique", "AI_CPU", 30 * MS, KERNEL);
	for (int i = 0; i < 3; i++)
		add_on(model, 1, "TransData", "AI_CORE", 5 * MS, KERNEL);
	add_on(model, 1, "Add", "AI_CORE", 30 * MS, KERNEL);
	model->tasks.row[model->tasks.count - 1].detail = 1;
	advice = judge(model, NULL, NULL);
	assert_int_equal(advice.advice_count, 3);
	cites(find(&advice, "device_aicpu"), RULE_AICPU, 40); /* 30 of 75 */
	cites(find(&advice, "device_transdata"), RULE_TRANSDATA, 3);
	cites(find(&advice, "device_memory_bound"), RULE_MEMORY_BOUND, 100 * 30.0 / 45);
	for (int i = 0; i < 3; i++)
		assert_non_null(strstr(advice.list[i].evidence, "on device 1"));
	free(advice.list);
}

/* Calls that allocate: from a hundredth of the time on. */
static void borders_of_allocations(void **state)
{
	for (uint64_t window_ms = 1100; window_ms <= 1101; window_ms++) {
		struct model *model = begin();
		struct api_usage row = { .count = 50, .durations = { .total_ns = 11 * MS } };
		struct api_results api = { .rows = &row, .row_count = 1 };
		struct advice_results advice;

		row.function = small_function(model, "acl", "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);
		add(model, "MatMul", "AI_CORE", window_ms * MS, KERNEL);
		advice = judge(model, NULL, &api);
		assert_int_equal(index_of(&advice, "device_allocations") < advice.advice_count, window_ms == 1100);
		free(advice.list);
	}
}

/* Remedies for what is known of the cause alone. */
static void remedies(void **state)
{
	struct model *model = begin();
	struct idle_root root = { .hop_count = 1 };
	struct idle_verdict verdict = { .cause = IDLE_IO };
	char text[512];

	idle_remedy(model, &verdict, text, sizeof(text));
	assert_non_null(strstr(text, "Use faster storage; cache or read ahead"));
	root.root.place_kind = PLACE_FUNCTION;
	root.root.place = small_function(model, "x", "decode", PROFBPF__FUNCTION__KIND__OTHER);
	verdict.most = &root;
	/* Samples of code that the job did not wait for. */
	root.samples = 5;
	verdict.cause = IDLE_NETWORK;
	idle_remedy(model, &verdict, text, sizeof(text));
	assert_non_null(strstr(text, "Overlap communication with computation"));
	verdict.cause = IDLE_USER_CODE;
	idle_remedy(model, &verdict, text, sizeof(text));
	assert_non_null(strstr(text, "cheaper, move it off that thread"));
	root.samples = 0;
	idle_remedy(model, &verdict, text, sizeof(text));
	assert_non_null(strstr(text, "Profile that thread"));
	model_free(model);
}

/* Results of two devices with 500 ns each, which are idle for @idle_ns; behind each list is something to complain of. */
struct results {
	struct model *model;
	struct device_usage usages[3];
	struct overlap_device overlaps[1];
	struct operator_usage types[2], operators[1];
	struct idle_hop hops[2];
	struct idle_root root;
	struct idle_roots roots;
	struct device_results all;
};

static void make_results(struct results *r, uint64_t idle_ns, uint64_t cause_ns)
{
	uint32_t process;

	*r = (struct results){ .model = small_model(0, 1000) };
	process = small_process(r->model, 7, "python", true);
	small_thread(r->model, process, 7, "main");
	small_thread(r->model, process, 8, "worker");
	small_function(r->model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	small_function(r->model, "acl", "aclrtSynchronizeStream", PROFBPF__FUNCTION__KIND__SYNC);
	for (uint32_t i = 0; i < 3; i++) {
		small_device(r->model, process, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		r->usages[i] = (struct device_usage){ .device = i, .window_ns = i < 2 ? 500 : 1000000 };
	}
	r->overlaps[0].all.pure_communication_ns = 100;
	/* The device of the first row does not exist in the results; the second row is behind the last one. */
	r->types[0] = (struct operator_usage){ .device = 2, .core = CORE_AICPU, .count = 1, .total_ns = 100 };
	r->types[1] = (struct operator_usage){ .core = CORE_AICPU, .count = 3, .total_ns = 100, .percent = 50,
					       .type = model_string(r->model, "TransData") };
	r->operators[0] = (struct operator_usage){ .core = CORE_AICORE, .count = 1, .total_ns = 100,
						   .figures = { .metric_count = 1 } };
	assert_true(MODEL_PUSH(&r->all.operators.metrics,
			       ((struct operator_metric){ .name = model_string(r->model, "memory_bound"), .mean = 2 })));
	r->hops[1].thread = 1;
	r->root = (struct idle_root){ .ns = cause_ns, .hops = r->hops, .hop_count = 2 };
	r->root.root = (struct root){ .cause = IDLE_USER_CODE, .who_kind = WHO_THREAD, .who = 1 };
	r->roots = (struct idle_roots){ .row = &r->root, .count = 1, .cause_ns = { [IDLE_USER_CODE] = cause_ns } };
	r->all.devices = r->usages;
	r->all.device_count = 2;
	r->all.overlap.devices = r->overlaps;
	r->all.types.rows = r->types;
	r->all.types.count = 1;
	r->all.operators.rows = r->operators;
	r->all.idle.total_ns = idle_ns;
	r->all.idle.roots = &r->roots;
}

static struct advice_results judge_results(struct results *r, const struct api_results *api)
{
	static const struct analysis_options options;
	struct advice_results advice = { 0 };

	assert_int_equal(device_advice_add(r->model, &options, &r->all, NULL, api, &advice), 0);
	free(r->all.operators.metrics.row);
	model_free(r->model);
	return advice;
}

/* The host is to blame if devices are idle for a tenth of their time, and three hundredths have one cause. */
static void borders_of_idle_time(void **state)
{
	static const struct {
		uint64_t idle_ns, cause_ns;
		uint32_t advice;
	} CASES[] = { { 100, 30, 1 }, { 99, 30, 0 }, { 100, 29, 0 } };

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct results r;
		struct advice_results advice;

		make_results(&r, CASES[i].idle_ns, CASES[i].cause_ns);
		advice = judge_results(&r, NULL);
		assert_int_equal(advice.advice_count, CASES[i].advice);
		if (advice.advice_count) {
			assert_string_equal(advice.list[0].id, "device_idle");
			assert_non_null(strstr(advice.list[0].evidence, "idle for 10.0 % of the time; 3.0 % is"));
			assert_non_null(strstr(advice.list[0].evidence, "most of it, 3.0 %: worker 8, waited for by main 7"));
		}
		free(advice.list);
	}
}

/* A thread that has no CPU waits for the one that has it, and is told. */
static void who_waits_for_a_runner(void **state)
{
	struct results r;
	struct advice_results advice;

	make_results(&r, 200, 200);
	r.root.root.cause = IDLE_RUNNABLE;
	r.root.root.who_kind = WHO_RUNNER;
	r.root.root.who = 0;
	r.roots.cause_ns[IDLE_RUNNABLE] = 200;
	r.roots.cause_ns[IDLE_USER_CODE] = 0;
	advice = judge_results(&r, NULL);
	assert_int_equal(advice.advice_count, 1);
	assert_non_null(strstr(advice.list[0].evidence, "waited for by worker 8"));
	free(advice.list);
}

/* Waits after launches cost nothing if devices are idle for less than three hundredths of their time. */
static void launches_of_busy_devices(void **state)
{
	for (uint64_t idle_ns = 29; idle_ns <= 30; idle_ns++) {
		struct api_usage rows[] = { { .count = 100, .function = 0 }, { .count = 51, .function = 1 } };
		struct api_results api = { .rows = rows, .row_count = 2 };
		struct results r;
		struct advice_results advice;

		make_results(&r, idle_ns, 0);
		advice = judge_results(&r, &api);
		assert_int_equal(advice.advice_count, idle_ns == 30);
		free(advice.list);
	}
}

static void memory_bound(void **state)
{
	static const double VALUES[] = { 0.5, 1, 1.5 };

	for (int i = 0; i < 3; i++) {
		struct model *model = begin();
		int bound = i == 2;
		struct task_metric metric = { .name = model_string(model, "memory_bound"), .value = VALUES[i] };
		struct task_detail detail = { .metric_count = 1 };
		struct advice_results advice;

		assert_true(MODEL_PUSH(&model->task_metrics, metric));
		assert_true(MODEL_PUSH(&model->task_details, detail));
		add(model, "Add", "AI_VECTOR_CORE", 6 * MS, KERNEL);
		model->tasks.row[0].detail = 1;
		add(model, "MatMul", "AI_CORE", 4 * MS, KERNEL);
		advice = judge(model, NULL, NULL);
		assert_int_equal(advice.advice_count, bound);
		assert_int_equal(index_of(&advice, "device_memory_bound"), 0);
		free(advice.list);
	}
}

/* The device is busy for 90 ms of 100. */
static void add_idle(struct model *model)
{
	add(model, "MatMul", "AI_CORE", 45 * MS, KERNEL);
	now_ns += 10 * MS;
	add(model, "MatMul", "AI_CORE", 45 * MS, KERNEL);
}

static void calls(void **state)
{
	struct model *model = begin();
	struct api_usage rows[] = {
		{ .count = 200, .function = 1 },
		{ .count = 101, .function = 2 },
		{ .count = 50, .function = 3, .durations = { .total_ns = 11 * MS } },
	};
	struct api_results api = { .rows = rows, .row_count = 3 };
	struct advice_results advice;

	rows[0].function = small_function(model, "acl", "aclrtLaunchKernel",
					  PROFBPF__FUNCTION__KIND__LAUNCH);
	rows[1].function = small_function(model, "acl", "aclrtSynchronizeStream",
					  PROFBPF__FUNCTION__KIND__SYNC);
	rows[2].function =
		small_function(model, "acl", "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);
	add_idle(model);
	advice = judge(model, NULL, &api);
	assert_non_null(strstr(find(&advice, "device_synchronization")->evidence,
			       "101 synchronising calls for 200 launches"));
	cites(find(&advice, "device_synchronization"), RULE_LAUNCH_BLOCKING, 0.505);
	cites(find(&advice, "device_allocations"), RULE_MEMORY_CALLS, 11);
	assert_non_null(strstr(find(&advice, "device_allocations")->evidence, "11.000 ms"));
	free(advice.list);
	rows[1].count = 100;
	rows[2].durations.total_ns = 10 * MS;
	model = begin();
	small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	small_function(model, "acl", "aclrtSynchronizeStream", PROFBPF__FUNCTION__KIND__SYNC);
	small_function(model, "acl", "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);
	add_idle(model);
	advice = judge(model, NULL, &api);
	assert_int_equal(advice.advice_count, 0);
	free(advice.list);
}

/*
 * 120 launches with a wait after each, or all waits after all launches; on a device that is always busy the former
 * costs nothing. For a part of the time only launches within it count, which may be too few.
 */
static void blocked_launches(void **state)
{
	static const struct {
		bool after_each, busy;
		uint64_t from_ns;
		uint32_t advice;
	} CASES[] = { { true, false, 0, 1 },
		      { true, false, 1000 + 20 * 100, 1 },
		      { true, false, 1000 + 120 * 100, 0 },
		      { false, false, 0, 0 },
		      { true, true, 0, 0 } };
	struct api_results api = { 0 };

	for (size_t c = 0; c < sizeof(CASES) / sizeof(CASES[0]); c++) {
		const struct analysis_options part = { .from_ns = CASES[c].from_ns };
		struct model *model = begin();
		uint32_t launch = small_function(model, "acl", "aclrtLaunchKernel",
						 PROFBPF__FUNCTION__KIND__LAUNCH);
		uint32_t sync = small_function(model, "acl", "aclrtSynchronizeStream",
					       PROFBPF__FUNCTION__KIND__SYNC);
		uint32_t thread = small_thread(model, small_process(model, 7, "python", true), 7, "python");
		struct advice_results advice;

		for (uint64_t i = 0; i < 240; i++)
			small_call(model, thread,
				   (CASES[c].after_each ? i % 2 == 0 : i < 120) ? launch : sync,
				   1000 + i * 100, 1000 + i * 100 + 50);
		if (CASES[c].busy)
			add(model, "MatMul", "AI_CORE", 100 * MS, KERNEL);
		else
			add_idle(model);
		advice = judge_part(model, &part, NULL, &api);
		assert_int_equal(index_of(&advice, "device_synchronization") < advice.advice_count,
				 CASES[c].advice);
		free(advice.list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps),
		cmocka_unit_test(borders_of_steps),
		cmocka_unit_test(borders_of_launches),
		cmocka_unit_test(operators),
		cmocka_unit_test(conversions),
		cmocka_unit_test(devices_apart),
		cmocka_unit_test(borders_of_allocations),
		cmocka_unit_test(remedies),
		cmocka_unit_test(borders_of_idle_time),
		cmocka_unit_test(who_waits_for_a_runner),
		cmocka_unit_test(launches_of_busy_devices),
		cmocka_unit_test(memory_bound),
		cmocka_unit_test(calls),
		cmocka_unit_test(blocked_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
