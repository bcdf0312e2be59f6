/* SPDX-License-Identifier: Apache-2.0 */
/* Device files in protobuf, built by the test: XSpace of TensorFlow and JAX, Perfetto traces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "analyzer/import/readers/proto_fields.h"
#include "tests/unit/import_text.h"

#define SINCE_1970 1700000000000000000

struct out {
	uint8_t bytes[8192];
	size_t size;
};

static void put_varint(struct out *out, uint64_t value)
{
	do {
		assert_true(out->size < sizeof(out->bytes));
		out->bytes[out->size++] = (uint8_t)(value > 127 ? value | 0x80 : value);
		value >>= 7;
	} while (value);
}

static void put_number(struct out *out, uint32_t field, uint64_t value)
{
	put_varint(out, field << 3);
	put_varint(out, value);
}

static void put_bytes(struct out *out, uint32_t field, const void *bytes, size_t size)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, size);
	assert_true(out->size + size <= sizeof(out->bytes));
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

static void put_text(struct out *out, uint32_t field, const char *text)
{
	put_bytes(out, field, text, strlen(text));
}

static void put_message(struct out *out, uint32_t field, const struct out *message)
{
	put_bytes(out, field, message->bytes, message->size);
}

/* An entry of event_metadata or stat_metadata. */
static void put_metadata(struct out *plane, uint32_t field, uint64_t id, const char *name)
{
	struct out entry = { 0 }, value = { 0 };

	put_number(&value, 1, id);
	put_text(&value, 2, name);
	put_number(&entry, 1, id);
	put_message(&entry, 2, &value);
	put_message(plane, field, &entry);
}

static void put_event(struct out *line, uint64_t metadata, uint64_t offset_ps, uint64_t duration_ps,
		      uint64_t correlation)
{
	struct out event = { 0 }, stat = { 0 };

	put_number(&event, 1, metadata);
	put_number(&event, 2, offset_ps);
	put_number(&event, 3, duration_ps);
	put_number(&stat, 1, 9);
	put_number(&stat, 3, correlation);
	if (correlation)
		put_message(&event, 4, &stat);
	put_message(line, 4, &event);
}

static void begin_line(struct out *line, uint64_t id, const char *name, uint64_t timestamp_ns)
{
	*line = (struct out){ 0 };
	put_number(line, 1, id);
	put_text(line, 2, name);
	put_number(line, 3, timestamp_ns);
}

/* The device's plane with its names after the lines, and lines that are sums; then the host's plane. */
static void make_space(struct out *space, uint64_t timestamp_ns)
{
	struct out plane = { 0 }, line;

	*space = (struct out){ 0 };
	put_number(&plane, 1, 1);
	put_text(&plane, 2, "/device:GPU:3");
	begin_line(&line, 1, "Steps", timestamp_ns);
	put_event(&line, 5, 0, 90000000, 0);
	put_message(&plane, 3, &line);
	begin_line(&line, 2, "XLA Modules", timestamp_ns);
	put_event(&line, 6, 0, 90000000, 0);
	put_message(&plane, 3, &line);
	begin_line(&line, 13, "Stream #13(Compute)", timestamp_ns);
	/* Fractions of a nanosecond. */
	put_event(&line, 6, 1000600, 2000600, 77);
	put_event(&line, 8, 4000000, 500, 0);
	put_message(&plane, 3, &line);
	put_metadata(&plane, 4, 5, "12");
	put_metadata(&plane, 4, 6, "loop_fusion");
	put_metadata(&plane, 4, 8, "ncclDevKernel_AllReduce");
	put_metadata(&plane, 5, 9, "correlation_id");
	put_message(space, 1, &plane);
	plane = (struct out){ 0 };
	put_text(&plane, 2, "/host:CPU");
	put_metadata(&plane, 5, 9, "correlation_id");
	put_metadata(&plane, 4, 1, "hipModuleLaunchKernel");
	put_metadata(&plane, 4, 2, "ExecuteHelper");
	begin_line(&line, 583, "Host Threads/583", timestamp_ns);
	put_event(&line, 2, 0, 900000, 0);
	put_event(&line, 1, 500000, 100000, 77);
	put_message(&plane, 3, &line);
	put_message(space, 1, &plane);
}

static const char *function_name(const struct model *model, const struct call *call)
{
	return model_text(model, model->functions.row[call->function].name);
}

