/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers: their syntax, and the records of a session at which they fire. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/session/trigger_watch.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define LAUNCH 3 /* numbers of functions */
#define STEP 5

struct session {
	struct triggers *triggers;
	struct live_figures *live;
	struct texts *texts;
	struct trigger_watch *watch;
};

static void show(struct session *s, struct item *item)
{
	live_figures_item(s->live, item, s->texts);
	trigger_watch_item(s->watch, item);
	item_free(item);
}

static void show_functions(struct session *s)
{
	Profbpf__Functions message = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function launch = PROFBPF__FUNCTION__INIT, step = PROFBPF__FUNCTION__INIT;
	Profbpf__Function *both[] = { &launch, &step };
	struct item *item;

	launch.id = LAUNCH;
	launch.name = (char *)"a_launch";
	launch.kind = PROFBPF__FUNCTION__KIND__LAUNCH;
	step.id = STEP;
	step.name = (char *)"a_step";
	step.kind = PROFBPF__FUNCTION__KIND__SYNC;
	message.function = both;
	message.n_function = 2;
	item = item_new(ITEM_BODY, profbpf__functions__get_packed_size(&message));
	item->body = PROFBPF__PACKET__KIND__FUNCTIONS;
	item->size = profbpf__functions__pack(&message, item->data);
	show(s, item);
}

static void begin(struct session *s, const char *what)
{
	struct trigger trigger;
	char error[512];

	s->triggers = triggers_new();
	s->live = live_figures_new();
	s->texts = texts_new();
	s->watch = trigger_watch_new(s->triggers, s->live, 1000, 100);
	assert_true(s->triggers && s->watch);
	/* Before there is any trigger. */
	show_functions(s);
	assert_int_equal(trigger_parse(what, &trigger, error, sizeof(error)), 0);
	assert_int_equal(triggers_add(s->triggers, &trigger), 1);
}

static void end(struct session *s)
{
	trigger_watch_free(s->watch);
	live_figures_free(s->live);
	texts_free(s->texts);
	triggers_free(s->triggers);
}

static void call_of(struct session *s, uint32_t function, uint32_t tgid, uint64_t ts_ns, uint64_t dur_ns)
{
	struct rec_call row = { .header.type = REC_CALL,
				.header.ts_ns = ts_ns,
				.dur_ns = dur_ns,
				.tgid = tgid,
				.tid = tgid,
				.probe = function };
	struct item *item = item_new(ITEM_RECORDS, 0);

	item->type = REC_CALL;
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	show(s, item);
}

static void call(struct session *s, uint32_t function, uint32_t tgid, uint64_t ts_ns)
{
	call_of(s, function, tgid, ts_ns, 0);
}

static void second(struct session *s, uint64_t ts_ns)
{
	struct statistics_row *row = calloc(1, sizeof(*row));
	struct item *item = item_new(ITEM_STATISTICS, sizeof(*row));

	row->ts_ns = ts_ns;
	assert_int_equal(item_append(item, row, sizeof(*row)), 0);
	free(row);
	show(s, item);
}

static void exits_as(struct session *s, const char *comm, uint32_t tgid, uint32_t code, uint32_t flags)
{
	struct task_row row = { .record = { .header.flags = (uint16_t)flags,
					    .tid = tgid,
					    .tgid = tgid,
					    .event = TASK_EXIT,
					    .exit_code = code } };
	struct item *item = item_new(ITEM_TASKS, 0);

	memcpy(row.record.comm, comm, strnlen(comm, sizeof(row.record.comm)));
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	show(s, item);
}

static void exits(struct session *s, uint32_t tgid, uint32_t code, uint32_t flags)
{
	exits_as(s, "job", tgid, code, flags);
}

/* Returns the next event, NULL if there is none. */
static const char *next(struct session *s, struct trigger_event *event)
{
	struct trigger trigger;

	return triggers_next(s->triggers, event, &trigger) ? event->text : NULL;
}

