/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/join/launch/launches.h"
#include "tests/unit/small_model.h"

#define LAUNCH PROFBPF__FUNCTION__KIND__LAUNCH

/* One process with two threads, a device, and functions of two families. */
struct job {
	struct model *model;
	uint32_t process;
	uint32_t thread;
	uint32_t other;
	uint32_t device;
	uint32_t launch; /* family cuda, outer layer */
	uint32_t driver; /* family cuda, inner layer */
	uint32_t framework; /* family torch */
	uint32_t stage;
	uint32_t sync;
};

static struct job make_job(void)
{
	struct job job = { .model = small_model(1000, 1000000) };

	job.process = small_process(job.model, 100, "job", true);
	job.thread = small_thread(job.model, job.process, 100, "job");
	job.other = small_thread(job.model, job.process, 101, "job");
	job.device =
		small_device(job.model, job.process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	job.launch = small_function(job.model, "cuda", "cudaLaunchKernel", LAUNCH);
	job.driver = small_function(job.model, "cuda", "cuLaunchKernel", LAUNCH);
	job.framework = small_function(job.model, "torch", "addmm", PROFBPF__FUNCTION__KIND__OTHER);
	job.stage = small_function(job.model, "torch", "next", PROFBPF__FUNCTION__KIND__STAGE);
	job.sync = small_function(job.model, "cuda", "cudaStreamSynchronize",
				  PROFBPF__FUNCTION__KIND__SYNC);
	return job;
}

static void add_task(struct job *job, uint32_t thread, uint64_t enqueue_ns)
{
	struct device_task *task =
		small_task(job->model, job->device, enqueue_ns + 1000, enqueue_ns + 2000);

	task->thread = thread;
	task->enqueue_ns = enqueue_ns;
}

static struct launch_join join_job(struct job *job)
{
	struct launch_join join;

