/* SPDX-License-Identifier: Apache-2.0 */
/* The live table of processes: running ones, ended ones, and readable names of functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profctl/top/top_state.h"
#include "proto/trace.pb-c.h"

#define SECOND 1000000000ull

static void take(struct top_state *s, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	uint8_t body[512];
	struct pbt_packet packet = { .kind = kind, .body = body };

	packet.size = protobuf_c_message_get_packed_size(message);
	assert_true(packet.size <= sizeof(body));
	protobuf_c_message_pack(message, body);
	assert_false(top_state_take(s, &packet));
}

/* Adds one row of figures of a thread with this total run time. */
static void account(struct top_state *s, uint32_t tid, uint32_t pid, uint32_t flags, uint64_t run_ns)
{
	Profbpf__Accounts m = PROFBPF__ACCOUNTS__INIT;
	int64_t ts = 1;

	m.n_ts_ns = m.n_tid = m.n_tgid = m.n_flags = m.n_run_ns = 1;
	m.ts_ns = &ts;
	m.tid = &tid;
	m.tgid = &pid;
	m.flags = &flags;
	m.run_ns = &run_ns;
	take(s, PROFBPF__PACKET__KIND__ACCOUNTS, &m.base);
}

static void task(struct top_state *s, uint32_t pid, uint32_t event, uint64_t start_ns)
{
	Profbpf__Tasks m = PROFBPF__TASKS__INIT;
	int64_t ts = 1;

	m.n_ts_ns = m.n_tid = m.n_tgid = m.n_event = m.n_start_ns = 1;
	m.ts_ns = &ts;
	m.tid = &pid;
	m.tgid = &pid;
	m.event = &event;
	m.start_ns = &start_ns;
	take(s, PROFBPF__PACKET__KIND__TASKS, &m.base);
}

/* Ends a frame; returns the number of processes, *@shown: of active ones. */
static uint32_t frame(struct top_state *s, uint64_t second, size_t *shown)
{
	Profbpf__CpuStats m = PROFBPF__CPU_STATS__INIT;
	struct top_frame frame;
	uint32_t total;

	m.ts_ns = second * SECOND;
	take(s, PROFBPF__PACKET__KIND__CPU_STATS, &m.base);
	assert_true(top_state_frame(s, &frame));
	total = frame.process_total;
	*shown = frame.process_count;
	top_frame_free(&frame);
	return total;
}

static void processes_come_and_go(void **state)
{
	struct top_state *s = top_state_new();
	size_t shown;

	assert_non_null(s);
	for (uint32_t pid = 1; pid <= 3; pid++)
		account(s, pid, pid, PROFBPF__ACCOUNTS__FLAG__FIRST, SECOND);
	account(s, 31, 3, PROFBPF__ACCOUNTS__FLAG__FIRST, SECOND);
	frame(s, 1, &shown);
	/* A hundred processes that live for a moment each: shown in the second in which they lived. */
	for (uint32_t pid = 100; pid < 200; pid++) {
		task(s, pid, 1, pid);
		account(s, pid, pid, PROFBPF__ACCOUNTS__FLAG__FINAL, 1000);
	}
	assert_int_equal(frame(s, 2, &shown), 3);
	assert_int_equal(shown, 100);
	assert_int_equal(frame(s, 3, &shown), 3);
	assert_int_equal(shown, 0);
	/* Late last figures do not bring a process back. */
	account(s, 150, 150, PROFBPF__ACCOUNTS__FLAG__FINAL, 2000);
	assert_int_equal(frame(s, 4, &shown), 3);
	assert_int_equal(shown, 0);
	/* The first thread of two ends; then the other. */
	task(s, 3, PROFBPF__TASKS__EVENT__EXIT, 0);
	account(s, 3, 3, PROFBPF__ACCOUNTS__FLAG__FINAL, SECOND + 5);
	assert_int_equal(frame(s, 5, &shown), 3);
	account(s, 31, 3, 0, SECOND + 7);
	assert_int_equal(frame(s, 6, &shown), 3);
	assert_int_equal(shown, 1);
	account(s, 31, 3, PROFBPF__ACCOUNTS__FLAG__FINAL, SECOND + 9);
	assert_int_equal(frame(s, 7, &shown), 2);
	/* An id that is used again by another process. */
	task(s, 2, 1, 77);
	account(s, 2, 2, 0, 10);
	assert_int_equal(frame(s, 8, &shown), 2);
	top_state_free(s);
}

static void names_are_readable(void **state)
{
	struct top_state *s = top_state_new();
	Profbpf__Functions m = PROFBPF__FUNCTIONS__INIT;
	Profbpf__Function functions[2], *pointers[2] = { &functions[0], &functions[1] };
	struct top_frame frame;

	assert_non_null(s);
	for (uint32_t i = 0; i < 2; i++) {
		profbpf__function__init(&functions[i]);
		functions[i].id = i + 1;
		functions[i].runtime = (char *)"mindspore";
	}
	functions[0].name = (char *)"_ZN9mindspore7dataset9DatasetOp10GetNextRowEPNS0_9TensorRowE";
	functions[1].name = (char *)"_Zebra";
	m.n_function = 2;
	m.function = pointers;
	take(s, PROFBPF__PACKET__KIND__FUNCTIONS, &m.base);
	assert_true(top_state_frame(s, &frame));
	top_frame_free(&frame);
	for (uint32_t i = 0; i < 2; i++) {
		Profbpf__Calls calls = PROFBPF__CALLS__INIT;
		uint32_t function = i + 1, shape = 0;
		int64_t end_ns = 10;
		uint64_t dur_ns = 3;
		int32_t pid = 5;

		calls.n_end_ns = calls.n_dur_ns = calls.n_shape = 1;
		calls.n_tid = calls.n_tgid = calls.n_function = 1; /* values of the single shape */
		calls.end_ns = &end_ns;
		calls.dur_ns = &dur_ns;
		calls.shape = &shape;
		calls.tid = calls.tgid = &pid;
		calls.function = &function;
		take(s, PROFBPF__PACKET__KIND__CALLS, &calls.base);
	}
	assert_true(top_state_frame(s, &frame));
	assert_int_equal(frame.call_count, 2);
	for (size_t i = 0; i < frame.call_count; i++)
		if (strcmp(frame.calls[i].function, "_Zebra") != 0)
			assert_string_equal(frame.calls[i].function,
					    "mindspore::dataset::DatasetOp::GetNextRow");
	top_frame_free(&frame);
	top_state_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_come_and_go),
		cmocka_unit_test(names_are_readable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