static void texts_are_read(void **state)
{
	static const char *const wrong[] = { "",	      "signals",      "signal=",	"signal=0",	"signal=65",
					     "signal=x",      "no-launch",    "no-launch=",	"no-launch=0",	"no-launch=x",
					     "slow-step=3",   "slow-step=3:", "slow-step=1:f", "slow-step=-3:f", "slow-step=nan:f",
					     "slow-step=3x:f", "steps=5",     "steps=5:f",	"steps=5+0:f",	"steps=5+2",
					     "steps=5+2:",    "steps=-1+2:f", "steps=5+-2:f",	"data-wait=",	"data-wait=30",
					     "data-wait=0%",  "data-wait=100%", "data-wait=30%:", "data-wait=30%f", "data-wait=nan%",
					     "metric=",	      "metric=a",     "metric=a>",	"metric=>1",	"metric=a=1",
					     "metric=a>x",    "metric=a> 1",  "metric=a>1x",	"metric=a>inf",	"metric=a{b}>1" };
	struct trigger trigger;
	char error[512];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(trigger_parse(wrong[i], &trigger, error, sizeof(error)), -EINVAL);
	assert_int_equal(trigger_parse("signal=9", &trigger, error, sizeof(error)), 0);
	assert_int_equal(trigger.signal, 9);
	assert_int_equal(trigger_parse("no-launch=1m30s", &trigger, error, sizeof(error)), 0);
	assert_int_equal(trigger.ns, 90 * SECOND);
	assert_int_equal(trigger_parse("slow-step=2.5:a_*", &trigger, error, sizeof(error)), 0);
	assert_true(trigger.factor == 2.5);
	assert_string_equal(trigger.call, "a_*");
	assert_int_equal(trigger_parse("steps=100+5:a_*", &trigger, error, sizeof(error)), 0);
	assert_int_equal(trigger.first_step, 100);
	assert_int_equal(trigger.steps, 5);
	assert_string_equal(trigger.call, "a_*");
	assert_int_equal(trigger_parse("data-wait=12.5%", &trigger, error, sizeof(error)), 0);
	assert_true(trigger.limit == 12.5);
	assert_string_equal(trigger.call, "");
	assert_int_equal(trigger_parse("data-wait=12.5%:next*", &trigger, error, sizeof(error)), 0);
	assert_string_equal(trigger.call, "next*");
	assert_int_equal(trigger_parse("metric=profbpfd_sessions<-1e3", &trigger, error, sizeof(error)), 0);
	assert_true(trigger.below && trigger.limit == -1000);
	assert_string_equal(trigger.call, "profbpfd_sessions");
}

static void a_signal_ends_a_process(void **state)
{
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "signal");
	exits(&s, 7, 0, TASK_TARGET | TASK_LAST);
	exits(&s, 7, 3 << 8, TASK_TARGET | TASK_LAST);
	exits(&s, 7, SIGTERM, TASK_TARGET | TASK_LAST);
	exits(&s, 7, SIGSEGV, TASK_LAST); /* of no target */
	exits(&s, 7, SIGSEGV, TASK_TARGET); /* the process has other threads left */
	assert_null(next(&s, &event));
	exits(&s, 7, SIGSEGV | 0x80, TASK_TARGET | TASK_LAST);
	assert_non_null(next(&s, &event));
	assert_non_null(strstr(event.text, "process 7 (job) was ended by signal 11"));
	assert_int_equal(event.pid, 7);
	assert_int_equal(event.owner, 1000);
	assert_int_equal(event.group, 100);
	assert_null(next(&s, &event));
	end(&s);
	begin(&s, "signal=15");
	exits(&s, 7, SIGSEGV, TASK_TARGET | TASK_LAST);
	assert_null(next(&s, &event));
	exits(&s, 7, SIGTERM, TASK_TARGET | TASK_LAST);
	assert_non_null(next(&s, &event));
	end(&s);
}

/* A thread's own name cannot make lines in the journal, nor escape sequences on a terminal. */
static void names_are_plain(void **state)
{
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "signal");
	exits_as(&s, "a\nb\x1b[2J\xc3\xa4", 7, SIGSEGV, TASK_TARGET | TASK_LAST);
	assert_non_null(next(&s, &event));
	assert_non_null(strstr(event.text, "process 7 (a?b?[2J?\?) was ended by signal 11"));
	end(&s);
}

