/* SPDX-License-Identifier: Apache-2.0 */
/* copy_way.h: what says whether a copy feeds the device: the call's name, its argument, or the other side's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/copy_way.h"
#include "tests/unit/small_model.h"

#define TO_DEVICE 1
#define TO_HOST 2

/* A call of a function, and the task that it enqueued, whose name is @task (NULL: none). */
struct copy {
	const char *function;
	Profbpf__Function__Kind kind;
	int argument; /* the place of the argument that says the way; -1 = none does */
	uint64_t value; /* of that argument; others say the opposite */
	const char *task;
	uint8_t task_kind;
};

static struct model *model_of(const struct copy *copy)
{
	struct model *model = small_model(0, 1000);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "main");
	uint32_t function = small_function(model, "cuda", copy->function, copy->kind);
	struct call *call;
	struct device_task *task;

	small_call(model, thread, function, 10, 20);
	call = &model->calls.row[0];
	for (int i = 0; i < 3; i++)
		call->args[i] = copy->value == TO_DEVICE ? TO_HOST : TO_DEVICE;
	if (copy->argument >= 0) {
		call->args[copy->argument] = copy->value;
		model->functions.row[function].roles[copy->argument] = PROFBPF__FUNCTION__ROLE__COPY_KIND;
	}
	if (!copy->task)
		return model;
	small_device(model, process, "gpu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	task = small_task(model, 0, 30, 40);
	task->name = model_string(model, copy->task);
	task->kind = copy->task_kind;
	task->call = 0;
	call->task = 0;
	return model;
}

static enum loop_kind call_way(struct copy copy)
{
	struct model *model = model_of(&copy);
	struct work_names names;
	enum loop_kind way;

	assert_true(work_names_init(&names, model));
	way = call_copy_way(&names, &model->calls.row[0]);
	work_names_free(&names);
	model_free(model);
	return way;
}

static enum loop_kind task_way(struct copy copy)
{
	struct model *model = model_of(&copy);
	struct work_names names;
	enum loop_kind way;

	assert_true(work_names_init(&names, model));
	way = task_copy_way(&names, &model->tasks.row[0]);
	work_names_free(&names);
	model_free(model);
	return way;
}

#define COPY PROFBPF__FUNCTION__KIND__COPY
#define TASK_COPY PROFBPF__DEVICE_TASKS__KIND__COPY
#define TASK_MAP PROFBPF__DEVICE_TASKS__KIND__MAP
#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL

static void a_name_says_the_way(void **state)
{
	(void)state;
	assert_int_equal(call_way((struct copy){ "cuMemcpyHtoD_v2", COPY, -1 }), LOOP_FEED);
	assert_int_equal(call_way((struct copy){ "cuMemcpyDtoH_v2", COPY, -1 }), LOOP_RESULT);
	assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, -1 }), LOOP_OTHER);
}

static void an_argument_says_the_way(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, i, TO_DEVICE }), LOOP_FEED);
		assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, i, TO_HOST }), LOOP_RESULT);
		assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, i, 3 }), LOOP_OTHER);
	}
	/* The name is more certain. */
	assert_int_equal(call_way((struct copy){ "cuMemcpyHtoD_v2", COPY, 0, TO_HOST }), LOOP_FEED);
}

static void the_task_of_a_call_says_the_way(void **state)
{
	(void)state;
	assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, -1, 0, "Memcpy HtoD", TASK_COPY }), LOOP_FEED);
	assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, 0, TO_HOST, "Memcpy HtoD", TASK_COPY }),
			 LOOP_RESULT);
	assert_int_equal(call_way((struct copy){ "cudaMemcpy", COPY, 0, TO_DEVICE, "copy", TASK_COPY }), LOOP_FEED);
}

static void the_call_of_a_task_says_the_way(void **state)
{
	(void)state;
	assert_int_equal(task_way((struct copy){ "cudaMemcpy", COPY, 0, TO_DEVICE, "copy", TASK_COPY }), LOOP_FEED);
	assert_int_equal(task_way((struct copy){ "cudaMemcpy", COPY, 0, TO_HOST, "Memcpy HtoD", TASK_COPY }),
			 LOOP_FEED);
	assert_int_equal(task_way((struct copy){ "clEnqueueMapBuffer", COPY, -1, 0, "Map DtoH", TASK_MAP }),
			 LOOP_RESULT);
}

/* Only copies copy, whatever their names say. */
static void other_calls_and_tasks_have_no_way(void **state)
{
	(void)state;
	assert_int_equal(call_way((struct copy){ "launchHtoD", PROFBPF__FUNCTION__KIND__LAUNCH, 0, TO_DEVICE }),
			 LOOP_OTHER);
	assert_int_equal(task_way((struct copy){ "cudaMemcpy", COPY, 0, TO_DEVICE, "kernel_HtoD", KERNEL }),
			 LOOP_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_says_the_way),
		cmocka_unit_test(an_argument_says_the_way),
		cmocka_unit_test(the_task_of_a_call_says_the_way),
		cmocka_unit_test(the_call_of_a_task_says_the_way),
		cmocka_unit_test(other_calls_and_tasks_have_no_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
