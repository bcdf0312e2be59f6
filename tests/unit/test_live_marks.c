/* SPDX-License-Identifier: Apache-2.0 */
/* The live view's waits for data of PyTorch's trainers, from their marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/live/live_loaders.h"
#include "daemon/live/live_marks.h"

#define MS 1000000ull
#define ENTER 1
#define LEAVE 2
#define TRAINER 7
#define FETCH "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

static void describe(struct live_marks *marks, uint32_t id, const char *symbol)
{
	Profbpf__Function function = PROFBPF__FUNCTION__INIT;

	function.id = id;
	function.name = (char *)symbol;
	live_marks_function(marks, &function);
}

static struct live_marks *described(void)
{
	struct live_marks *marks = live_marks_new();

	assert_non_null(marks);
	describe(marks, ENTER, "_ZN5torch8autograd8profiler25record_function_enter_newERKNSt");
	describe(marks, LEAVE, "_ZN5torch8autograd8profilerL24record_function_exit_newERKN3c10");
	return marks;
}

/* Adds a call of 1 ms. */
static void call(struct live_marks *marks, uint32_t function, uint64_t end_ms, const char *name)
{
	const struct live_called row = { .function = function, .pid = TRAINER, .tid = TRAINER,
					.end_ns = end_ms * MS, .dur_ns = MS };

	live_marks_call(marks, &row, name);
}

/* Returns the trainer's wait in ms; -1: unknown. */
static int64_t frame(struct live_marks *marks, uint64_t from_ms, uint64_t to_ms)
{
	struct live_operator rows[] = { { .pid = TRAINER, .name = "MegEngine workers" },
				       { .pid = TRAINER, .name = LIVE_TORCH },
				       { .pid = TRAINER + 1, .name = LIVE_TORCH } };

	live_marks_frame(marks, from_ms * MS, to_ms * MS, rows, 3);
	assert_false(rows[0].has_pop_wait || rows[2].has_pop_wait || rows[1].has_push_wait);
	return rows[1].has_pop_wait ? (int64_t)(rows[1].pop_wait_ns / MS) : -1;
}

static void fetches_with_marks_in_and_around_them(void **state)
{
	struct live_marks *marks = described();

	(void)state;
	/* A range that began earlier, and a step around everything. */
	call(marks, LEAVE, 5, "");
	call(marks, ENTER, 10, "step");
	assert_int_equal(frame(marks, 0, 50), -1);
	/* 100 to 140 and 200 to 210; the records of one CPU after those of the other. */
	call(marks, LEAVE, 130, "");
	call(marks, LEAVE, 140, "");
	call(marks, LEAVE, 210, "");
	call(marks, ENTER, 101, FETCH);
	call(marks, ENTER, 120, "inside");
	call(marks, ENTER, 201, FETCH);
	call(marks, LEAVE, 220, "");
	assert_int_equal(frame(marks, 50, 1000), 50);
	assert_int_equal(frame(marks, 1000, 2000), 0);
	live_marks_free(marks);
}

/* The first range that ends may have been a fetch. */
static void an_end_comes_first(void **state)
{
	struct live_marks *marks = described();

	(void)state;
	call(marks, LEAVE, 500, "");
	call(marks, ENTER, 601, FETCH);
	call(marks, LEAVE, 700, "");
	assert_int_equal(frame(marks, 0, 1000), -1);
	call(marks, ENTER, 1101, FETCH);
	call(marks, LEAVE, 1200, "");
	assert_int_equal(frame(marks, 1000, 2000), 100);
	live_marks_free(marks);
}

static void a_fetch_over_frames(void **state)
{
	struct live_marks *marks = described();

	(void)state;
	call(marks, ENTER, 901, FETCH);
	/* Belongs to the next frame, but has arrived already. */
	call(marks, LEAVE, 2300, "");
	assert_int_equal(frame(marks, 0, 1000), 100);
	assert_int_equal(frame(marks, 1000, 2000), 1000);
	assert_int_equal(frame(marks, 2000, 3000), 300);
	assert_int_equal(frame(marks, 3000, 4000), 0);
	live_marks_free(marks);
}

static void ends_that_are_not_probed(void **state)
{
	struct live_marks *marks = live_marks_new();

	(void)state;
	describe(marks, ENTER, "_ZN5torch8autograd8profiler25record_function_enter_newERKNSt");
	call(marks, ENTER, 100, FETCH);
	assert_int_equal(frame(marks, 0, 1000), -1);
	live_marks_free(marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fetches_with_marks_in_and_around_them),
		cmocka_unit_test(an_end_comes_first),
		cmocka_unit_test(a_fetch_over_frames),
		cmocka_unit_test(ends_that_are_not_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