static void launches_stop(void **state)
{
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "no-launch=3s");
	call(&s, STEP, 8, SECOND); /* never launches anything */
	call(&s, LAUNCH, 7, SECOND);
	second(&s, 3 * SECOND);
	call(&s, LAUNCH, 7, 4 * SECOND);
	second(&s, 6 * SECOND);
	assert_null(next(&s, &event));
	second(&s, 7 * SECOND);
	assert_non_null(next(&s, &event));
	assert_int_equal(event.pid, 7);
	/* Once, until the process launches again. */
	second(&s, 20 * SECOND);
	assert_null(next(&s, &event));
	call(&s, LAUNCH, 7, 21 * SECOND);
	second(&s, 23 * SECOND);
	assert_null(next(&s, &event));
	second(&s, 25 * SECOND);
	assert_non_null(next(&s, &event));
	/* Not for a process that has ended. */
	call(&s, LAUNCH, 7, 26 * SECOND);
	exits(&s, 7, 0, TASK_TARGET | TASK_LAST);
	second(&s, 60 * SECOND);
	assert_null(next(&s, &event));
	end(&s);
}

static void a_step_is_slow(void **state)
{
	uint64_t now_ns = SECOND;
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "slow-step=3:*_step");
	/* Too few steps to compare with. */
	for (int i = 0; i < STEPS_KNOWN - 1; i++)
		call(&s, STEP, 7, now_ns += 100 * MS);
	call(&s, STEP, 7, now_ns += 900 * MS);
	for (int i = 0; i < 100; i++)
		call(&s, STEP, 7, now_ns += (i & 1 ? 90 : 110) * MS);
	call(&s, STEP, 7, now_ns += 299 * MS);
	assert_null(next(&s, &event));
	call(&s, STEP, 7, now_ns += 350 * MS);
	assert_non_null(next(&s, &event));
	assert_non_null(strstr(event.text, "process 7 took 350"));
	/* Another process's steps are separate. */
	call(&s, STEP, 8, now_ns += 1000 * MS);
	assert_null(next(&s, &event));
	/* An open long step is reported while it lasts, and not again. */
	second(&s, now_ns);
	assert_non_null(next(&s, &event));
	assert_non_null(strstr(event.text, "process 7 has taken"));
	second(&s, now_ns + SECOND);
	call(&s, STEP, 7, now_ns + 2 * SECOND);
	assert_null(next(&s, &event));
	end(&s);
}

static void steps_are_counted(void **state)
{
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "steps=3+2:a_step");
	/* Step 3 begins with the fourth call, step 5 with the sixth. */
	for (uint64_t i = 0; i < 5; i++) {
		call(&s, STEP, 7, (1 + i) * SECOND);
		call(&s, STEP, 8, (1 + i) * SECOND + MS);
		call(&s, LAUNCH, 7, (1 + i) * SECOND + 2 * MS);
	}
	assert_null(next(&s, &event));
	call(&s, STEP, 7, 6 * SECOND);
	assert_non_null(next(&s, &event));
	assert_string_equal(event.text, "steps 3 to 4 of process 7 are over");
	assert_int_equal(event.pid, 7);
	assert_int_equal(event.from_ns, 4 * SECOND);
	/* Once per process. */
	for (uint64_t i = 6; i < 20; i++)
		call(&s, STEP, 7, (1 + i) * SECOND);
	assert_null(next(&s, &event));
	call(&s, STEP, 8, 6 * SECOND + MS);
	assert_non_null(next(&s, &event));
	assert_int_equal(event.from_ns, 4 * SECOND + MS);
	end(&s);
}

