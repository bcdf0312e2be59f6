/* SPDX-License-Identifier: Apache-2.0 */
/* The live view of a data pipeline: from roles and calls of a stream to operators and their queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/live/live_pipeline.h"
#include "daemon/profctl/top/top_calls.h"

#define MS 1000000ull
#define POP 1
#define PUSH 2
#define HANDLE 0x70

static void describe(struct live_pipeline *p, uint32_t id, const char *symbol)
{
	Profbpf__Function__Role roles[] = { PROFBPF__FUNCTION__ROLE__HANDLE,
					    PROFBPF__FUNCTION__ROLE__VALUE,
					    PROFBPF__FUNCTION__ROLE__COUNT };
	Profbpf__Function function = PROFBPF__FUNCTION__INIT;

	function.id = id;
	function.name = (char *)symbol;
	function.roles = roles;
	function.n_roles = 3;
	live_pipeline_function(p, &function);
}

static struct pbt_packet packed(uint8_t *body, size_t size)
{
	return (struct pbt_packet){ .body = body, .size = size };
}

static void tell_roles(struct live_pipeline *p, const uint64_t trees[3])
{
	Profbpf__ThreadRoles roles = PROFBPF__THREAD_ROLES__INIT;
	uint32_t tids[] = { 11, 12, 13 };
	int32_t ids[] = { 1, 1, -1 };
	char *names[] = { (char *)"MapOp::WorkerEntry", (char *)"MapOp(ID:1)", (char *)"Watchdog" };
	uint8_t body[256];
	struct pbt_packet packet;

	roles.framework = (char *)"MindData";
	roles.tgid = 7;
	roles.n_tid = roles.n_operator_id = roles.n_name = 3;
	roles.tid = tids;
	roles.operator_id = ids;
	roles.name = names;
	roles.n_tree = 3;
	roles.tree = (uint64_t *)trees;
	packet = packed(body, profbpf__thread_roles__pack(&roles, body));
	live_pipeline_roles(p, packet.body, packet.size);
}

/* One thread of another process. */
static void tell_roles_of(struct live_pipeline *p, uint32_t pid, uint32_t tid)
{
	Profbpf__ThreadRoles roles = PROFBPF__THREAD_ROLES__INIT;
	char *name = (char *)"MapOp(ID:1)";
	uint64_t tree = 0x9000;
	uint8_t body[128];
	int32_t id = 1;

	roles.framework = (char *)"MindData";
	roles.tgid = pid;
	roles.n_tid = roles.n_operator_id = roles.n_name = roles.n_tree = 1;
	roles.tid = &tid;
	roles.operator_id = &id;
	roles.name = &name;
	roles.tree = &tree;
	live_pipeline_roles(p, body, profbpf__thread_roles__pack(&roles, body));
}

struct counted {
	struct live_pipeline *pipeline;
	uint32_t calls;
	uint64_t ns;
};

static void count(void *context, const struct live_called *call, uint32_t text)
{
	struct counted *counted = context;

	assert_int_equal(call->pid, 7);
	assert_true(call->function == POP || call->function == PUSH || call->function == 3);
	counted->calls++;
	counted->ns += call->dur_ns;
	live_pipeline_call(counted->pipeline, call);
}

/*
 * Shapes: push, pop, another function's call. At 100 ms a pop has waited 50 ms; pushes at 200 and 300,
 * a pop at 400 ms. The first pop took the fourth of all elements.
 */
