/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of calls outside of the kept part gives the same results as the calls themselves. The calls are random:
 * nested, on several threads and streams, in order, or out of order where threads move between CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/device_bounds.h"
#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/launch/launch_counts.h"
#include "analyzer/join/launch/launches.h"
#include "analyzer/join/thread/timelines.h"
#include "analyzer/load/load_pbt.h"
#include "tests/unit/trace_builder.h"

#define START 1000000000ull
#define LASTED 40000000ull
#define THREADS 3
#define CPUS 3
#define CALLS_MAX 8192
#define CHUNK 2000000ull /* the daemon writes its batches each second */
#define ROUNDS 40

enum { LAUNCH = 1, INNER, COPY, WAIT, WAIT_ALL, REDUCE, RANGE, FUNCTIONS };

static uint64_t chance = 1;

static uint32_t any(uint32_t below)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407ull;
	return (uint32_t)(chance >> 33) % below;
}

static struct trace_call_row calls[CALLS_MAX];
static char path[] = "/tmp/test_call_digest.XXXXXX";
static uint32_t call_count, moves; /* one in @moves calls ends on another CPU than it began; 0 = none */

static void add_functions(struct trace_builder *b)
{
	static const struct trace_function ROWS[] = {
		{ .id = LAUNCH, .name = "cudaLaunchKernel", .kind = PROFBPF__FUNCTION__KIND__LAUNCH },
		{ .id = INNER, .name = "cuLaunchKernel", .kind = PROFBPF__FUNCTION__KIND__LAUNCH },
		{ .id = COPY, .name = "cudaMemcpy", .kind = PROFBPF__FUNCTION__KIND__COPY },
		{ .id = WAIT, .name = "cudaStreamSynchronize", .kind = PROFBPF__FUNCTION__KIND__SYNC },
		{ .id = WAIT_ALL, .name = "cudaDeviceSynchronize", .kind = PROFBPF__FUNCTION__KIND__SYNC },
		{ .id = REDUCE, .name = "ncclAllReduce", .kind = PROFBPF__FUNCTION__KIND__COLLECTIVE },
		{ .id = RANGE, .name = "run", .kind = PROFBPF__FUNCTION__KIND__OTHER },
	};

	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		struct trace_function row = ROWS[i];

		row.runtime = row.family = row.id == REDUCE ? "nccl" : row.id == RANGE ? "app" : "cuda";
		row.error = PROFBPF__FUNCTION__ERROR__NONZERO;
		if (row.id != WAIT_ALL && row.id != RANGE)
			row.roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
		trace_function(b, &row);
	}
}

/* Adds a call after the calls nested in it. Returns its end. */
static uint64_t add_call(uint32_t thread, uint32_t depth, uint64_t start_ns)
{
	struct trace_call_row row = { .cpu = thread % CPUS,
				      .tid = 100 + thread,
				      .tgid = 100,
				      .function = 1 + any(FUNCTIONS - 1),
				      .depth = depth,
				      .start_ns = start_ns,
				      .ret = any(20) == 0 };
	uint64_t now_ns = start_ns + 100 + any(20000);

	row.args[0] = any(3);
	row.args[1] = any(1000);
	for (uint32_t i = depth < 3 ? any(3) : 0; i > 0; i--)
		now_ns = add_call(thread, depth + 1, now_ns) + 1 + any(1000);
	row.end_ns = now_ns + any(5000);
	if (moves && any(moves) == 0)
		row.cpu = any(CPUS);
	assert_true(call_count < CALLS_MAX);
	calls[call_count++] = row;
	return row.end_ns;
}

