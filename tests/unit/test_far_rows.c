/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of switches and wake-ups outside of a part of the time does not depend on the size of batches: random
 * rows are read one by one, in batches, and in batches that reach into the part.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/load/load_pbt.h"
#include "tests/unit/trace_builder.h"

#define START 1000000000ull
#define LASTED 10000000ull
#define FROM 4000000ull
#define TO 4500000ull
#define MARGIN 1000
#define CPUS 2
#define ROWS 1600 /* per CPU */
#define BATCH_MAX 400
#define ROUNDS 16
#define MANY 1500 /* threads: the digest looks at more than one batch of them */

static char path[] = "/tmp/test_far_rows.XXXXXX";
static uint64_t chance;

static uint32_t any(uint32_t below)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407ull;
	return (uint32_t)(chance >> 33) % below;
}

static struct trace_switch_row switches[CPUS][ROWS];
static struct trace_wake_row wakes[CPUS][ROWS];

static void make_rows(uint32_t threads)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t ts_ns = START;
		uint32_t next_tid = 0;

		for (uint32_t i = 0; i < ROWS; i++) {
			ts_ns += any(8) ? any((uint32_t)(2 * LASTED / ROWS)) : 0;
			switches[cpu][i] = (struct trace_switch_row){
				.cpu = cpu, .ts_ns = ts_ns, .prev_tid = any(9) ? next_tid : any(threads),
				.next_tid = any(threads), .state = any(4), .syscall = (int32_t)any(300) - 1,
				.flags = any(16)
			};
			next_tid = switches[cpu][i].next_tid;
			wakes[cpu][i] = (struct trace_wake_row){
				.cpu = cpu, .ts_ns = ts_ns + any(3), .waker_tid = any(threads),
				.tid = any(threads) + (any(50) > 0), .target_cpu = any(CPUS), .flags = any(8)
			};
			ts_ns = wakes[cpu][i].ts_ns;
		}
	}
}

/* For every other thread there is only a call, so that its first row shows that it existed before. */
static void add_threads(struct trace_builder *b)
{
	trace_function(b, &(struct trace_function){ .id = 1, .name = "call" });
	for (uint32_t tid = 1; tid <= MANY; tid++) {
		if (tid % 2)
			trace_target(b, START, 1, tid, "job");
		else
			trace_call(b, &(struct trace_call_row){ .start_ns = START + FROM,
								.end_ns = START + TO,
								.tid = tid,
								.tgid = 1,
								.function = 1 });
	}
}

/* A batch has at most @batch rows. */
static void write_rows(uint32_t batch)
{
	struct trace_builder *b = trace_builder_new();
	size_t size;

	trace_segment(b, &(struct trace_segment){ .start_ns = START });
	for (uint32_t first = 0; first < ROWS; first += BATCH_MAX) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			for (uint32_t i = first; i < first + BATCH_MAX; i++) {
				trace_switch(b, &switches[cpu][i]);
				if (i % batch == batch - 1)
					trace_bytes(b, &size);
			}
			for (uint32_t i = first; i < first + BATCH_MAX; i++) {
				trace_wake(b, &wakes[cpu][i]);
				if (i % batch == batch - 1)
					trace_bytes(b, &size);
			}
		}
	}
	add_threads(b);
	trace_write(b, path);
	trace_builder_free(b);
}

static struct model *load(uint32_t batch)
{
	struct model *model = model_new();
	struct loader *loader = loader_new(model);
	char error[256] = "";

	write_rows(batch);
	loader_choose(loader, LOAD_ALL);
	loader_choose_part(loader, FROM, TO, MARGIN);
	assert_int_equal(load_pbt(loader, path, error, sizeof(error)), 0);
	assert_int_equal(load_finish(loader, error, sizeof(error)), 0);
	loader_free(loader);
	return model;
}

static void compare_wakes(const struct model *a, const struct model *b)
{
	assert_int_equal(a->wakes.count, b->wakes.count);
	for (uint32_t i = 0; i < a->wakes.count; i++) {
		const struct wake *x = &a->wakes.row[i], *y = &b->wakes.row[i];

		assert_int_equal(x->ts_ns, y->ts_ns);
		assert_int_equal(x->thread, y->thread);
		assert_int_equal(x->waker_tid, y->waker_tid);
		assert_int_equal(x->target_cpu, y->target_cpu);
		assert_int_equal(x->flags, y->flags);
		assert_int_equal(x->cpu, y->cpu);
	}
}

static void compare_switches(const struct model *a, const struct model *b)
{
	assert_int_equal(a->switches.count, b->switches.count);
	for (uint32_t i = 0; i < a->switches.count; i++) {
		const struct cpu_switch *x = &a->switches.row[i], *y = &b->switches.row[i];

		assert_int_equal(x->ts_ns, y->ts_ns);
		assert_int_equal(x->prev_tid, y->prev_tid);
		assert_int_equal(x->next_tid, y->next_tid);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->syscall, y->syscall);
		assert_int_equal(x->flags, y->flags);
		assert_int_equal(x->cpu, y->cpu);
	}
}

static void compare(const struct model *a, const struct model *b)
{
	compare_switches(a, b);
	compare_wakes(a, b);
	assert_int_equal(a->survey.switches, b->survey.switches);
	assert_int_equal(a->survey.switches_missing, b->survey.switches_missing);
	assert_int_equal(a->survey.wakes, b->survey.wakes);
	assert_int_equal(a->bad_rows, b->bad_rows);
	assert_int_equal(a->info.session_end_ns, b->info.session_end_ns);
	assert_int_equal(a->threads.count, b->threads.count);
	for (uint32_t i = 0; i < a->threads.count; i++) {
		assert_int_equal(a->threads.row[i].tid, b->threads.row[i].tid);
		assert_int_equal(a->threads.row[i].first_ns, b->threads.row[i].first_ns);
		assert_int_equal(a->threads.row[i].last_ns, b->threads.row[i].last_ns);
	}
}

static void compare_batches(uint32_t threads)
{
	static const uint32_t BATCHES[] = { 2, 7, 50, BATCH_MAX };
	struct model *alone, *together;

	make_rows(threads);
	alone = load(1);
	assert_true(alone->survey.switches_missing > 0);
	assert_true(alone->survey.switches > 0);
	for (size_t i = 0; i < sizeof(BATCHES) / sizeof(BATCHES[0]); i++) {
		together = load(BATCHES[i]);
		compare(alone, together);
		model_free(together);
	}
	model_free(alone);
}

static void batches_tell_what_rows_tell(void **state)
{
	(void)state;
	for (chance = 1; chance < ROUNDS; chance++) {
		uint64_t round = chance;

		compare_batches(2 + any(9));
		chance = round;
	}
}

static void many_threads_are_told(void **state)
{
	(void)state;
	chance = 1;
	compare_batches(MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_tell_what_rows_tell),
		cmocka_unit_test(many_threads_are_told),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
