/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certain pairs of a stream's calls and tasks, compared with all possible alignments, tried one by one on
 * thousands of small streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/join/launch/launch_align.h"

#define ROWS_MAX 10
#define WAYS_UNKNOWN (ALIGN_UNSURE - 1)

/* A stream, and for each task the call on which all alignments agree. */
struct stream {
	struct align_call calls[ROWS_MAX];
	struct align_task tasks[ROWS_MAX];
	struct alignment alignment;
	uint32_t task_call[ROWS_MAX], earliest[ROWS_MAX], latest[ROWS_MAX];
	uint32_t way[ROWS_MAX]; /* by task, in the current alignment */
	uint32_t agreed[ROWS_MAX];
	bool reached[ROWS_MAX]; /* some alignment gives the call a task */
	uint32_t ways;
};

static uint32_t draw(uint32_t below)
{
	static uint64_t random = 4711;

	random = random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random >> 33) % below;
}

static void begin(struct stream *stream, uint32_t calls, uint32_t tasks)
{
	*stream = (struct stream){ 0 };
	stream->alignment = (struct alignment){
		.calls = stream->calls,
		.tasks = stream->tasks,
		.call_count = calls,
		.task_count = tasks,
		.clock = { .error_ns = UINT64_MAX },
		.names = true,
		.task_call = stream->task_call,
		.earliest = stream->earliest,
		.latest = stream->latest,
	};
	for (uint32_t i = 0; i < ROWS_MAX; i++) {
		stream->calls[i] = (struct align_call){ .start_ns = 1000 + 100 * i,
							.done_ns = UINT64_MAX,
							.least = 1,
							.most = 1,
							.group = ALIGN_NONE };
		stream->tasks[i] = (struct align_task){ .start_ns = 1000 + 100 * i,
							.end_ns = 1050 + 100 * i };
		stream->agreed[i] = WAYS_UNKNOWN;
	}
}

static bool may(const struct stream *stream, uint32_t call, uint32_t task)
{
	const struct align_call *from = &stream->calls[call];
	const struct align_task *to = &stream->tasks[task];

	if (from->most == 1 &&
	    (from->copies != to->copies || (from->name && from->name != to->name)))
		return false;
	return stream->alignment.clock.error_ns == UINT64_MAX ||
	       (to->start_ns >= from->start_ns && to->end_ns <= from->done_ns);
}

static void agree(struct stream *stream)
{
	stream->ways++;
	for (uint32_t i = 0; i < stream->alignment.task_count; i++) {
		if (stream->way[i] != ALIGN_NONE)
			stream->reached[i] = true;
		if (stream->agreed[i] == WAYS_UNKNOWN)
			stream->agreed[i] = stream->way[i];
		else if (stream->agreed[i] != stream->way[i])
			stream->agreed[i] = ALIGN_UNSURE;
	}
}

/* Tries all alignments in which each call has a task, in order. */
static void try_calls(struct stream *stream, uint32_t call, uint32_t task)
{
	if (call == stream->alignment.call_count) {
		agree(stream);
		return;
	}
	for (; task < stream->alignment.task_count; task++) {
		if (!may(stream, call, task))
			continue;
		stream->way[task] = call;
		try_calls(stream, call + 1, task + 1);
		stream->way[task] = ALIGN_NONE;
	}
}

/* Tries all alignments in which each task has a call, in order. */
static void try_tasks(struct stream *stream, uint32_t task, uint32_t call)
{
	if (task == stream->alignment.task_count) {
		agree(stream);
		return;
	}
	for (; call < stream->alignment.call_count; call++) {
		if (!may(stream, call, task))
			continue;
		stream->way[task] = call;
		try_tasks(stream, task + 1, call + 1);
	}
}

/* Tries all alignments in which the calls divide all tasks, equally many for each call of a group. */
static void try_parts(struct stream *stream, uint32_t call, uint32_t task, uint32_t *size)
{
	const struct align_call *row = &stream->calls[call];

	if (call == stream->alignment.call_count) {
		if (task == stream->alignment.task_count)
			agree(stream);
		return;
	}
	for (uint32_t count = 0; task + count <= stream->alignment.task_count; count++) {
		uint32_t before = row->group == ALIGN_NONE ? 0 : size[row->group];

		if (count && !may(stream, call, task + count - 1))
			break;
		if (count)
			stream->way[task + count - 1] = call;
		if (count < row->least || count > row->most || (before && before != count))
			continue;
		if (row->group != ALIGN_NONE)
			size[row->group] = count;
		try_parts(stream, call + 1, task + count, size);
		if (row->group != ALIGN_NONE)
			size[row->group] = before;
	}
}

static void shuffle(struct stream *stream)
{
	uint32_t names = draw(4), wait;

	if (draw(2))
		stream->alignment.clock = (struct align_clock){ .error_ns = 0 };
	for (uint32_t i = 0; i < ROWS_MAX; i++) {
		stream->calls[i].name = names && draw(4) ? 1 + draw(names) : 0;
		stream->tasks[i].name = names ? 1 + draw(names) : 9;
		stream->calls[i].copies = !draw(5);
		stream->tasks[i].copies = !draw(5);
		stream->tasks[i].start_ns += draw(3) * 100;
		stream->tasks[i].end_ns = stream->tasks[i].start_ns + 50;
	}
	for (uint32_t i = 1; i < ROWS_MAX; i++) {
		if (stream->tasks[i].start_ns < stream->tasks[i - 1].start_ns)
			stream->tasks[i].start_ns = stream->tasks[i - 1].start_ns;
		stream->tasks[i].end_ns = stream->tasks[i].start_ns + 50;
	}
	wait = draw(ROWS_MAX);
	for (uint32_t i = 0; i < wait; i++)
		stream->calls[i].done_ns = 1500 + 100 * wait;
}