static Profbpf__Calls calls(void)
{
	static int64_t end_ns[] = { 100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS };
	static uint64_t dur_ns[] = { 50 * MS, 10, 10, 10, 10 };
	static uint32_t shape[] = { 0, 0, 2, 1, 0 };
	static int32_t tid[] = { 1, 10, 0 }, tgid[] = { 7, 0, 0 };
	static uint32_t function[] = { POP, PUSH, 3 };
	/* Handle, then operator 1 with room for 4, or the row's flags; the number of earlier elements. */
	static int64_t values[] = { HANDLE, (1ll << 32 | 4) - HANDLE, 3 - (1ll << 32 | 4), 1, 1 };
	static uint32_t value0[] = { 1, 2, 2, 2, 0 }, value1[] = { 1, 0, 0, 3, 0 };
	static uint32_t value2[] = { 1, 1, 1, 5, 0 };
	Profbpf__Calls m = PROFBPF__CALLS__INIT;

	m.n_end_ns = m.n_dur_ns = m.n_shape = m.n_value0 = m.n_value1 = m.n_value2 = 5;
	m.end_ns = end_ns;
	m.dur_ns = dur_ns;
	m.shape = shape;
	m.n_tid = m.n_tgid = m.n_function = 3;
	m.tid = tid;
	m.tgid = tgid;
	m.function = function;
	m.n_values = 5;
	m.values = values;
	m.value0 = value0;
	m.value1 = value1;
	m.value2 = value2;
	return m;
}

static void take(struct live_pipeline *p, const Profbpf__Calls *m, struct counted *counted)
{
	uint8_t body[512];
	struct pbt_packet packet;

	assert_true(profbpf__calls__get_packed_size(m) <= sizeof(body));
	packet = packed(body, profbpf__calls__pack(m, body));
	counted->pipeline = p;
	top_calls_read(&packet, &(const struct top_counting){ count, counted });
}

static struct live_pipeline *described(void)
{
	struct live_pipeline *p = live_pipeline_new();

	assert_non_null(p);
	describe(p, POP, "_ZN9mindspore7dataset9DatasetOp10GetNextRowEPNS0_9TensorRowE");
	describe(p, PUSH, "_ZN9mindspore7dataset5QueueINS0_9TensorRowEE3AddEOS2_");
	describe(p, 3, "something_else");
	return p;
}

static void frame(void **state)
{
	struct live_pipeline *p = described();
	const Profbpf__Calls m = calls();
	struct counted counted = { 0 };
	struct live_operator *rows;

	tell_roles(p, (const uint64_t[3]){ 0x7000, 0x7000, 0 });
	live_pipeline_ran(p, 11, 30, 5);
	live_pipeline_ran(p, 12, 12, 0);
	live_pipeline_ran(p, 13, 1000, 0);
	take(p, &m, &counted);
	assert_int_equal(counted.calls, 5);
	assert_int_equal(counted.ns, 50 * MS + 40);
	assert_int_equal(live_pipeline_frame(p, 0, 1000 * MS, &rows), 1);
	assert_int_equal(rows[0].pid, 7);
	assert_int_equal(rows[0].id, 1);
	assert_string_equal(rows[0].name, "Map(ID:1)");
	assert_int_equal(rows[0].run_ns, 42);
	assert_int_equal(rows[0].runnable_ns, 5);
	assert_true(rows[0].has_queue);
	assert_int_equal(rows[0].capacity, 4);
	assert_int_equal(rows[0].pushes, 2);
	assert_int_equal(rows[0].pops, 2);
	assert_true(rows[0].has_pop_wait && rows[0].has_push_wait);
	assert_int_equal(rows[0].pop_wait_ns, 50 * MS + 10);
	/* Known from 100 ms on: size 0, from 200 on 1, from 300 on 2, from 400 on 1. */
	assert_true(rows[0].has_size);
	assert_true(rows[0].mean_size > 0.99 && rows[0].mean_size < 1.01);
	free(rows);
	/* The next frame starts at zero, except for the queue's contents. */
	assert_int_equal(live_pipeline_frame(p, 1000 * MS, 2000 * MS, &rows), 1);
	assert_int_equal(rows[0].run_ns, 0);
	assert_int_equal(rows[0].pops, 0);
	assert_true(rows[0].mean_size == 1);
	free(rows);
	live_pipeline_free(p);
}