static void check_space(uint64_t timestamp_ns, uint64_t first_ns, uint8_t clock)
{
	const struct device_task *task;
	struct model *model;
	struct out space;
	int error;

	make_space(&space, timestamp_ns);
	model = import_text("host.xplane.pb", space.bytes, space.size, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 3);
	assert_int_equal(model->devices.row[0].clock, clock);
	assert_int_equal(model->tasks.count, 2);
	task = &model->tasks.row[0];
	assert_string_equal(model_text(model, task->name), "loop_fusion");
	assert_int_equal(task->start_ns, first_ns + 1001);
	assert_int_equal(task->end_ns, first_ns + 3001);
	assert_int_equal(task->stream, 13);
	assert_int_equal(task->enqueue_ns, first_ns + 500);
	assert_string_equal(function_name(model, &model->calls.row[task->call]),
			    "hipModuleLaunchKernel");
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION);
	/* Framework events are no runtime calls, but scopes of the thread. */
	assert_int_equal(model->calls.count, 2);
	assert_string_equal(function_name(model, &model->calls.row[0]), "ExecuteHelper");
	assert_int_equal(model->functions.row[model->calls.row[0].function].scope, SCOPE_RANGE);
	assert_int_equal(model->step_marks.count, 1);
	assert_int_equal(model->step_marks.row[0].number, 12);
	assert_int_equal(model->findings.count, 0);
	model_free(model);
	import_same("host.xplane.pb", space.bytes, space.size, false);
}