static void data_are_waited_for(void **state)
{
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "data-wait=30%:a_step");
	/* 290 ms of each second; a nested call does not add to it. */
	for (uint64_t i = 100; i < 115; i++) {
		call_of(&s, STEP, 7, i * SECOND + 20 * MS, 100 * MS);
		call_of(&s, STEP, 7, i * SECOND + 10 * MS, 290 * MS);
		call_of(&s, LAUNCH, 7, i * SECOND + 400 * MS, 500 * MS);
		second(&s, (i + 1) * SECOND);
	}
	assert_null(next(&s, &event));
	/* 390 ms from now on: after the second such second the mean of ten is above 30 %. */
	for (uint64_t i = 115; i < 130; i++) {
		call_of(&s, STEP, 7, i * SECOND + 10 * MS, 390 * MS);
		second(&s, (i + 1) * SECOND);
		if (i < 116)
			assert_null(next(&s, &event));
	}
	assert_non_null(next(&s, &event));
	assert_string_equal(event.text, "thread 7 of process 7 has spent 31.0 % of the last 10 s fetching data");
	/* Once, until it was below the limit; a call of 4 s counts in each of its seconds. */
	second(&s, 145 * SECOND);
	assert_null(next(&s, &event));
	call_of(&s, STEP, 7, 150 * SECOND, 4 * SECOND);
	second(&s, 155 * SECOND);
	assert_non_null(next(&s, &event));
	assert_non_null(strstr(event.text, "has spent 40.0 %"));
	end(&s);
}

/* Known functions are used if none is named. */
static void fetches_are_known(void **state)
{
	Profbpf__Functions message = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function fetch = PROFBPF__FUNCTION__INIT, *row = &fetch;
	struct trigger_event event;
	struct item *item;
	struct session s;

	(void)state;
	begin(&s, "data-wait=30%");
	fetch.id = 9;
	fetch.name = (char *)"_ZN9mindspore7dataset16IteratorConsumer15GetNextAsVectorEPSt6vector";
	fetch.kind = PROFBPF__FUNCTION__KIND__QUEUE;
	message.function = &row;
	message.n_function = 1;
	item = item_new(ITEM_BODY, profbpf__functions__get_packed_size(&message));
	item->body = PROFBPF__PACKET__KIND__FUNCTIONS;
	item->size = profbpf__functions__pack(&message, item->data);
	show(&s, item);
	call_of(&s, STEP, 7, 100 * SECOND, 9 * SECOND);
	second(&s, 110 * SECOND);
	assert_null(next(&s, &event));
	call_of(&s, 9, 7, 110 * SECOND, 9 * SECOND);
	second(&s, 120 * SECOND);
	assert_non_null(next(&s, &event));
	end(&s);
}

static void show_body(struct session *s, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	struct item *item = item_new(ITEM_BODY, protobuf_c_message_get_packed_size(message));

	item->body = kind;
	item->size = protobuf_c_message_pack(message, item->data);
	show(s, item);
}

static void function(struct session *s, uint32_t id, const char *symbol)
{
	Profbpf__Functions message = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function row = PROFBPF__FUNCTION__INIT, *rows = &row;

	row.id = id;
	row.name = (char *)symbol;
	message.function = &rows;
	message.n_function = 1;
	show_body(s, PROFBPF__PACKET__KIND__FUNCTIONS, &message.base);
}

/* Adds the call that begins a mark: its name is that of a batch's fetch. */
static void enters(struct session *s, uint32_t function, uint32_t tgid, uint64_t ts_ns)
{
	struct rec_call row = { .header = { REC_CALL, CALL_HAS_STRING, 0, ts_ns },
				.tgid = tgid,
				.tid = tgid,
				.probe = function,
				.text = 1 };
	struct item *item = item_new(ITEM_RECORDS, 0);

	item->type = REC_CALL;
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	show(s, item);
}

static void whole_second(struct session *s, uint64_t ts_ns)
{
	Profbpf__CpuStats stats = PROFBPF__CPU_STATS__INIT;

	stats.ts_ns = ts_ns;
	show_body(s, PROFBPF__PACKET__KIND__CPU_STATS, &stats.base);
	second(s, ts_ns);
}

