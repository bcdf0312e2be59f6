/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of devices and data pipelines, from the records that a session's writing thread receives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "daemon/profbpfd/metrics/live_figures.h"
#include "daemon/profbpfd/metrics/process_figures.h"

#define MS 1000000ull
#define TRAINER 7
#define WORKER 8
#define ENTER 1
#define LEAVE 2
#define TENSOR 3
#define FETCH 4
#define CONTAINS 5
#define GET 6
#define NAME "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define NAME_KEY 99

struct live {
	struct live_figures *figures;
	struct texts *texts;
	struct live_copy copy;
};

static void pass(struct live *l, struct item *item)
{
	live_figures_item(l->figures, item, l->texts);
	item_free(item);
}

static void pass_body(struct live *l, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	struct item *item = item_new(ITEM_BODY, protobuf_c_message_get_packed_size(message));

	item->body = kind;
	item->size = protobuf_c_message_pack(message, item->data);
	pass(l, item);
}

static void describe(struct live *l, uint32_t id, const char *symbol)
{
	Profbpf__Functions functions = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function function = PROFBPF__FUNCTION__INIT, *one = &function;

	function.id = id;
	function.name = (char *)symbol;
	function.runtime = (char *)"";
	functions.function = &one;
	functions.n_function = 1;
	pass_body(l, PROFBPF__PACKET__KIND__FUNCTIONS, &functions.base);
}

static void device(struct live *l, uint32_t id, uint32_t pid, const char *name)
{
	Profbpf__Devices devices = PROFBPF__DEVICES__INIT;
	Profbpf__Device device = PROFBPF__DEVICE__INIT, *one = &device;

	device.id = id;
	device.tgid = pid;
	device.name = (char *)name;
	devices.device = &one;
	devices.n_device = 1;
	pass_body(l, PROFBPF__PACKET__KIND__DEVICES, &devices.base);
}

static void device_task(struct live *l, uint32_t id, uint64_t start_ms, uint64_t end_ms)
{
	struct device_row row = { .task = { .start_ns = start_ms * MS, .end_ns = end_ms * MS } };
	struct item *item = item_new(ITEM_DEVICE, sizeof(row));

	item->device = id;
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	pass(l, item);
}

static void task(struct live *l, enum task_event event, uint32_t pid, uint32_t parent, const char *name, uint64_t ms)
{
	struct task_row row = { .record = { .header = { REC_TASK, TASK_TARGET | TASK_LAST, 0, ms * MS },
					    .tid = pid,
					    .tgid = pid,
					    .parent_tgid = parent,
					    .event = event } };
	struct item *item = item_new(ITEM_TASKS, sizeof(row));

	strncpy(row.record.comm, name, sizeof(row.record.comm) - 1);
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	pass(l, item);
}

/* Adds a call of a millisecond. */
static void call(struct live *l, uint32_t function, uint32_t pid, uint64_t end_ms, uint16_t flags)
{
	struct rec_call record = { .header = { REC_CALL, flags, 0, (end_ms - 1) * MS },
				   .dur_ns = MS,
				   .tgid = pid,
				   .tid = pid,
				   .probe = function,
				   .text = NAME_KEY };
	struct item *item = item_new(ITEM_RECORDS, sizeof(record));

	item->type = REC_CALL;
	assert_int_equal(item_append(item, &record, sizeof(record)), 0);
	pass(l, item);
}

static void account(struct live *l, uint32_t pid, uint64_t run_ms)
{
	struct rec_account record = { .header = { REC_ACCOUNT, ACCOUNT_TARGET, 0, 0 },
				      .tid = pid,
				      .tgid = pid,
				      .run_ns = run_ms * MS };
	struct item *item = item_new(ITEM_RECORDS, sizeof(record));

	item->type = REC_ACCOUNT;
	assert_int_equal(item_append(item, &record, sizeof(record)), 0);
	pass(l, item);
}

/* Ends a second at @ms. */
static void tick(struct live *l, uint64_t ms)
{
	Profbpf__CpuStats stats = PROFBPF__CPU_STATS__INIT;
	struct statistics_row row = { .ts_ns = ms * MS };
	struct item *item = item_new(ITEM_STATISTICS, sizeof(row));

	stats.ts_ns = ms * MS;
	pass_body(l, PROFBPF__PACKET__KIND__CPU_STATS, &stats.base);
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	pass(l, item);
	live_figures_copy(l->figures, &l->copy);
}

