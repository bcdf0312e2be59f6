/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators' cost to one step: the operator that a fetch waits for, and the trainer's time after it, on both
 * sides of each limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/step_blame.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define FUTEX 202
#define NANOSLEEP 35

/* The trainer fetches from 10 to 20 ms; the step ends at 100 ms. */
struct fixture {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	struct step_blame *blame;
	uint32_t process, trainer, worker, third, outsider;
};

static void begin(struct fixture *f, uint32_t operators)
{
	*f = (struct fixture){ .model = small_model(0, 1000 * MS) };
	f->process = small_process(f->model, 10, "python", true);
	f->trainer = small_thread(f->model, f->process, 10, "trainer");
	f->worker = small_thread(f->model, f->process, 11, "worker");
	f->third = small_thread(f->model, f->process, 12, "third");
	f->outsider = small_thread(f->model, small_process(f->model, 20, "other", false), 20, "outsider");
	f->pipeline = pipeline_add(&f->pipelines, "test", f->process);
	for (uint32_t i = 0; i < operators; i++)
		pipeline_operator_add(f->model, f->pipeline, (int32_t)i, "op", "op");
}

static void queue(struct fixture *f, uint32_t from, uint32_t to)
{
	assert_true(MODEL_PUSH(&f->pipeline->queues, ((struct pipeline_queue){ .from = from, .to = to })));
}

static void edge(struct fixture *f, uint32_t from, uint32_t to)
{
	assert_true(MODEL_PUSH(&f->pipeline->edges, ((struct pipeline_edge){ .from = from, .to = to })));
}

static void work(struct fixture *f, uint32_t op, uint64_t ms)
{
	assert_true(MODEL_PUSH(&f->pipeline->works, ((struct pipeline_work){ .op = op, .end_ns = ms * MS })));
}

static void works_for(struct fixture *f, uint32_t thread, uint32_t op, bool descendant)
{
	assert_true(MODEL_PUSH(&f->pipeline->threads, ((struct pipeline_thread){ .thread = thread, .op = op,
										 .descendant = descendant })));
}

static void size(struct fixture *f, uint32_t of, uint64_t ts_ns, int32_t elements)
{
	assert_true(MODEL_PUSH(&f->pipeline->queue_events,
			       ((struct pipeline_queue_event){ .start_ns = ts_ns, .end_ns = ts_ns, .queue = of, .size = elements })));
}

static void find(struct fixture *f)
{
	const struct pipeline_fetch fetch = { .start_ns = 10 * MS, .end_ns = 20 * MS, .thread = f->trainer };

	small_index(f->model);
	f->blame = step_blame_new(f->model, f->pipeline);
	assert_non_null(f->blame);
	step_blame_find(f->blame, &fetch, 100 * MS);
}

static void end(struct fixture *f)
{
	step_blame_free(f->blame);
	pipelines_free(&f->pipelines);
	model_free(f->model);
}

/* Checks that the fetch, which took 10 ms, waited for this operator and for no other. */
static void expect_wait(struct fixture *f, uint32_t op, size_t what)
{
	find(f);
	for (uint32_t i = 0; i < f->pipeline->operators.count; i++)
		if (f->blame->costs[i].wait_ns != (i == op ? 10 * MS : 0))
			fail_msg("case %zu: operator %u", what, i);
	end(f);
}

/* Operator 0 passes elements to the trainer; 1 and 2 are below it, and work for 9 and 5 ms. */
static void three(struct fixture *f)
{
	begin(f, 3);
	queue(f, 0, INDEX_NONE);
	work(f, 1, 9);
	work(f, 2, 5);
}

/*
 * An edge without a queue between the two is a call: the callee's work is part of the caller's; the one with the
 * longest work is responsible.
 */
static void called(void **state)
{
	enum { NO_QUEUE, ITS_QUEUE, SAME_FROM, SAME_TO, BEHIND, EDGE_BEHIND, SELF, AS_LONG, NESTED };
	static const uint32_t OP[] = { [NO_QUEUE] = 1, [ITS_QUEUE] = 2, [SAME_FROM] = 1,   [SAME_TO] = 1, [BEHIND] = 1,
				       [EDGE_BEHIND] = 2, [SELF] = 1,  [AS_LONG] = 0, [NESTED] = 1 };

	(void)state;
	for (int what = NO_QUEUE; what <= NESTED; what++) {
		struct fixture f;

		three(&f);
		if (what == SELF)
			edge(&f, 0, 0);
		if (what == AS_LONG)
			work(&f, 0, 9);
		if (what == ITS_QUEUE)
			queue(&f, 1, 0);
		if (what == SAME_FROM)
			queue(&f, 1, 2);
		if (what == SAME_TO)
			queue(&f, 2, 0);
		if (what == BEHIND) {
			queue(&f, 1, 0);
			f.pipeline->queues.count--;
		}
		edge(&f, 2, 0);
		edge(&f, 1, what == NESTED ? 2 : 0);
		if (what == EDGE_BEHIND)
			f.pipeline->edges.count--;
		expect_wait(&f, OP[what], (size_t)what);
	}
}