	small_index(job->model);
	assert_int_equal(launches_join(job->model, &join), 0);
	assert_int_equal(join.matched + join.unmatched_tasks, join.tasks);
	return join;
}

static void test_plain(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	small_call(job.model, job.thread, job.launch, 2000, 2100);
	small_call(job.model, job.thread, job.launch, 3000, 3100);
	small_call(job.model, job.thread, job.launch, 4000, 4100); /* without a task */
	small_call(job.model, job.thread, job.launch, 5000, 5100);
	job.model->calls.row[3].flags = MODEL_CALL_ERROR;
	small_call(job.model, job.other, job.launch, 2900, 3200);
	add_task(&job, job.thread, 2000); /* first nanosecond of the call */
	add_task(&job, job.thread, 3100); /* last nanosecond */
	add_task(&job, job.thread, 3500); /* in no call */
	add_task(&job, job.other, 3050);
	add_task(&job, INDEX_NONE, 3050); /* unknown thread */
	join = join_job(&job);
	assert_int_equal(join.launches, 4);
	assert_int_equal(join.failed_launches, 1);
	assert_int_equal(join.tasks, 5);
	assert_int_equal(join.matched, 3);
	assert_int_equal(join.unmatched_tasks, 2);
	assert_int_equal(join.unmatched_launches, 1);
	assert_int_equal(join.ambiguous, 0);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	assert_int_equal(job.model->tasks.row[1].call, 1);
	assert_int_equal(job.model->tasks.row[2].call, INDEX_NONE);
	assert_int_equal(job.model->tasks.row[3].call, 4);
	assert_int_equal(job.model->calls.row[1].task, 1);
	assert_int_equal(job.model->calls.row[2].task, INDEX_NONE);
	assert_string_equal(launch_join_method(&join), "enqueue instant within the call");
	model_free(job.model);
}

static void test_nested(void **state)
{
	struct job job = make_job();
	struct launch_join join;
	uint32_t outer;

	/* stage > framework > cudaLaunchKernel > cuLaunchKernel: the runtime's outermost call counts. */
	small_call(job.model, job.thread, job.stage, 2000, 9000);
	small_call(job.model, job.thread, job.framework, 2100, 8000);
	outer = small_call(job.model, job.thread, job.launch, 2200, 3000);
	small_call(job.model, job.thread, job.driver, 2300, 2900);
	for (uint32_t i = 0; i < 4; i++)
		job.model->calls.row[i].depth = (uint8_t)i;
	job.model->calls.row[3].flags = MODEL_CALL_INNER | MODEL_CALL_PART;
	add_task(&job, job.thread, 2500);
	add_task(&job, job.thread, 2950); /* the inner call has returned, the outer one has not */
	add_task(&job, job.thread, 3500); /* launched by the framework itself */
	join = join_job(&job);
	assert_int_equal(join.launches, 1);
	assert_int_equal(join.matched, 3);
	assert_int_equal(job.model->tasks.row[0].call, outer);
	assert_int_equal(job.model->tasks.row[1].call, outer);
	assert_int_equal(job.model->tasks.row[2].call, 1);
	assert_int_equal(job.model->calls.row[outer].task, 0);
	assert_int_equal(join.unmatched_launches, 0);
	assert_int_equal(join.ambiguous, 0);
	model_free(job.model);
}

static void test_touching(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	small_call(job.model, job.thread, job.launch, 2000, 2100);
	small_call(job.model, job.thread, job.launch, 2100, 2200);
	add_task(&job, job.thread, 2100);
	join = join_job(&job);
	assert_int_equal(join.ambiguous, 1);
	assert_int_equal(job.model->tasks.row[0].call, 1);
	model_free(job.model);
}

static void test_open_call(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	small_call(job.model, job.thread, job.sync, 2000, 900000);
	job.model->calls.row[0].flags = MODEL_CALL_OPEN;
	add_task(&job, job.thread, 2500);
	join = join_job(&job);
	assert_int_equal(join.launches, 0);
	assert_int_equal(join.matched, 1);
	model_free(job.model);
}

/* A call of which only the entry was seen has its tasks until the thread makes another call. */
static void test_end_unknown(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	small_call(job.model, job.thread, job.launch, 2000, 2000);
	job.model->calls.row[0].flags = MODEL_CALL_ENTRY;
	small_call(job.model, job.thread, job.launch, 3000, 3100);
	small_call(job.model, job.thread, job.launch, 4000, 4000);
	job.model->calls.row[2].flags = MODEL_CALL_LEFT;
	add_task(&job, job.thread, 2050);
	add_task(&job, job.thread, 2900);
	add_task(&job, job.thread, 3200); /* another call has begun and ended in the meantime */
	add_task(&job, job.thread, 4100); /* an exception left that call */
	join = join_job(&job);
	assert_int_equal(join.matched, 2);
	assert_int_equal(join.ambiguous, 0);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	assert_int_equal(job.model->tasks.row[1].call, 0);
	assert_int_equal(job.model->tasks.row[2].call, INDEX_NONE);
	assert_int_equal(job.model->tasks.row[3].call, INDEX_NONE);
	model_free(job.model);
}

static void test_deep_nesting(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	/* More open calls than any capture keeps: no crash, the outermost one still counts. */
	for (uint32_t i = 0; i < 500; i++) {
		small_call(job.model, job.thread, job.launch, 2000 + i, 900000 - i);
		job.model->calls.row[i].depth = i < 255 ? (uint8_t)i : 255;
	}
	add_task(&job, job.thread, 10000);
	join = join_job(&job);
	assert_int_equal(join.matched, 1);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	model_free(job.model);
}

/* Numbers need not increase with time. */
static void numbers_in_any_order(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	(void)state;
	job.model->devices.row[job.device].own_clock = true;
	job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	for (uint64_t i = 0; i < 100; i++) {
		uint32_t call = small_call(job.model, job.thread, job.launch, 2000 + 10 * i, 2005 + 10 * i);
		struct device_task *task = small_task(job.model, job.device, 9000 + 10 * i, 9005 + 10 * i);

		job.model->calls.row[call].args[1] = 1 + 37 * i % 101;
		task->thread = job.thread;
		task->correlation = 1 + 11 * i % 101;
	}
	small_index(job.model);
	assert_int_equal(launches_join(job.model, &join), 0);
	for (uint32_t i = 0; i < job.model->tasks.count; i++) {
		const struct device_task *task = &job.model->tasks.row[i];

		if (task->call != INDEX_NONE)
			assert_int_equal(job.model->calls.row[task->call].args[1], task->correlation);
	}
	/* One number of a hundred and one belongs to no call, one to no task. */
	assert_in_range(join.by_correlation, 99, 100);
	model_free(job.model);
}

/*
 * In a file with its own calls each task has its launch's number, which is counted per process; of nested calls with
 * the same number the outer one is the launch.
 */
static void test_by_correlation(void **state)
{
	struct job job = make_job();
	uint32_t stranger = small_process(job.model, 200, "other", true);
	uint32_t thread = small_thread(job.model, stranger, 200, "other");
	struct launch_join join;

	job.model->devices.row[job.device].own_clock = true;
	job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	for (uint64_t i = 0; i < 4; i++) {
		/* 7, another 7 nested in it, 9, and 7 of the other process. */
		uint32_t call = small_call(job.model, i < 3 ? job.thread : thread, job.launch,
					   2000 + 100 * (i & 2) + i, 2050 + 100 * (i & 2) - i);

		job.model->calls.row[call].args[1] = i == 2 ? 9 : 7;
	}
	for (uint64_t i = 0; i < 5; i++) {
		struct device_task *task =
			small_task(job.model, job.device, 9000 - 100 * i, 9000 - 100 * i + 10);

		task->thread = i < 4 ? job.thread : thread;
		task->correlation = (const uint64_t[]){ 7, 9, 7, 0, 7 }[i];
	}
	small_index(job.model);
	assert_int_equal(launches_join(job.model, &join), 0);
	assert_int_equal(join.by_correlation, 4);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	assert_int_equal(job.model->tasks.row[1].call, 2);
	assert_int_equal(job.model->tasks.row[2].call, 0);
	assert_int_equal(job.model->tasks.row[3].call, INDEX_NONE);
	assert_int_equal(job.model->tasks.row[4].call, 3);
	/* The first task. */
	assert_int_equal(job.model->calls.row[0].task, 2);
	assert_int_equal(job.model->calls.row[1].task, INDEX_NONE);
	model_free(job.model);
}

static void add_ordered(struct job *job, uint64_t stream, uint64_t start_ns)
{
	small_task(job->model, job->device, start_ns, start_ns + 10)->stream = stream;
}

static void test_by_order(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint64_t i = 0; i < 6; i++) {
		uint32_t call = small_call(job.model, job.thread, job.launch, 2000 + 100 * i,
					   2050 + 100 * i);

		job.model->calls.row[call].args[1] = i % 2 ? 7 : 8;
	}
	/* The end of a launch does not matter. */
	job.model->calls.row[2].flags = MODEL_CALL_ENTRY;
	job.model->calls.row[2].end_ns = job.model->calls.row[2].start_ns;
	/* Stream 8: equally many tasks and calls. Stream 7: one is missing. Stream 9: no calls. */
	add_ordered(&job, 8, 12000);
	add_ordered(&job, 8, 14000);
	add_ordered(&job, 8, 16000);
	add_ordered(&job, 7, 13000);
	add_ordered(&job, 7, 15000);
	add_ordered(&job, 9, 15000);
	join = join_job(&job);
	assert_int_equal(join.by_order, 3);
	assert_int_equal(join.ambiguous, 2);
	assert_int_equal(join.unmatched_tasks, 3);
	assert_int_equal(join.unmatched_launches, 3);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	assert_int_equal(job.model->tasks.row[1].call, 2);
	assert_int_equal(job.model->tasks.row[2].call, 4);
	assert_int_equal(job.model->calls.row[4].task, 2);
	assert_string_equal(launch_join_method(&join), "order within the stream");
	model_free(job.model);
}

