/* SPDX-License-Identifier: Apache-2.0 */
/* Values from a later version of the format are treated as unknown, counted and reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/report_of.h"

#define START 1000000000ull
#define DISK (1u << 31 | 8u << 20)
#define LATER 300 /* in no enum; truncated to a byte it would be 44 */

static void put(struct trace_builder *b, Profbpf__Packet__Kind kind,
		const ProtobufCMessage *message)
{
	uint8_t body[512];

	assert_in_range(protobuf_c_message_get_packed_size(message), 1, sizeof(body));
	trace_packet(b, kind, body, protobuf_c_message_pack(message, body));
}

static void objects(struct trace_builder *b)
{
	Profbpf__SleepObjects m = PROFBPF__SLEEP_OBJECTS__INIT;
	Profbpf__SleepObjects__Kind kinds[] = { PROFBPF__SLEEP_OBJECTS__KIND__PIPE,
						(Profbpf__SleepObjects__Kind)LATER };

	m.first_id = 1;
	m.n_kind = 2;
	m.kind = kinds;
	put(b, PROFBPF__PACKET__KIND__SLEEP_OBJECTS, &m.base);
}

static void requests(struct trace_builder *b)
{
	Profbpf__BlockRequests m = PROFBPF__BLOCK_REQUESTS__INIT;
	Profbpf__BlockRequests__Operation operations[] = {
		PROFBPF__BLOCK_REQUESTS__OPERATION__WRITE, (Profbpf__BlockRequests__Operation)LATER
	};
	int64_t end_ns[] = { START + 500, 100 };
	uint32_t ids[] = { 10, 10 }, rdevs[] = { DISK, DISK };

	m.n_end_ns = m.n_tid = m.n_tgid = m.n_rdev = m.n_operation = 2;
	m.end_ns = end_ns;
	m.tid = m.tgid = ids;
	m.rdev = rdevs;
	m.operation = operations;
	put(b, PROFBPF__PACKET__KIND__BLOCK_REQUESTS, &m.base);
}

static void counters(struct trace_builder *b)
{
	Profbpf__Counters m = PROFBPF__COUNTERS__INIT;
	Profbpf__Counters__Unit units[] = { PROFBPF__COUNTERS__UNIT__HZ,
					    (Profbpf__Counters__Unit)LATER };
	char *names[] = { "frequency", "warmth" };
	uint64_t values[] = { 7, 8 };

	m.ts_ns = START;
	m.n_name = m.n_unit = m.n_value = 2;
	m.name = names;
	m.unit = units;
	m.value = values;
	put(b, PROFBPF__PACKET__KIND__COUNTERS, &m.base);
}

static void frames(struct trace_builder *b)
{
	Profbpf__Stacks m = PROFBPF__STACKS__INIT;
	Profbpf__Stacks__Kind kinds[] = { PROFBPF__STACKS__KIND__KERNEL,
					  (Profbpf__Stacks__Kind)LATER };
	uint64_t offsets[] = { 0, 0x1234 };

	m.first_frame = 1;
	m.n_kind = m.n_offset = 2;
	m.kind = kinds;
	m.offset = offsets;
	put(b, PROFBPF__PACKET__KIND__STACKS, &m.base);
}

/* An unknown value of each enum, and an unknown kind of batch. */
static struct trace_builder *later(void)
{
	struct trace_builder *b = trace_builder_new();

	trace_segment(b, &(struct trace_segment){ .start_ns = START });
	trace_target(b, START, 10, 10, "job");
	trace_task(b, &(struct trace_task_row){ .ts_ns = START + 10,
						.tid = 11,
						.tgid = 10,
						.event = (Profbpf__Tasks__Event)LATER });
	trace_function(b, &(struct trace_function){ .id = 1,
						    .runtime = "r",
						    .name = "f",
						    .kind = (Profbpf__Function__Kind)LATER,
						    .error = (Profbpf__Function__Error)LATER,
						    .roles = { (Profbpf__Function__Role)LATER } });
	trace_device(b, &(struct trace_device){ .id = 1,
						.tgid = 10,
						.name = "d",
						.clock = (Profbpf__DeviceClock)LATER });
	trace_device_task(b, &(struct trace_device_task_row){
				     .device = 1,
				     .queued_ns = START + 1,
				     .start_ns = START + 2,
				     .end_ns = START + 3,
				     .kind = (Profbpf__DeviceTasks__Kind)LATER,
				     .tid = 10,
				     .enqueue_ns = START + 1,
			     });
	trace_switch(b, &(struct trace_switch_row){
				.ts_ns = START + 100, .prev_tid = 10, .state = LATER, .flags = 1 });
	objects(b);
	requests(b);
	counters(b);
	frames(b);
	trace_packet(b, (Profbpf__Packet__Kind)99, "whatever", 8);
	return b;
}

static void counted(void **state)
{
	struct model *model = load_trace(later());

	assert_int_equal(model->unknown_values, 11);
	assert_int_equal(model->unknown_batches, 1);
	assert_int_equal(model->bad_rows, 0);
	assert_int_equal(model->damage.packets_skipped, 0);
	assert_int_equal(model->switches.count, 0);
	assert_int_equal(model->functions.row[0].kind, PROFBPF__FUNCTION__KIND__OTHER);
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	assert_int_equal(model->tasks.row[0].kind, PROFBPF__DEVICE_TASKS__KIND__OTHER);
	assert_int_equal(model->sleep_objects.row[0].kind, PROFBPF__SLEEP_OBJECTS__KIND__PIPE);
	assert_int_equal(model->sleep_objects.row[1].kind, PROFBPF__SLEEP_OBJECTS__KIND__NOTHING);
	assert_int_equal(model->block_requests.count, 2);
	assert_int_equal(model->block_requests.row[1].operation,
			 PROFBPF__BLOCK_REQUESTS__OPERATION__OTHER);
	/* A number without its unit is left out. */
	assert_int_equal(model->counters.count, 1);
	assert_int_equal(model->code_frames.count, 2);
	assert_string_equal(model_text(model, model->code_frames.row[1].name), "[unknown]");
	assert_int_equal(model->code_frames.row[1].offset, 0);
	model_free(model);
}

static void told(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options wanted = { 0 };
	char *text = report_of(later(), &wanted, &options, report_text);
	yajl_val root;

	assert_says(text, "INCOMPLETE");
	assert_says(text, "written by a later profbpf: 11 values and 1 batches");
	free(text);
	text = report_of(later(), &wanted, &options, report_json);
	root = json_parse(text);
	assert_int_equal(json_int(root, "capture.damage.unknown_values"), 11);
	assert_int_equal(json_int(root, "capture.damage.unknown_batches"), 1);
	yajl_tree_free(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted),
		cmocka_unit_test(told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