static void test_xplane(void **state)
{
	check_space(SINCE_1970, SINCE_1970, PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	check_space(911061, 911061, PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
}

/* A stat: number @id with a double (2), an integer (3) or a text (5, 6), or a reference (7). */
static void put_stat(struct out *message, uint32_t field, uint64_t id, uint32_t type, double number,
		     const struct out *text)
{
	struct out stat = { 0 };
	uint64_t bits;

	put_number(&stat, 1, id);
	memcpy(&bits, &number, sizeof(bits));
	if (type == 2) {
		put_varint(&stat, 2 << 3 | 1);
		for (int i = 0; i < 8; i++)
			stat.bytes[stat.size++] = (uint8_t)(bits >> 8 * i);
	} else if (text) {
		put_message(&stat, type, text);
	} else {
		put_number(&stat, type, (uint64_t)number);
	}
	put_message(message, field, &stat);
}

/* An operation with its figures. */
static void put_operation(struct out *plane, uint64_t id, const char *name, uint64_t category,
			  double flops, const struct out *breakdown)
{
	struct out entry = { 0 }, value = { 0 }, shape = { 0 };

	memcpy(shape.bytes, "(bf16[8,128]{1,0:T(8,128)}, f32[])", 34);
	shape.size = 34;
	put_number(&value, 1, id);
	put_text(&value, 2, name);
	put_stat(&value, 5, 20, 7, (double)category, NULL);
	put_stat(&value, 5, 21, 3, flops, NULL);
	if (breakdown)
		put_stat(&value, 5, 23, 6, 0, breakdown);
	put_stat(&value, 5, 22, 4, 900, NULL);
	put_stat(&value, 5, 24, 5, 0, &shape);
	put_number(&entry, 1, id);
	put_message(&entry, 2, &value);
	put_message(plane, 4, &entry);
}

/* 600 bytes of the device's memory in two accesses, 300 bytes on the chip. */
static struct out make_breakdown(void)
{
	static const uint64_t ACCESSES[][3] = { { 1, 1, 500 }, { 2, 1, 100 }, { 1, 3, 300 } };
	struct out breakdown = { 0 };

	for (size_t i = 0; i < 3; i++) {
		struct out access = { 0 };

		for (uint32_t k = 0; k < 3; k++)
			put_number(&access, k + 1, ACCESSES[i][k]);
		put_message(&breakdown, 1, &access);
	}
	return breakdown;
}

/* A TPU's plane: its peak figures before their names, a loop around two operations. */
static void make_figures(struct out *space)
{
	static const char *const NAMES[] = { "hlo_category",
					     "flops",
					     "bytes_accessed",
					     "memory_access_breakdown",
					     "shape_with_layout",
					     "peak_teraflops_per_second",
					     "peak_hbm_bw_gigabytes_per_second",
					     "while",
					     "convolution" };
	struct out plane = { 0 }, line, breakdown = make_breakdown();

	*space = (struct out){ 0 };
	put_text(&plane, 2, "/device:TPU:0");
	put_stat(&plane, 6, 25, 2, 2.5, NULL);
	put_stat(&plane, 6, 26, 2, 400, NULL);
	begin_line(&line, 3, "XLA Ops", SINCE_1970);
	put_event(&line, 1, 0, 10000000, 0);
	put_event(&line, 2, 1000000, 2000000, 0);
	put_event(&line, 3, 5000000, 4000000, 0);
	put_message(&plane, 3, &line);
	put_operation(&plane, 1, "while.1", 27, 9e6, &breakdown);
	put_operation(&plane, 2, "convolution.2", 28, 4e6, &breakdown);
	put_operation(&plane, 3, "fusion.3", 28, 5e6, NULL);
	for (uint64_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		put_metadata(&plane, 5, 20 + i, NAMES[i]);
	put_message(space, 1, &plane);
}

static void test_xplane_figures(void **state)
{
	const struct task_detail *detail;
	struct model *model;
	struct out space;
	int error;

	make_figures(&space);
	model = import_text("tpu.xplane.pb", space.bytes, space.size, &error);
	assert_int_equal(error, 0);
	assert_true(model->devices.row[0].peak_flops == 2.5e12);
	assert_true(model->devices.row[0].peak_bandwidth == 400e9);
	assert_int_equal(model->tasks.count, 3);
	/* The loop's work was done by its operations. */
	assert_string_equal(model_text(model, model->tasks.row[0].type), "while");
	detail = model_task_detail(model, &model->tasks.row[0]);
	assert_non_null(detail);
	assert_int_equal(detail->known, 0);
	detail = model_task_detail(model, &model->tasks.row[1]);
	assert_int_equal(detail->known, MODEL_DETAIL_FLOPS | MODEL_DETAIL_MOVED);
	assert_true(detail->flops == 4e6);
	assert_true(detail->moved_bytes == 600);
	assert_string_equal(model_text(model, detail->output_shapes), "8,128;");
	assert_string_equal(model_text(model, detail->output_types), "bf16;f32");
	detail = model_task_detail(model, &model->tasks.row[2]);
	assert_true(detail->flops == 5e6);
	assert_true(detail->moved_bytes == 900);
	model_free(model);
	import_same("tpu.xplane.pb", space.bytes, space.size, false);
}

/* A GPU's plane has bytes per second; NaN is not a figure. */
static void test_xplane_bandwidth(void **state)
{
	struct out space = { 0 }, plane = { 0 }, line;
	struct model *model;
	int error;

	put_text(&plane, 2, "/device:GPU:1");
	put_stat(&plane, 6, 9, 3, 1555200000000, NULL);
	put_stat(&plane, 6, 8, 2, __builtin_nan(""), NULL);
	begin_line(&line, 13, "Stream #13", SINCE_1970);
	put_event(&line, 1, 0, 1000, 0);
	put_message(&plane, 3, &line);
	put_metadata(&plane, 4, 1, "gemm");
	put_metadata(&plane, 5, 9, "memory_bandwidth");
	put_metadata(&plane, 5, 8, "peak_teraflops_per_second");
	put_message(&space, 1, &plane);
	model = import_text("gpu.xplane.pb", space.bytes, space.size, &error);
	assert_int_equal(error, 0);
	assert_true(model->devices.row[0].peak_bandwidth == 1555200000000);
	assert_true(model->devices.row[0].peak_flops == 0);
	assert_int_equal(model->tasks.row[0].detail, 0);
	model_free(model);
}

/* Truncated inside its only plane: the part before is imported. */
static void test_xplane_cut(void **state)
{
	struct model *model;
	struct out space;
	int error;

	make_space(&space, SINCE_1970);
	model = import_text("host.xplane.pb", space.bytes, 220, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 2);
	assert_true(model->findings.count > 0);
	model_free(model);
}

static void put_track(struct out *trace, uint64_t uuid, uint64_t parent, const char *name,
		      const char *process)
{
	struct out packet = { 0 }, track = { 0 }, part = { 0 };

	put_number(&track, 1, uuid);
	put_number(&track, 5, parent);
	if (name)
		put_text(&track, 2, name);
	put_number(&part, 1, 42);
	if (process) {
		put_text(&part, 6, process);
		put_message(&track, 3, &part);
	}
	put_message(&packet, 60, &track);
	put_message(trace, 1, &packet);
}

/* @name NULL: the end of a slice; "": the name interned as 7. @clock 0: the sequence's default. */
static void put_slice(struct out *trace, uint64_t timestamp, uint64_t clock, uint64_t track,
		      const char *name)
{
	struct out packet = { 0 }, event = { 0 };

	put_number(&event, 9, name ? 1 : 2);
	put_number(&event, 11, track);
	if (name && *name)
		put_text(&event, 23, name);
	else if (name)
		put_number(&event, 10, 7);
	put_number(&packet, 8, timestamp);
	put_number(&packet, 10, 1);
	if (clock)
		put_number(&packet, 58, clock);
	put_message(&packet, 11, &event);
	put_message(trace, 1, &packet);
}

static void put_name(struct out *trace, bool cleared, const char *name)
{
	struct out packet = { 0 }, interned = { 0 }, entry = { 0 };

	put_number(&entry, 1, 7);
	put_text(&entry, 2, name);
	put_message(&interned, 2, &entry);
	put_number(&packet, 10, 1);
	if (cleared)
		put_number(&packet, 13, 1);
	put_message(&packet, 12, &interned);
	put_message(trace, 1, &packet);
}

/* Clock 64 counts microseconds, each relative to the event before. */
static void put_snapshot(struct out *trace)
{
	struct out packet = { 0 }, snapshot = { 0 }, clock = { 0 };

	put_number(&clock, 1, 6);
	put_number(&clock, 2, 5000000);
	put_message(&snapshot, 1, &clock);
	clock = (struct out){ 0 };
	put_number(&clock, 1, 64);
	put_number(&clock, 2, 1000);
	put_number(&clock, 3, 1);
	put_number(&clock, 4, 1000);
	put_message(&snapshot, 1, &clock);
	put_number(&packet, 10, 1);
	put_message(&packet, 6, &snapshot);
	put_message(trace, 1, &packet);
}

static void make_trace(struct out *trace)
{
	*trace = (struct out){ 0 };
	put_track(trace, 0xdeadbeef00000001, 0, NULL, "GPU host");
	put_track(trace, 2, 0xdeadbeef00000001, "COMPUTE AGENT [4] QUEUE [1] (GPU)", NULL);
	put_track(trace, 3, 0, "THREAD 7", NULL);
	put_snapshot(trace);
	put_name(trace, false, "gemm");
	put_slice(trace, 1000, 0, 2, "");
	put_slice(trace, 1100, 0, 2, "inner");
	put_slice(trace, 1200, 0, 2, NULL);
	put_slice(trace, 2000, 0, 2, NULL);
	put_slice(trace, 500, 0, 3, "python");
	put_slice(trace, 9500, 0, 3, NULL);
	put_name(trace, true, "softmax");
	/* 10 and then 5 microseconds after the snapshot. */
	put_slice(trace, 10, 64, 2, "");
	put_slice(trace, 5, 64, 2, NULL);
	put_slice(trace, 9000000, 0, 2, "never ends");
}

static void check_trace(const void *bytes, size_t size)
{
	struct model *model;
	int error;

	model = import_text("x.pftrace", bytes, size, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "GPU host");
	assert_int_equal(model->devices.row[0].clock, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	assert_int_equal(model->tasks.count, 3);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "gemm");
	assert_int_equal(model->tasks.row[0].start_ns, 1000);
	assert_int_equal(model->tasks.row[0].end_ns, 2000);
	assert_string_equal(model_text(model, model->tasks.row[1].name), "inner");
	assert_int_equal(model->tasks.row[1].end_ns, 1200);
	assert_string_equal(model_text(model, model->tasks.row[2].name), "softmax");
	assert_int_equal(model->tasks.row[2].start_ns, 5010000);
	assert_int_equal(model->tasks.row[2].end_ns, 5015000);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

static void test_perfetto(void **state)
{
	struct out trace;

	make_trace(&trace);
	check_trace(trace.bytes, trace.size);
	import_same("x.pftrace", trace.bytes, trace.size, false);
}

static void test_perfetto_compressed(void **state)
{
	struct out trace, packet = { 0 }, whole = { 0 };
	uint8_t packed[8192];
	uLongf size = sizeof(packed);

	make_trace(&trace);
	assert_int_equal(compress(packed, &size, trace.bytes, trace.size), Z_OK);
	put_bytes(&packet, 50, packed, size);
	put_message(&whole, 1, &packet);
	check_trace(whole.bytes, whole.size);
	import_same("x.pftrace", whole.bytes, whole.size, false);
}

static void test_fields(void **state)
{
	static const uint8_t text[] = { 0x08, 0x96, 0x01, 0x12, 0x02, 'h', 'i', 0x1d,
					1,    0,    0,	  0,	0x22, 0x7f };
	struct proto_message message = { text, text + sizeof(text) };
	struct proto_field field;

	assert_int_equal(proto_next(&message, &field), 1);
	assert_int_equal(field.number, 1);
	assert_int_equal(field.value, 150);
	assert_int_equal(proto_next(&message, &field), 1);
	assert_true(proto_is(&field.bytes, "hi"));
	assert_int_equal(proto_next(&message, &field), 1);
	assert_int_equal(field.value, 1);
	/* A length beyond the end. */
	assert_int_equal(proto_next(&message, &field), -1);
	assert_int_equal(proto_next(&message, &field), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	 cmocka_unit_test(test_xplane),
		cmocka_unit_test(test_xplane_cut), cmocka_unit_test(test_xplane_figures),
		cmocka_unit_test(test_xplane_bandwidth), cmocka_unit_test(test_perfetto),
		cmocka_unit_test(test_perfetto_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