static struct live *begin(void)
{
	struct live *l = calloc(1, sizeof(*l));

	l->figures = live_figures_new();
	l->texts = texts_new();
	assert_true(l->figures && l->texts);
	texts_put(l->texts, NAME_KEY, NAME, strlen(NAME));
	describe(l, ENTER, "_ZN5torch8autograd8profiler25record_function_enter_newERKNSt");
	describe(l, LEAVE, "_ZN5torch8autograd8profilerL24record_function_exit_newERKN3c10");
	describe(l, TENSOR, "_ZN2at12MapAllocatorC1ENS_6WithFdE");
	describe(l, FETCH, "_ZN10tensorflow4data16IteratorResource7GetNextEP");
	describe(l, CONTAINS, "_ZN6plasma12PlasmaClient8ContainsERKNS_8UniqueIDEPb");
	describe(l, GET, "_ZN6plasma12PlasmaClient3GetERKSt6vectorINS_8UniqueIDE");
	tick(l, 1000);
	return l;
}

static void end(struct live *l)
{
	live_figures_free(l->figures);
	texts_free(l->texts);
	free(l);
}

/* Overlapping parts of tasks in a second count once, and figures only grow. */
static void devices_are_busy(void **state)
{
	struct live *l = begin();

	device_task(l, 1, 100, 200); /* a device that is not described yet */
	device(l, 1, TRAINER, "first");
	device(l, 2, TRAINER, "second");
	device_task(l, 1, 1100, 1200);
	device_task(l, 1, 1150, 1300);
	device_task(l, 2, 0, 1400); /* its times are unknown */
	tick(l, 2000);
	assert_int_equal(l->copy.device_count, 2);
	assert_int_equal(l->copy.devices[0].busy_ns, 200 * MS);
	assert_int_equal(l->copy.devices[0].tasks, 2);
	assert_string_equal(l->copy.devices[1].name, "second");
	assert_int_equal(l->copy.devices[1].busy_ns, 0);
	assert_int_equal(l->copy.devices[1].tasks, 1);
	device_task(l, 1, 2100, 2200);
	tick(l, 3000);
	assert_int_equal(l->copy.devices[0].busy_ns, 300 * MS);
	end(l);
}

/* Two fetches, one across the end of a second, and one whose end was not reported. */
static void trainers_wait(void **state)
{
	struct live *l = begin();

	task(l, TASK_EXEC, TRAINER, 1, "train", 900);
	tick(l, 2000);
	assert_int_equal(l->copy.wait_count, 0);
	call(l, ENTER, TRAINER, 2101, CALL_HAS_STRING);
	call(l, LEAVE, TRAINER, 2150, 0);
	call(l, ENTER, TRAINER, 2901, CALL_HAS_STRING);
	tick(l, 3000);
	assert_int_equal(l->copy.wait_count, 1);
	assert_int_equal(l->copy.waits[0].pid, TRAINER);
	assert_int_equal(l->copy.waits[0].wait_ns, (50 + 100) * MS);
	call(l, LEAVE, TRAINER, 3200, 0);
	tick(l, 4000);
	assert_int_equal(l->copy.waits[0].wait_ns, (50 + 300) * MS);
	/* Another mark is not a fetch. */
	call(l, ENTER, TRAINER, 4101, 0);
	call(l, LEAVE, TRAINER, 4150, 0);
	tick(l, 5000);
	assert_int_equal(l->copy.waits[0].wait_ns, (50 + 300) * MS);
	end(l);
}

static void fetches_of_tf_data_count(void **state)
{
	struct live *l = begin();

	call(l, FETCH, TRAINER, 1500, 0);
	call(l, FETCH, TRAINER, 1600, CALL_OPEN);
	call(l, FETCH, TRAINER, 1700, CALL_LEFT);
	tick(l, 2000);
	assert_int_equal(l->copy.wait_count, 1);
	assert_int_equal(l->copy.waits[0].wait_ns, MS);
	end(l);
}