static void test_calls_lost(void **state)
{
	uint32_t ways = 0, none = 0, certain = 0, free = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t calls = 1 + draw(5), tasks = calls + 1 + draw(ROWS_MAX - calls - 1);
		struct stream stream;
		bool ok;

		begin(&stream, calls, tasks);
		shuffle(&stream);
		stream.alignment.calls_lost = true;
		for (uint32_t k = 0; k < tasks; k++)
			stream.way[k] = ALIGN_NONE;
		try_calls(&stream, 0, 0);
		ok = launch_align(&stream.alignment);
		assert_int_equal(ok, stream.ways > 0);
		ways += ok;
		none += !ok;
		for (uint32_t k = 0; ok && k < tasks; k++) {
			/* A certain call is returned; a call that may have tasks is not reported to have none. */
			if (stream.agreed[k] < ALIGN_UNSURE)
				assert_int_equal(stream.task_call[k], stream.agreed[k]);
			else
				assert_true(stream.task_call[k] >= ALIGN_UNSURE);
			if (stream.reached[k])
				assert_int_not_equal(stream.task_call[k], ALIGN_NONE);
			certain += stream.task_call[k] < ALIGN_UNSURE;
			free += stream.task_call[k] == ALIGN_NONE;
		}
	}
	assert_true(ways > 1000 && none > 1000 && certain > 1000 && free > 1000);
}

static void test_tasks_lost(void **state)
{
	uint32_t ways = 0, none = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t tasks = 1 + draw(5), calls = tasks + 1 + draw(ROWS_MAX - tasks - 1);
		struct stream stream;
		bool ok;

		begin(&stream, calls, tasks);
		shuffle(&stream);
		stream.alignment.whole = true;
		stream.alignment.tasks_lost = draw(2);
		try_tasks(&stream, 0, 0);
		ok = launch_align(&stream.alignment);
		assert_int_equal(ok, stream.ways > 0);
		ways += ok;
		none += !ok;
		for (uint32_t k = 0; ok && k < tasks; k++)
			assert_int_equal(stream.task_call[k], stream.agreed[k]);
	}
	assert_true(ways > 1000 && none > 1000);
}

/* If records of both sides may be missing, or no alignment fits, no call is returned. */
static void test_both_lost(void **state)
{
	struct stream stream;

	for (int more_tasks = 0; more_tasks < 2; more_tasks++) {
		begin(&stream, 4 - more_tasks, 3 + more_tasks);
		stream.alignment.calls_lost = stream.alignment.tasks_lost = true;
		assert_false(launch_align(&stream.alignment));
	}
	begin(&stream, 3, 4);
	stream.alignment.whole = true;
	assert_false(launch_align(&stream.alignment));
	begin(&stream, 4, 3);
	assert_false(launch_align(&stream.alignment));
	begin(&stream, 3, 3);
	stream.calls[1].copies = true;
	assert_false(launch_align(&stream.alignment));
}

static void test_parts(void **state)
{
	uint32_t ways = 0, told = 0, untold = 0;

	for (int i = 0; i < 20000; i++) {
		uint32_t calls = 1 + draw(4), tasks = calls + 1 + draw(ROWS_MAX - calls - 1);
		uint32_t size[2] = { 0 };
		struct stream stream;
		bool ok, several = false;

		begin(&stream, calls, tasks);
		shuffle(&stream);
		stream.alignment.whole = true;
		for (uint32_t k = 0; k < calls; k++) {
			stream.calls[k].most = draw(2) ? ALIGN_MANY : 1;
			stream.calls[k].group = stream.calls[k].most == 1 ? ALIGN_NONE : draw(2);
			if (stream.calls[k].group == 1)
				stream.calls[k].least = 0;
			if (stream.calls[k].least == 0)
				stream.calls[k].group = ALIGN_NONE;
			several |= stream.calls[k].most > 1;
		}
		try_parts(&stream, 0, 0, size);
		ok = launch_align(&stream.alignment);
		ways += stream.ways > 0;
		/* The function may miss that no alignment exists; its result has to hold in all existing ones. */
		assert_true(ok || !several || !stream.ways);
		for (uint32_t k = 0; ok && stream.ways && k < tasks; k++) {
			if (stream.task_call[k] < ALIGN_UNSURE)
				assert_int_equal(stream.task_call[k], stream.agreed[k]);
			assert_int_not_equal(stream.task_call[k], ALIGN_NONE);
			told += stream.task_call[k] < ALIGN_UNSURE;
			untold += stream.task_call[k] >= ALIGN_UNSURE &&
				  stream.agreed[k] < ALIGN_UNSURE;
		}
	}
	print_message("%u streams: %u tasks told, %u that could have been, too\n", ways, told, untold);
	assert_true(ways > 1000 && told > 20 * untold);
}

/* A graph of three kernels, twice, between single kernels. */
static void test_graph(void **state)
{
	static const uint32_t expected[] = { 0, 1, 1, 1, 2, 3, 3, 3 };
	struct stream stream;

	begin(&stream, 4, 8);
	stream.alignment.whole = true;
	stream.calls[1].most = stream.calls[3].most = ALIGN_MANY;
	stream.calls[1].group = stream.calls[3].group = 0;
	assert_true(launch_align(&stream.alignment));
	assert_memory_equal(stream.task_call, expected, sizeof(expected));
	/* Nine tasks cannot be two of each. */
	begin(&stream, 4, 9);
	stream.alignment.whole = true;
	stream.calls[1].most = stream.calls[3].most = ALIGN_MANY;
	stream.calls[1].group = stream.calls[3].group = 0;
	assert_false(launch_align(&stream.alignment));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_lost), cmocka_unit_test(test_tasks_lost),
		cmocka_unit_test(test_both_lost),  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