/* PyTorch's trainers have no call for a fetch, but marks. */
static void marks_are_known(void **state)
{
	static const char name[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
	struct trigger_event event;
	struct session s;

	(void)state;
	begin(&s, "data-wait=30%");
	texts_put(s.texts, 1, name, strlen(name));
	function(&s, 10, "_ZN5torch8autograd8profiler25record_function_enter_newERKNSt");
	function(&s, 11, "_ZN5torch8autograd8profilerL24record_function_exit_newERKN3c10");
	whole_second(&s, 100 * SECOND);
	for (uint64_t i = 100; i < 115; i++) {
		enters(&s, 10, 7, i * SECOND + 100 * MS);
		call(&s, 11, 7, i * SECOND + 390 * MS);
		whole_second(&s, (i + 1) * SECOND);
	}
	assert_null(next(&s, &event));
	for (uint64_t i = 115; i < 125; i++) {
		enters(&s, 10, 7, i * SECOND + 100 * MS);
		call(&s, 11, 7, i * SECOND + 600 * MS);
		whole_second(&s, (i + 1) * SECOND);
	}
	assert_non_null(next(&s, &event));
	assert_string_equal(event.text, "process 7 has spent 31.1 % of the last 10 s fetching data");
	assert_null(next(&s, &event));
	end(&s);
}

static void settings_are_replaced(void **state)
{
	struct trigger fresh[3], rows[TRIGGERS_MAX];
	static const char *const texts[] = { "signal=9", "no-launch=3s", "signal=9" };
	struct session s;
	char error[512];

	(void)state;
	begin(&s, "signal=11"); /* a client's trigger */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(trigger_parse(texts[i], &fresh[i], error, sizeof(error)), 0);
		fresh[i].of_settings = true;
	}
	assert_int_equal(triggers_replace(s.triggers, fresh, 3), 0);
	assert_int_equal(triggers_list(s.triggers, rows), 3);
	assert_int_equal(rows[2].id, 3);
	triggers_wrote(s.triggers, 3);
	/* The first trigger is removed, the second one stays with its state. */
	assert_int_equal(triggers_replace(s.triggers, fresh + 1, 1), 0);
	assert_int_equal(triggers_list(s.triggers, rows), 2);
	assert_string_equal(rows[0].what, "signal=11");
	assert_string_equal(rows[1].what, "no-launch=3s");
	assert_int_equal(rows[1].id, 3);
	assert_int_equal(rows[1].written, 1);
	assert_int_equal(triggers_replace(s.triggers, fresh, 3), 0);
	assert_int_equal(triggers_list(s.triggers, rows), 3);
	assert_int_equal(rows[2].id, 4);
	end(&s);
}

static void files_are_limited(void **state)
{
	struct trigger trigger, rows[TRIGGERS_MAX];
	struct trigger_event event;
	struct session s;
	char error[512];

	(void)state;
	begin(&s, "signal=9");
	assert_int_equal(trigger_parse("signal=11", &trigger, error, sizeof(error)), 0);
	trigger.every_ns = 3600 * SECOND;
	assert_int_equal(triggers_add(s.triggers, &trigger), 2);
	for (int i = 0; i < 3; i++) {
		exits(&s, 7, 9, TASK_TARGET | TASK_LAST);
		exits(&s, 7, 11, TASK_TARGET | TASK_LAST);
	}
	assert_non_null(next(&s, &event));
	assert_int_equal(event.trigger, 1);
	assert_non_null(next(&s, &event));
	assert_int_equal(event.trigger, 2);
	assert_non_null(next(&s, &event));
	assert_int_equal(event.trigger, 1);
	assert_non_null(next(&s, &event));
	assert_null(next(&s, &event));
	assert_int_equal(triggers_list(s.triggers, rows), 2);
	assert_int_equal(rows[1].happened, 3);
	assert_false(triggers_remove(s.triggers, 3));
	assert_true(triggers_remove(s.triggers, 1));
	exits(&s, 7, 9, TASK_TARGET | TASK_LAST);
	assert_null(next(&s, &event));
	for (uint32_t i = 0; i < TRIGGERS_MAX - 1; i++)
		assert_int_equal(triggers_add(s.triggers, &trigger), 3 + i);
	assert_int_equal(triggers_add(s.triggers, &trigger), 0);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read),  cmocka_unit_test(a_signal_ends_a_process),
		cmocka_unit_test(launches_stop),   cmocka_unit_test(a_step_is_slow),
		cmocka_unit_test(steps_are_counted),
		cmocka_unit_test(data_are_waited_for),
		cmocka_unit_test(fetches_are_known),
		cmocka_unit_test(marks_are_known),
		cmocka_unit_test(settings_are_replaced),
		cmocka_unit_test(files_are_limited), cmocka_unit_test(names_are_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