static void sleeps(struct live *l, uint32_t tid, uint64_t ms, int16_t syscall)
{
	struct rec_switch record = { .header = { REC_SWITCH, 0, 0, ms * MS },
				     .prev_tid = tid,
				     .state = SWITCH_SLEEP,
				     .syscall = syscall };
	struct item *item = item_new(ITEM_RECORDS, sizeof(record));

	item->type = REC_SWITCH;
	assert_int_equal(item_append(item, &record, sizeof(record)), 0);
	pass(l, item);
}

/* A fetch lasts from the first sleep for the pipe to the batch: known if sleeps are recorded. */
static void trainers_of_megengine_wait(void **state)
{
	struct live *l = begin();

	call(l, CONTAINS, TRAINER, 1501, 0);
	call(l, GET, TRAINER, 1502, 0);
	call(l, CONTAINS, TRAINER + 1, 1501, 0);
	call(l, GET, TRAINER + 1, 1502, 0);
	tick(l, 2000);
	assert_int_equal(l->copy.wait_count, 0);
	sleeps(l, TRAINER, 2100, SYS_futex);
	sleeps(l, TRAINER, 2200, SYS_read);
	sleeps(l, TRAINER, 2300, SYS_read);
	sleeps(l, TRAINER + 9, 2100, SYS_read); /* an unknown thread */
	call(l, CONTAINS, TRAINER, 2401, 0);
	call(l, GET, TRAINER, 2410, 0);
	tick(l, 3000);
	assert_int_equal(l->copy.wait_count, 1);
	assert_int_equal(l->copy.waits[0].pid, TRAINER);
	assert_int_equal(l->copy.waits[0].wait_ns, 210 * MS);
	call(l, CONTAINS, TRAINER, 3401, 0);
	call(l, GET, TRAINER, 3410, 0);
	tick(l, 4000);
	assert_int_equal(l->copy.waits[0].wait_ns, 220 * MS);
	end(l);
}

/*
 * A worker's process belongs to its trainer's loader; an item that is taken as it arrives shows that the queue was
 * empty.
 */
static void operators_add_up(void **state)
{
	struct live *l = begin();
	const struct operator_figures *o = l->copy.operators;

	task(l, TASK_EXEC, TRAINER, 1, "train", 900);
	task(l, TASK_FORK, WORKER, TRAINER, "pt_data_worker", 950);
	account(l, WORKER, 5000);
	for (uint64_t ms = 1100; ms < 3000; ms += 100) {
		call(l, TENSOR, WORKER, ms, 0);
		call(l, TENSOR, TRAINER, ms + 1, 0);
		if (ms != 1900)
			continue;
		tick(l, 2000);
		assert_int_equal(l->copy.operator_count, 1);
		assert_int_equal(o->rows, 9);
		account(l, WORKER, 5300);
	}
	tick(l, 3000);
	assert_int_equal(l->copy.operator_count, 1);
	assert_int_equal(o->pid, TRAINER);
	assert_string_equal(o->name, "torch workers, tensors");
	assert_int_equal(o->rows, 19);
	assert_int_equal(o->run_ns, 300 * MS);
	assert_true(o->has_filled && o->filled > 0 && o->filled < 0.1);
	assert_false(o->has_put_wait);
	end(l);
}

/* Its last figures can be read for a while; a new process with the same id starts at zero. */
static void ended_processes_are_forgotten(void **state)
{
	struct live *l = begin();

	device(l, 1, TRAINER, "first");
	device(l, 2, TRAINER + 1, "of another one");
	call(l, ENTER, TRAINER, 1500, CALL_HAS_STRING);
	task(l, TASK_EXIT, TRAINER, 1, "train", 1600);
	tick(l, 2000);
	assert_int_equal(l->copy.wait_count, 1);
	for (uint64_t ms = 3000; ms < 60000; ms += 1000)
		tick(l, ms);
	assert_int_equal(l->copy.wait_count, 1);
	assert_int_equal(l->copy.waits[0].wait_ns, 501 * MS);
	assert_int_equal(l->copy.device_count, 2);
	tick(l, 1600 + FIGURES_KEPT_NS / MS);
	assert_int_equal(l->copy.wait_count, 0);
	assert_int_equal(l->copy.device_count, 1);
	call(l, FETCH, TRAINER + 1, 70000, 0);
	task(l, TASK_EXIT, TRAINER + 1, 1, "train", 70000);
	tick(l, 71000);
	assert_int_equal(l->copy.wait_count, 1);
	task(l, TASK_FORK, TRAINER + 1, 1, "train", 71500);
	tick(l, 72000);
	assert_int_equal(l->copy.wait_count, 0);
	assert_int_equal(l->copy.device_count, 0);
	end(l);
}

