/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a job are counted in the order of their instants, per process; the selected steps begin and end a
 * recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/session/step_gate.h"

#define FIRST_PID 10
#define OTHER_PID 20
#define MARKER "_ZN5torch8autograd8profiler25record_function_enter_newERKSsRKN3c108optionalISsEE"
#define FETCH "_ZN9mindspore7dataset16IteratorConsumer11GetNextAsMapE"

enum { STEP = 3, ANOTHER, MARK, OF_MINDDATA };

struct counted {
	struct step_gate *gate;
	struct texts *texts;
	struct step_gate_facts facts;
	bool changed;
};

static void show(struct counted *c, struct item *item)
{
	c->changed = step_gate_item(c->gate, item, c->texts);
	step_gate_facts(c->gate, &c->facts);
	item_free(item);
}

static void show_function(struct counted *c, uint32_t id, const char *name)
{
	Profbpf__Functions message = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function function = PROFBPF__FUNCTION__INIT, *functions[] = { &function };
	struct item *item;

	function.id = id;
	function.name = (char *)name;
	message.function = functions;
	message.n_function = 1;
	item = item_new(ITEM_BODY, profbpf__functions__get_packed_size(&message));
	item->body = PROFBPF__PACKET__KIND__FUNCTIONS;
	item->size = profbpf__functions__pack(&message, item->data);
	show(c, item);
}

static void begin(struct counted *c, const char *call, uint64_t first, uint64_t steps)
{
	*c = (struct counted){ step_gate_new(call, first, steps), texts_new() };
	assert_true(c->gate && c->texts);
	show_function(c, STEP, "a_step");
	show_function(c, ANOTHER, "another");
	show_function(c, MARK, MARKER);
	show_function(c, OF_MINDDATA, FETCH);
}

static void end(struct counted *c)
{
	step_gate_free(c->gate);
	texts_free(c->texts);
}

static void call(struct counted *c, uint32_t function, uint32_t tgid, uint64_t ts_ns, const char *text)
{
	struct rec_call row = { .header.ts_ns = ts_ns, .tgid = tgid, .tid = tgid, .probe = function };
	struct item *item = item_new(ITEM_RECORDS, 0);

	item->type = REC_CALL;
	if (text) {
		row.header.flags = CALL_HAS_STRING;
		row.text = ts_ns;
		texts_put(c->texts, ts_ns, text, strlen(text));
	}
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	show(c, item);
	assert_false(c->changed);
}

static void exits(struct counted *c, uint32_t tgid, uint64_t ts_ns, uint32_t flags)
{
	struct task_row row = { .record = { .header = { .ts_ns = ts_ns, .flags = (uint16_t)flags },
					    .tid = tgid,
					    .tgid = tgid,
					    .event = TASK_EXIT } };
	struct item *item = item_new(ITEM_TASKS, 0);

	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	show(c, item);
}

static void second(struct counted *c, uint64_t ts_ns)
{
	struct statistics_row *row = calloc(1, sizeof(*row));
	struct item *item = item_new(ITEM_STATISTICS, sizeof(*row));

	row->ts_ns = ts_ns;
	assert_int_equal(item_append(item, row, sizeof(*row)), 0);
	free(row);
	show(c, item);
}

static void expect(const struct counted *c, enum step_gate_state state, uint32_t tgid, uint64_t steps, uint64_t from_ns,
		   uint64_t to_ns)
{
	assert_int_equal(c->facts.state, state);
	assert_int_equal(c->facts.tgid, tgid);
	assert_int_equal(c->facts.steps, steps);
	assert_int_equal(c->facts.from_ns, from_ns);
	assert_int_equal(c->facts.to_ns, to_ns);
}

/* Two CPUs, whose calls arrive in one batch after the other. */
static void steps_are_counted_in_order(void **state)
{
	struct counted c;

	begin(&c, "a_st*", 2, 3);
	assert_int_equal(c.facts.functions, 1);
	call(&c, STEP, FIRST_PID, 300, NULL);
	call(&c, STEP, FIRST_PID, 500, NULL);
	call(&c, STEP, FIRST_PID, 100, NULL);
	call(&c, STEP, FIRST_PID, 200, NULL);
	call(&c, ANOTHER, FIRST_PID, 150, NULL);
	expect(&c, STEPS_AWAITED, 0, 0, 0, 0);
	second(&c, 400);
	assert_true(c.changed);
	expect(&c, STEPS_BEGUN, FIRST_PID, 3, 300, 0);
	second(&c, 500);
	assert_false(c.changed);
	call(&c, STEP, FIRST_PID, 700, NULL);
	call(&c, STEP, FIRST_PID, 600, NULL);
	second(&c, 1000);
	assert_true(c.changed);
	expect(&c, STEPS_OVER, FIRST_PID, 6, 300, 700);
	end(&c);
}