static void add_launch(struct job *job, uint32_t function, uint64_t stream, uint64_t start_ns)
{
	uint32_t call = small_call(job->model, job->thread, function, start_ns, start_ns + 50);

	job->model->calls.row[call].args[1] = stream;
}

/* Handles on one side, numbers on the other: streams that fit only one another are joined, if that is true of all. */
static void test_by_order_of_handles(void **state)
{
	for (int spoilt = 0; spoilt < 3; spoilt++) {
		struct job job = make_job();
		uint32_t copy = small_function(job.model, "cuda", "cudaMemcpyAsync",
					       PROFBPF__FUNCTION__KIND__COPY);
		struct launch_join join;

		job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
		job.model->functions.row[copy].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
		add_launch(&job, job.launch, 0x7f0010, 2000);
		add_launch(&job, copy, 0x7f0020, 2100);
		add_launch(&job, job.launch, 0x7f0010, 2200);
		add_launch(&job, copy, 0x7f0020, 2300);
		add_launch(&job, job.launch, 0x7f0030, 2400);
		add_ordered(&job, 3, 302000);
		add_ordered(&job, 3, 304000);
		add_ordered(&job, 4, 301000);
		job.model->tasks.row[2].kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
		add_ordered(&job, 4, 303000);
		job.model->tasks.row[3].kind = PROFBPF__DEVICE_TASKS__KIND__COPY;
		/* Too early for its call; a task of a stream for which no call is left. */
		add_ordered(&job, 5, spoilt == 1 ? 100 : 305000);
		if (spoilt == 1)
			job.model->calls.row[4].start_ns = 200500;
		if (spoilt == 2)
			add_ordered(&job, 6, 306000);
		/* For example a collective as a whole: in no stream's order. */
		add_ordered(&job, MODEL_ID_NONE, 307000);
		join = join_job(&job);
		assert_int_equal(join.by_order, spoilt ? 0 : 5);
		assert_int_equal(join.ambiguous, spoilt == 0 ? 0 : spoilt == 1 ? 4 : 6);
		assert_int_equal(join.unmatched_tasks, spoilt == 0 ? 1 : spoilt == 1 ? 6 : 7);
		for (uint32_t i = 0; !spoilt && i < 5; i++) {
			uint32_t task = job.model->calls.row[i].task;

			assert_int_equal(job.model->tasks.row[task].call, i);
			assert_int_equal(job.model->tasks.row[task].stream, i == 4  ? 5
									    : i % 2 ? 4
										    : 3);
		}
		model_free(job.model);
	}
}