/* Operators with the same number in two pipelines: the queue belongs to the one whose thread pushes into it. */
static void two_trees(void **state)
{
	struct live_pipeline *p = described();
	const Profbpf__Calls m = calls();
	struct counted counted = { 0 };
	struct live_operator *rows;

	tell_roles(p, (const uint64_t[3]){ 0x7000, 0x6000, 0 });
	live_pipeline_ran(p, 11, 30, 5);
	live_pipeline_ran(p, 12, 12, 0);
	take(p, &m, &counted);
	assert_int_equal(live_pipeline_frame(p, 0, 1000 * MS, &rows), 2);
	assert_int_equal(rows[0].tree, 0x6000);
	assert_int_equal(rows[0].run_ns, 12);
	assert_false(rows[0].has_queue);
	assert_int_equal(rows[1].run_ns, 30);
	assert_int_equal(rows[1].pushes, 2);
	assert_int_equal(rows[1].pops, 2);
	free(rows);
	live_pipeline_free(p);
}

/* Pushes are not seen, only pops: the time of waiting for room is unknown, not 0. */
static void pushes_unseen(void **state)
{
	struct live_pipeline *p = described();
	Profbpf__Calls m = calls();
	struct counted counted = { 0 };
	struct live_operator *rows;

	m.n_end_ns = m.n_dur_ns = m.n_shape = m.n_value0 = m.n_value1 = m.n_value2 = 1;
	take(p, &m, &counted);
	assert_int_equal(live_pipeline_frame(p, 0, 1000 * MS, &rows), 1);
	assert_int_equal(rows[0].pops, 1);
	assert_true(rows[0].has_pop_wait);
	assert_false(rows[0].has_push_wait || rows[0].has_size);
	free(rows);
	live_pipeline_free(p);
}

/* Invalid codes and columns end the batch, nothing else. */
static void damaged(void **state)
{
	static uint32_t shapes[] = { 9, 9, 9, 9, 9 }, codes[] = { 9, 9, 9, 9, 9 };
	struct live_pipeline *p = described();
	struct counted counted = { 0 };
	struct live_operator *rows;
	Profbpf__Calls m = calls();
	uint8_t junk[] = { 0xff, 0xff, 0xff };
	struct pbt_packet packet = packed(junk, sizeof(junk));

	live_pipeline_roles(p, packet.body, packet.size);
	counted.pipeline = p;
	top_calls_read(&packet, &(const struct top_counting){ count, &counted });
	m.shape = shapes;
	take(p, &m, &counted);
	m = calls();
	m.value0 = codes;
	take(p, &m, &counted);
	m = calls();
	m.n_dur_ns = 3;
	take(p, &m, &counted);
	m = calls();
	m.n_value1 = 2;
	take(p, &m, &counted);
	m = calls();
	m.n_values = 1;
	take(p, &m, &counted);
	assert_int_equal(live_pipeline_frame(p, 0, 1000 * MS, &rows), 0);
	free(rows);
	live_pipeline_free(p);
}

/* Its last figures are reported; another process's threads still work for their operators. */
static void ended(void **state)
{
	struct live_pipeline *p = described();
	const Profbpf__Calls m = calls();
	struct counted counted = { 0 };
	struct live_operator *rows;

	tell_roles(p, (const uint64_t[3]){ 0x7000, 0x7000, 0 });
	tell_roles_of(p, 8, 21);
	take(p, &m, &counted);
	live_pipeline_gone(p, 7);
	assert_int_equal(live_pipeline_frame(p, 0, 1000 * MS, &rows), 2);
	assert_int_equal(rows[0].pid, 7);
	assert_true(rows[0].has_queue && rows[0].gone && !rows[1].gone);
	free(rows);
	live_pipeline_ran(p, 11, 30, 5);
	live_pipeline_ran(p, 21, 50, 5);
	assert_int_equal(live_pipeline_frame(p, 1000 * MS, 2000 * MS, &rows), 1);
	assert_int_equal(rows[0].pid, 8);
	assert_int_equal(rows[0].run_ns, 50);
	free(rows);
	live_pipeline_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame),
		cmocka_unit_test(two_trees),
		cmocka_unit_test(pushes_unseen),
		cmocka_unit_test(damaged),
		cmocka_unit_test(ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