static int by_end(const void *a, const void *b)
{
	const struct trace_call_row *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

/* Writes batches per CPU and time span, in the order of the calls' ends. */
static void write_trace(void)
{
	const uint32_t target = 100;
	struct trace_builder *b = trace_builder_new();

	trace_segment(b, &(struct trace_segment){
				 .start_ns = START, .targets = &target, .target_count = 1 });
	for (uint32_t t = 0; t < THREADS; t++)
		trace_task(b, &(struct trace_task_row){ .ts_ns = START,
							.tid = 100 + t,
							.tgid = 100,
							.start_ns = START - 1,
							.name = "job",
							.flags = PROFBPF__TASKS__FLAG__TARGET });
	add_functions(b);
	call_count = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		for (uint64_t ns = START + any(1000); ns < START + LASTED;)
			ns = add_call(t, 0, ns) + any(t ? 400000 : 100000);
	qsort(calls, call_count, sizeof(calls[0]), by_end);
	for (uint64_t ns = START; ns < START + 2 * LASTED; ns += CHUNK)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (uint32_t i = 0; i < call_count; i++)
				if (calls[i].cpu == cpu && calls[i].end_ns >= ns &&
				    calls[i].end_ns < ns + CHUNK)
					trace_call(b, &calls[i]);
	trace_write(b, path);
	trace_builder_free(b);
}

static struct model *load(bool part, uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = model_new();
	struct loader *loader = loader_new(model);
	char error[256] = "";

	loader_choose(loader, LOAD_ALL);
	if (part) {
		loader_choose_part(loader, from_ns, to_ns, 1000);
		loader_digest(loader, false);
	}
	assert_int_equal(load_pbt(loader, path, error, sizeof(error)), 0);
	assert_int_equal(load_finish(loader, error, sizeof(error)), 0);
	assert_int_equal(timelines_build(model), 0);
	loader_free(loader);
	return model;
}

static struct device_bounds bounds_of(const struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	struct walker *walker = walker_new(model);
	struct device_bounds bounds;

	assert_int_equal(device_bounds_find(model, walker, NULL, START + from_ns, START + to_ns,
					    &bounds), 0);
	walker_free(walker);
	return bounds;
}

/* Totals of all rounds. */
static uint32_t unsure_rows, counted, settled, known, idle;

static void compare_launches(struct model *whole, struct model *part)
{
	struct launch_join all, few;

	assert_int_equal(launches_join(whole, &all), 0);
	assert_int_equal(launches_join(part, &few), 0);
	if (!launches_counted(part)) {
		assert_true(few.launches <= all.launches);
		return;
	}
	counted++;
	assert_int_equal(few.launches, all.launches);
	assert_int_equal(few.failed_launches, all.failed_launches);
	assert_int_equal(few.unprofiled_launches, all.unprofiled_launches);
}

static void compare_threads(const struct model *whole, const struct model *part)
{
	uint64_t *all = launch_counts(whole), *few = launch_counts(part), sum = 0, few_sum = 0;

	for (uint32_t t = 0; t < THREADS; t++) {
		assert_true(few[t] <= all[t]);
		sum += all[t];
		few_sum += few[t];
	}
	if (launch_counts_settled(part))
		for (uint32_t t = 0; t < THREADS; t++)
			assert_int_equal(launches_submit(few[t], few_sum),
					 launches_submit(all[t], sum));
	free(all);
	free(few);
}

static void compare(uint64_t from_ns, uint64_t to_ns)
{
	struct model *whole = load(false, 0, 0), *part = load(true, from_ns, to_ns);
	struct device_bounds all = bounds_of(whole, from_ns, to_ns),
			     few = bounds_of(part, from_ns, to_ns);

	assert_int_equal(whole->calls.count, call_count);
	assert_true(part->calls.count < call_count / 2);
	assert_false(part->survey.too_many);
	for (uint32_t i = 0; i < part->counted_calls.count; i++)
		unsure_rows += part->counted_calls.row[i].unsure;
	compare_launches(whole, part);
	compare_threads(whole, part);
	if (device_bounds_settled(part)) {
		settled++;
		known += all.known;
		idle += all.at_most_percent < 100;
		assert_int_equal(few.known, all.known);
		assert_true(few.at_most_percent == all.at_most_percent);
		assert_true(few.at_least_percent == all.at_least_percent);
	}
	model_free(whole);
	model_free(part);
}

static void run(uint32_t one_in)
{
	unsure_rows = counted = settled = known = idle = 0;
	moves = one_in;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t from_ns = any(LASTED * 9 / 10);

		write_trace();
		compare(from_ns, from_ns + 1 + any(LASTED / 20));
	}
}

static void in_order_nothing_is_unsure(void **state)
{
	(void)state;
	run(0);
	assert_int_equal(unsure_rows, 0);
	assert_int_equal(counted, ROUNDS);
	assert_int_equal(settled, ROUNDS);
	assert_int_equal(known, ROUNDS);
	assert_true(idle > 0);
}

static void what_is_unsure_is_told(void **state)
{
	(void)state;
	run(10);
	assert_true(unsure_rows > 0);
	assert_true(counted < ROUNDS);
	assert_true(settled > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_nothing_is_unsure),
		cmocka_unit_test(what_is_unsure_is_told),
	};

	int failed;

	close(mkstemp(path));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