/* A deeper chain than the limit: the walk ends after a thousand operators, and so do circles. */
static void deep(void **state)
{
	for (uint32_t count = 1000; count <= 1002; count++) {
		struct fixture f;

		(void)state;
		begin(&f, count);
		for (uint32_t op = 0; op < count; op++) {
			queue(&f, op, op ? op - 1 : INDEX_NONE);
			size(&f, op, MS, 0);
		}
		expect_wait(&f, count < 1001 ? count - 1 : 1000, count);
	}
	struct fixture f;

	begin(&f, 2);
	queue(&f, 0, INDEX_NONE);
	queue(&f, 1, 0);
	queue(&f, 0, 1);
	for (uint32_t q = 1; q < 3; q++)
		size(&f, q, MS, 0);
	expect_wait(&f, 0, 0);
}

/* A queue's size is that after the last event that ended by the middle of the fetch, at 15 ms. */
static void sizes(void **state)
{
	static const struct {
		uint64_t ts_ns;
		uint32_t op;
	} CASES[] = { { 15 * MS, 1 }, { 15 * MS + 1, 0 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture f;

		begin(&f, 2);
		queue(&f, 0, INDEX_NONE);
		queue(&f, 1, 0);
		size(&f, 0, MS, 5);
		size(&f, 1, MS, 3);
		size(&f, 1, CASES[i].ts_ns, 0);
		expect_wait(&f, CASES[i].op, i);
	}
}

/*
 * An operator that only passes elements on, whose input is not recorded, is skipped if its thread slept for more than
 * half of the fetch.
 */
static void hands_on(void **state)
{
	enum { MORE, HALF, NO_HANDS, OTHERS, HELPER, BEHIND, NEXT_THREAD, NO_TIMELINES, QUEUE_BEHIND, BEFORE };
	static const uint32_t OP[] = { [MORE] = 1,   [HALF] = 0,	[NO_HANDS] = 0,	    [OTHERS] = 0, [HELPER] = 0,
				       [BEHIND] = 0, [NEXT_THREAD] = 0, [NO_TIMELINES] = 0,
				       [QUEUE_BEHIND] = 0, [BEFORE] = 0 };

	(void)state;
	for (int what = MORE; what <= BEFORE; what++) {
		uint64_t slept_ns = what == HALF ? 5 * MS : 5 * MS + 1;
		struct fixture f;

		begin(&f, 2);
		queue(&f, 0, INDEX_NONE);
		queue(&f, 1, 0);
		f.pipeline->operators.row[0].hands_on = what != NO_HANDS;
		works_for(&f, what == NO_TIMELINES ? f.trainer : f.worker, what == OTHERS, what == HELPER);
		if (what == BEHIND)
			f.pipeline->threads.count--;
		if (what == QUEUE_BEHIND)
			f.pipeline->queues.count--;
		if (what == BEFORE)
			small_span(f.model, f.worker, 0, 10 * MS, STATE_SLEEP);
		if (what == NEXT_THREAD) {
			small_span(f.model, f.worker, 0, 12 * MS, STATE_RUNNING);
			small_span(f.model, f.third, 0, 20 * MS, STATE_SLEEP);
		} else {
			small_span(f.model, f.worker, what == BEFORE ? 10 * MS : 0, 10 * MS + (what == BEFORE), STATE_RUNNING);
			small_span(f.model, f.worker, 10 * MS + (what == BEFORE),
				   10 * MS + (what == BEFORE ? 5 * MS : slept_ns), STATE_SLEEP);
			small_span(f.model, f.worker, 10 * MS + (what == BEFORE ? 5 * MS : slept_ns), 20 * MS, STATE_RUNNING);
			small_span(f.model, f.worker, 20 * MS, 30 * MS, STATE_SLEEP);
		}
		if (what == NO_TIMELINES) {
			f.model->timelines.count = 0;
			free(f.model->timelines.row);
			f.model->timelines.row = NULL;
			f.model->timelines.capacity = 0;
		}
		expect_wait(&f, OP[what], (size_t)what);
	}
}

/* An operator that feeds a device passes nothing to the trainer. */
static void device_queue(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	queue(&f, 0, INDEX_NONE);
	f.pipeline->queues.row[0].to_device = true;
	queue(&f, 1, INDEX_NONE);
	expect_wait(&f, 1, 0);
}

/* Asleep until another thread wakes it, ready while another one runs: in the step, after the fetch. */
static void trainer(void **state)
{
	enum { PYTHON, NO_PYTHON, SLICES, SHORT_RUN, LONG_RUN, OWN_SLEEP, OUTSIDER, OPERATOR_RUNS, OTHER_RUNS, ITSELF, NOBODY, LATE,
	       WORKER_PROCESS };
	static const struct {
		int what;
		uint64_t lock_ns, cpu_ns, other_ns;
	} CASES[] = {
		{ PYTHON, 2 * MS, 0, 0 },    { NO_PYTHON, 0, 0, 0 },
		{ SLICES, 7 * MS, 0, 0 },    { SHORT_RUN, 7 * MS, 0, 0 },
		{ LONG_RUN, 2 * MS, 0, 0 },  { OWN_SLEEP, 2 * MS, 0, 0 },
		{ OUTSIDER, 0, 0, 0 },	     { OPERATOR_RUNS, 2 * MS, 3 * MS, 0 },
		{ OTHER_RUNS, 2 * MS, 0, 3 * MS }, { ITSELF, 2 * MS, 0, 0 },
		{ NOBODY, 2 * MS, 0, 0 },    { LATE, 0, 0, 0 },
		{ WORKER_PROCESS, 0, 0, 0 }, /* it has an interpreter of its own: it ended, for example */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		int what = CASES[i].what;
		uint64_t now_ns = what == LATE ? 100 * MS : 50 * MS;
		uint64_t ran_ns = what == SHORT_RUN ? MS : what == LONG_RUN ? MS + 1 : MS / 10;
		struct fixture f;

		begin(&f, 1);
		f.pipeline->operators.row[0].python = what != NO_PYTHON;
		works_for(&f, what == WORKER_PROCESS ? f.outsider : f.worker, 0, false);
		small_span(f.model, f.trainer, 0, now_ns, STATE_RUNNING);
		if (what == SLICES || what == SHORT_RUN || what == LONG_RUN || what == OWN_SLEEP) {
			small_sleep(f.model, f.trainer, now_ns, now_ns + 5 * MS, what == OWN_SLEEP ? NANOSLEEP : FUTEX, INDEX_NONE,
				    SPAN_WOKEN_TIMER);
			small_span(f.model, f.trainer, now_ns + 5 * MS, now_ns + 5 * MS + ran_ns, STATE_RUNNING);
			now_ns += 5 * MS + ran_ns;
		}
		small_sleep(f.model, f.trainer, now_ns, now_ns + 2 * MS, FUTEX, 
			    what == OUTSIDER || what == WORKER_PROCESS ? f.outsider : f.worker, 0);
		if (what >= OPERATOR_RUNS && what <= NOBODY)
			small_span(f.model, f.trainer, now_ns + 2 * MS, now_ns + 5 * MS, STATE_RUNNABLE)->other =
				what == OPERATOR_RUNS ? f.worker
				: what == OTHER_RUNS  ? f.outsider
				: what == ITSELF      ? f.trainer
						      : INDEX_NONE;
		find(&f);
		if (f.blame->costs[0].lock_ns != CASES[i].lock_ns || f.blame->costs[0].cpu_ns != CASES[i].cpu_ns ||
		    f.blame->other_cpu_ns != CASES[i].other_ns)
			fail_msg("case %zu: %llu ns lock, %llu ns cpu, %llu ns others", i,
				 (unsigned long long)f.blame->costs[0].lock_ns, (unsigned long long)f.blame->costs[0].cpu_ns,
				 (unsigned long long)f.blame->other_cpu_ns);
		end(&f);
	}
}

/* After the trainer's last span the array continues with another thread's; without spans there is no result. */
static void trainer_ends(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	f.pipeline->operators.row[0].python = true;
	works_for(&f, f.worker, 0, false);
	small_span(f.model, f.trainer, 0, 40 * MS, STATE_RUNNING);
	small_sleep(f.model, f.third, 30 * MS, 90 * MS, FUTEX, f.worker, 0);
	find(&f);
	assert_int_equal(f.blame->costs[0].lock_ns, 0);
	step_blame_free(f.blame);
	free(f.model->timelines.row);
	f.model->timelines.row = NULL;
	f.model->timelines.count = f.model->timelines.capacity = 0;
	find(&f);
	assert_int_equal(f.blame->costs[0].lock_ns, 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(called),	cmocka_unit_test(deep),	   cmocka_unit_test(sizes),
		cmocka_unit_test(hands_on),	cmocka_unit_test(device_queue), cmocka_unit_test(trainer),
		cmocka_unit_test(trainer_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