/* A process that is not a target is reported when it becomes relevant, and when it ends. */
static void stranger(struct live *l, uint32_t pid)
{
	struct task_row row = { .record = { .header = { REC_TASK, 0, 0, 0 }, .tid = pid, .tgid = pid, .event = TASK_SEEN } };
	struct rec_account last = { .header = { REC_ACCOUNT, ACCOUNT_FINAL, 0, 0 }, .tid = pid, .tgid = pid };
	struct item *seen = item_new(ITEM_TASKS, sizeof(row)), *gone = item_new(ITEM_RECORDS, sizeof(last));

	gone->type = REC_ACCOUNT;
	assert_int_equal(item_append(seen, &row, sizeof(row)) || item_append(gone, &last, sizeof(last)), 0);
	pass(l, seen);
	pass(l, gone);
}

/* On a machine with many short-lived commands a worker is recognized months later, too. */
static void strangers_take_no_room(void **state)
{
	struct live *l = begin();
	uint64_t ms = 1000;

	for (uint32_t pid = 100; pid < 10100; pid++) {
		stranger(l, pid);
		if (pid % 100 == 99)
			tick(l, ms += 1000);
	}
	task(l, TASK_FORK, 20000, 1, "train", ms);
	task(l, TASK_FORK, 20001, 20000, "pt_data_worker", ms);
	call(l, TENSOR, 20000, ms + 100, 0);
	call(l, TENSOR, 20001, ms + 200, 0);
	tick(l, ms + 1000);
	assert_int_equal(l->copy.operator_count, 1);
	assert_int_equal(l->copy.operators[0].pid, 20000);
	end(l);
}

/* The rings of CPUs are read one after the other: records of a process may arrive after its end. */
static void what_comes_late_revives_nobody(void **state)
{
	struct live *l = begin();

	call(l, FETCH, TRAINER, 1500, 0);
	task(l, TASK_EXIT, TRAINER, 1, "train", 1600);
	task(l, TASK_EXEC, TRAINER, 1, "train", 1400);
	task(l, TASK_FORK, TRAINER, 1, "train", 1300);
	tick(l, 2000);
	assert_int_equal(l->copy.wait_count, 1);
	tick(l, 3000);
	tick(l, 1600 + FIGURES_KEPT_NS / MS);
	assert_int_equal(l->copy.wait_count, 0);
	end(l);
}

/* Devices beyond the limit of this table, trainers beyond that of the tables behind it. */
static void what_finds_no_room_is_counted(void **state)
{
	struct live *l = begin();

	for (uint32_t id = 1; id <= LIVE_DEVICES_MAX; id++)
		device(l, id, TRAINER, "a device");
	for (uint32_t pid = 1; pid <= 256; pid++)
		call(l, FETCH, 10000 + pid, 1100, 0);
	tick(l, 2000);
	assert_int_equal(l->copy.device_count, LIVE_DEVICES_MAX);
	/* There are more trainers than series. */
	assert_int_equal(l->copy.left_out, 256 - LIVE_WAITS_MAX);
	device(l, LIVE_DEVICES_MAX + 1, TRAINER, "one more");
	call(l, FETCH, 9, 2100, 0);
	tick(l, 3000);
	assert_int_equal(l->copy.device_count, LIVE_DEVICES_MAX);
	assert_int_equal(l->copy.left_out, 2 * (256 - LIVE_WAITS_MAX) + 2);
	/* As long as the device is busy, and trainers exist. */
	device_task(l, LIVE_DEVICES_MAX + 1, 3100, 3200);
	tick(l, 4000);
	assert_int_equal(l->copy.left_out, 3 * (256 - LIVE_WAITS_MAX) + 3);
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_are_busy),
		cmocka_unit_test(trainers_wait),
		cmocka_unit_test(fetches_of_tf_data_count),
		cmocka_unit_test(trainers_of_megengine_wait),
		cmocka_unit_test(operators_add_up),
		cmocka_unit_test(ended_processes_are_forgotten),
		cmocka_unit_test(strangers_take_no_room),
		cmocka_unit_test(what_comes_late_revives_nobody),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