/* Two handles that fit two streams equally well: not joined. */
static void test_by_order_of_twins(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint64_t i = 0; i < 4; i++)
		add_launch(&job, job.launch, i % 2 ? 0x7f0010 : 0x7f0020, 2000 + 100 * i);
	for (uint64_t i = 0; i < 4; i++)
		add_ordered(&job, 3 + i % 2, 302000 + 100 * i);
	join = join_job(&job);
	assert_int_equal(join.by_order, 0);
	assert_int_equal(join.ambiguous, 4);
	model_free(job.model);
}

/* Marks the process as traced from its beginning, without losses. */
static void make_complete(struct job *job)
{
	struct source_loss api = { .name = model_string(job->model, "api") };

	assert_true(MODEL_PUSH(&job->model->sources, api));
	job->model->info.ended = true;
	job->model->processes.row[job->process].start_ns = job->model->info.session_start_ns + 1;
}

/* A graph of three kernels, launched twice, between single kernels: one call, several tasks. */
static void test_by_order_of_graphs(void **state)
{
	static const uint32_t expected[] = { 0, 1, 1, 1, 2, 3, 3, 3 };

	for (int lost = 0; lost < 2; lost++) {
		struct job job = make_job();
		uint32_t graph = small_function(job.model, "cuda", "cudaGraphLaunch", LAUNCH);
		struct launch_join join;

		make_complete(&job);
		job.model->sources.row[0].produced = (uint64_t)lost;
		job.model->functions.row[job.launch].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
		job.model->functions.row[graph].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
		job.model->functions.row[graph].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
		for (uint32_t i = 0; i < 4; i++) {
			add_launch(&job, i % 2 ? graph : job.launch, 7, 2000 + 100 * i);
			job.model->calls.row[i].args[0] = 0x5000;
		}
		for (uint32_t i = 0; i < 8; i++)
			add_ordered(&job, 7, 3000 + 100 * i);
		join = join_job(&job);
		assert_int_equal(join.by_order, lost ? 0 : 8);
		assert_int_equal(join.ambiguous, lost ? 8 : 0);
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(job.model->tasks.row[i].call,
					 lost ? INDEX_NONE : expected[i]);
		assert_int_equal(join.unmatched_launches, lost ? 4 : 0);
		model_free(job.model);
	}
}