/* All within one second. */
static void short_steps_are_not_missed(void **state)
{
	struct counted c;

	begin(&c, "a_step", 0, 1);
	call(&c, STEP, FIRST_PID, 100, NULL);
	call(&c, STEP, FIRST_PID, 110, NULL);
	call(&c, STEP, FIRST_PID, 120, NULL);
	second(&c, 1000);
	assert_true(c.changed);
	expect(&c, STEPS_OVER, FIRST_PID, 2, 100, 110);
	end(&c);
}

/* Steps of two processes are not added up; the first process that reaches the wanted step counts. */
static void each_process_counts_for_itself(void **state)
{
	struct counted c;

	begin(&c, "a_step", 1, 1);
	call(&c, STEP, FIRST_PID, 100, NULL);
	call(&c, STEP, OTHER_PID, 110, NULL);
	second(&c, 200);
	expect(&c, STEPS_AWAITED, FIRST_PID, 1, 0, 0);
	call(&c, STEP, OTHER_PID, 210, NULL);
	call(&c, STEP, FIRST_PID, 220, NULL);
	call(&c, STEP, FIRST_PID, 230, NULL);
	second(&c, 300);
	expect(&c, STEPS_BEGUN, OTHER_PID, 2, 210, 0);
	call(&c, STEP, OTHER_PID, 310, NULL);
	second(&c, 400);
	expect(&c, STEPS_OVER, OTHER_PID, 3, 210, 310);
	end(&c);
}

/*
 * The end of the process ends the recording, and a new process with its id begins with step 0; ends of threads do not
 * matter.
 */
static void processes_end(void **state)
{
	struct counted c;

	begin(&c, "a_step", 1, 5);
	call(&c, STEP, FIRST_PID, 100, NULL);
	exits(&c, FIRST_PID, 150, TASK_LAST);
	call(&c, STEP, FIRST_PID, 200, NULL);
	second(&c, 300);
	expect(&c, STEPS_AWAITED, FIRST_PID, 1, 0, 0);
	call(&c, STEP, FIRST_PID, 310, NULL);
	exits(&c, FIRST_PID, 320, 0);
	second(&c, 400);
	expect(&c, STEPS_BEGUN, FIRST_PID, 2, 310, 0);
	/* The process's end is reported before its last calls. */
	exits(&c, FIRST_PID, 450, TASK_LAST);
	call(&c, STEP, FIRST_PID, 420, NULL);
	second(&c, 500);
	expect(&c, STEPS_OVER, FIRST_PID, 3, 310, 450);
	assert_true(c.facts.exited);
	end(&c);
}

/* If no function is named, fetches count. Of PyTorch's marks those around a fetch count. */
static void fetches_begin_steps(void **state)
{
	struct counted c;

	begin(&c, "", 2, 1);
	assert_int_equal(c.facts.functions, 2);
	call(&c, MARK, FIRST_PID, 100, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	call(&c, MARK, FIRST_PID, 110, "Optimizer.step#SGD.step");
	call(&c, MARK, FIRST_PID, 120, NULL);
	call(&c, STEP, FIRST_PID, 130, NULL);
	call(&c, OF_MINDDATA, FIRST_PID, 140, NULL);
	second(&c, 200);
	expect(&c, STEPS_AWAITED, FIRST_PID, 2, 0, 0);
	end(&c);
}

/* A pattern that matches everything, and a very frequent call: functions without room are reported, not forgotten. */
static void what_has_no_room_is_counted(void **state)
{
	struct rec_call row = { .tgid = FIRST_PID, .tid = FIRST_PID, .probe = STEP };
	struct item *item = item_new(ITEM_RECORDS, 0);
	struct counted c;

	begin(&c, "*", 1, 1);
	for (uint32_t i = 0; i < STEP_FUNCTIONS_MAX; i++)
		show_function(&c, 100 + i, "one_more");
	show_function(&c, 100, "one_more"); /* reported again */
	assert_int_equal(c.facts.functions, STEP_FUNCTIONS_MAX);
	assert_int_equal(c.facts.functions_left_out, 4);
	assert_int_equal(c.facts.uncounted, 0);
	item->type = REC_CALL;
	for (uint32_t i = 0; i < STEP_PENDING_MAX + 3; i++) {
		row.header.ts_ns = 100 + i;
		assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	}
	show(&c, item);
	assert_int_equal(c.facts.uncounted, 3);
	second(&c, 99);
	assert_int_equal(c.facts.uncounted, 3);
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_counted_in_order), cmocka_unit_test(short_steps_are_not_missed),
		cmocka_unit_test(each_process_counts_for_itself), cmocka_unit_test(processes_end),
		cmocka_unit_test(fetches_begin_steps), cmocka_unit_test(what_has_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
