/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads submit, and whether uncertain counted calls change that: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/join/launch/launch_counts.h"
#include "tests/unit/small_model.h"

#define THREADS 3 /* two of one process, one of another */

struct fixture {
	struct model *model;
	uint32_t launch, sync;
};

static void begin(struct fixture *f)
{
	uint32_t process, other;

	f->model = small_model(0, 1000000);
	process = small_process(f->model, 10, "job", true);
	other = small_process(f->model, 20, "other", true);
	small_thread(f->model, process, 10, "first");
	small_thread(f->model, process, 11, "second");
	small_thread(f->model, other, 20, "of another process");
	f->launch = small_function(f->model, "cuda", "cuLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	f->sync = small_function(f->model, "cuda", "cuCtxSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
}

static void counted(struct fixture *f, uint32_t thread, uint32_t function, uint64_t count, uint8_t unsure)
{
	struct counted_call row = { .call = { .thread = thread, .function = function }, .count = count, .unsure = unsure };

	if (count)
		assert_true(MODEL_PUSH(&f->model->counted_calls, row));
}

/* Recorded calls, and counted ones if they are certainly launches. */
static void counts(void **state)
{
	struct fixture f;
	uint64_t *counts;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 3; i++)
		small_call(f.model, 0, f.launch, i, i + 1);
	small_call(f.model, 0, f.sync, 5, 6);
	small_call(f.model, 1, f.launch, 5, 6);
	small_call(f.model, 1, f.launch, 7, 8); /* outside of the array's count */
	f.model->calls.count--;
	counted(&f, 0, f.launch, 40, 0);
	counted(&f, 0, f.launch, 500, COUNTED_THREAD);
	counted(&f, 0, f.sync, 6000, 0);
	counted(&f, 0, f.launch, 70000, 0); /* outside of the array's count */
	f.model->counted_calls.count--;
	small_index(f.model);
	counts = launch_counts(f.model);
	assert_non_null(counts);
	assert_int_equal(counts[0], 43);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], 0);
	free(counts);
	model_free(f.model);
}

/* Ten launches, and a tenth of those of its process. */
static void submit(void **state)
{
	(void)state;
	assert_false(launches_submit(9, 9));
	assert_true(launches_submit(10, 10));
	assert_true(launches_submit(10, 100));
	assert_false(launches_submit(10, 101));
}

static void settled(void **state)
{
	static const struct {
		uint64_t sure[THREADS], unsure[THREADS];
		bool settled;
	} CASES[] = {
		{ { 20, 5, 3 }, { 0 }, true },
		/* Whether a thread submits: by number, and by share. */
		{ { 9 }, { 1 }, false },
		{ { 10 }, { 1 }, true },
		{ { 8 }, { 1 }, true },
		{ { 10, 90 }, { 0 }, true },
		{ { 10, 90 }, { 0, 1 }, false },
		{ { 11, 90 }, { 0, 9 }, true },
		/* The thread of a process with the most launches: of equal ones the first. */
		{ { 50, 20 }, { 0, 29 }, true },
		{ { 50, 20 }, { 0, 30 }, false },
		{ { 50, 50 }, { 0 }, true },
		{ { 50, 50 }, { 1 }, true },
		{ { 50, 50 }, { 0, 1 }, false },
		{ { 50, 51 }, { 0, 1 }, true },
		{ { 50, 51 }, { 1 }, false },
		{ { 50, 52 }, { 1 }, true },
		/* Threads of another process have no influence. */
		{ { 6, 0, 5 }, { 0, 0, 1 }, true },
		{ { 50, 20, 40 }, { 0, 0, 20 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		begin(&f);
		for (uint32_t t = 0; t < THREADS; t++) {
			counted(&f, t, f.launch, CASES[i].sure[t], 0);
			counted(&f, t, f.launch, CASES[i].unsure[t], COUNTED_THREAD);
		}
		small_index(f.model);
		if (launch_counts_settled(f.model) != CASES[i].settled)
			fail_msg("case %zu", i);
		model_free(f.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(submit),
		cmocka_unit_test(settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