/* An operator may launch any number of tasks: the owner of a task in between is unknown. */
static void test_by_order_of_operators(void **state)
{
	struct job job = make_job();
	uint32_t operator = small_function(job.model, "acl", "aclnnAdd", LAUNCH);
	struct launch_join join;

	make_complete(&job);
	job.model->functions.row[operator].roles[1] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint32_t i = 0; i < 2; i++)
		add_launch(&job, operator, 7, 2000 + 100 * i);
	for (uint32_t i = 0; i < 3; i++)
		add_ordered(&job, 7, 3000 + 100 * i);
	join = join_job(&job);
	assert_int_equal(join.by_order, 0);
	assert_int_equal(join.ambiguous, 3);
	model_free(job.model);
}

/* Two calls with one number: a device file that has the call twice, or work that was launched together. */
static void test_shared_number(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	job.model->functions.row[job.launch].roles[2] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	for (uint32_t i = 0; i < 3; i++) {
		small_call(job.model, job.thread, job.launch, 2000 + 100 * i, 2050 + 100 * i);
		job.model->calls.row[i].args[2] = i < 2 ? 5 : 6;
	}
	job.model->devices.row[job.device].own_clock = true;
	for (uint32_t i = 0; i < 2; i++) {
		struct device_task *task =
			small_task(job.model, job.device, 3000 + 100 * i, 3050 + 100 * i);

		task->correlation = 5;
		task->thread = job.thread;
	}
	join = join_job(&job);
	assert_int_equal(join.by_correlation, 2);
	assert_int_equal(join.unmatched_launches, 1);
	assert_int_equal(job.model->tasks.row[0].call, 0);
	assert_int_equal(job.model->tasks.row[1].call, 0);
	model_free(job.model);
}

static void test_unprofiled(void **state)
{
	struct job job = make_job();
	uint32_t process = small_process(job.model, 200, "other", true);
	uint32_t thread = small_thread(job.model, process, 200, "other");
	struct launch_join join;

	small_call(job.model, thread, job.launch, 2000, 2100);
	/* Rows that no valid file has. */
	small_call(job.model, thread, 4711, 2500, 2600);
	add_task(&job, 4711, 2550);
	add_task(&job, thread, 2550);
	join = join_job(&job);
	assert_int_equal(join.launches, 1);
	assert_int_equal(join.unprofiled_launches, 1);
	assert_int_equal(join.unmatched_launches, 0);
	assert_int_equal(join.matched, 0);
	model_free(job.model);
}

/* Tasks from before and after the session had no traced call to be joined with. */
static void test_outside_session(void **state)
{
	struct job job = make_job();
	struct launch_join join;

	small_call(job.model, job.thread, job.launch, 2000, 2100);
	add_task(&job, job.thread, 999);
	add_task(&job, job.thread, 2050);
	add_task(&job, job.thread, 1000001);
	join = join_job(&job);
	assert_int_equal(join.tasks, 1);
	assert_int_equal(join.tasks_outside, 2);
	assert_int_equal(join.matched, 1);
	assert_int_equal(join.unmatched_tasks, 0);
	model_free(job.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_touching),
		cmocka_unit_test(test_open_call),
		cmocka_unit_test(test_end_unknown),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_by_correlation), cmocka_unit_test(numbers_in_any_order),
		cmocka_unit_test(test_by_order),
		cmocka_unit_test(test_by_order_of_handles),
		cmocka_unit_test(test_by_order_of_twins),
		cmocka_unit_test(test_by_order_of_graphs),
		cmocka_unit_test(test_by_order_of_operators),
		cmocka_unit_test(test_shared_number),
		cmocka_unit_test(test_unprofiled),
		cmocka_unit_test(test_outside_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
