/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches with shapes, from the daemon's encoder to the analyzer's model: the records read equal the recorded ones,
 * and invalid codes are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/pbt.h"
#include "tests/unit/encode_fixture.h"
#include "tests/unit/pbt_stream.h"
#include "tests/unit/sample_trace.h"

#define ROWS 500
#define START 1000000

static struct item *records(enum rec_type type)
{
	struct item *item = item_new(ITEM_RECORDS, 64);

	assert_non_null(item);
	item->type = type;
	return item;
}

static uint32_t below(struct encode_fixture *f, uint32_t n)
{
	return (uint32_t)(pbt_stream_random(&f->random) >> 32) % n;
}

static struct item *some_calls(struct encode_fixture *f)
{
	struct item *item = records(REC_CALL);

	for (uint32_t i = 0; i < ROWS; i++) {
		struct rec_call r = { .header = { .type = REC_CALL,
						  .flags = below(f, 3) << CALL_DEPTH_SHIFT,
						  .ts_ns = START + 1000 * i },
				      .dur_ns = below(f, 1000),
				      .tgid = 10,
				      .tid = 10 + below(f, 3),
				      .probe = 1 + below(f, 4),
				      .ret = below(f, 3) - 1,
				      .args = { 0, below(f, 5), UINT64_MAX - below(f, 2) } };

		assert_int_equal(item_append(item, &r, sizeof(r)), 0);
	}
	return item;
}

static struct item *some_switches(struct encode_fixture *f)
{
	struct item *item = records(REC_SWITCH);
	uint32_t running = 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		struct rec_switch r = { .header = { .type = REC_SWITCH,
						    .flags = below(f, 4) |
							     (below(f, 9) ? 0 : SWITCH_THROTTLED),
						    .ts_ns = START + 1000 * i },
					.refill_ns = 1 + below(f, 3),
					.prev_tid = below(f, 9) ? running : 99,
					.next_tid = below(f, 4),
					.syscall = (int16_t)(below(f, 3) - 1),
					.state = below(f, 3) };

		running = r.next_tid;
		assert_int_equal(item_append(item, &r, sizeof(r)), 0);
	}
	return item;
}

static struct item *some_wakes(struct encode_fixture *f)
{
	struct item *item = records(REC_WAKE);

	for (uint32_t i = 0; i < ROWS; i++) {
		struct rec_wake r = { .header = { .type = REC_WAKE,
						  .flags = below(f, 16),
						  .ts_ns = START + 1000 * i },
				      .waker_tid = below(f, 3),
				      .tid = 10 + below(f, 3),
				      .target_cpu = below(f, 2) };

		assert_int_equal(item_append(item, &r, sizeof(r)), 0);
	}
	return item;
}

static struct trace_builder *begin(void)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = START });
	for (uint32_t tid = 10; tid < 13; tid++)
		trace_target(builder, START, 10, tid, "t");
	for (uint32_t id = 1; id < 5; id++)
		trace_function(builder,
			       &(struct trace_function){ .id = id, .runtime = "r", .name = "f" });
	return builder;
}

static struct encoded encoded(struct encode_fixture *f, const struct item *item)
{
	struct encoded e;

	assert_int_equal(encode_item(f->encode, item, f->strings, f->texts, &e), 0);
	return e;
}

static struct model *load(struct encode_fixture *f, const struct item *item)
{
	struct trace_builder *builder = begin();
	struct encoded e = encoded(f, item);
	struct model *model;

	trace_packet(builder, e.kind, e.data, e.size);
	model = load_trace(builder);
	assert_int_equal(model->damage.packets_skipped, 0);
	assert_int_equal(model->bad_rows, 0);
	return model;
}

static uint32_t tid_of(const struct model *model, uint32_t thread)
{
	return thread == INDEX_NONE ? 0 : model->threads.row[thread].tid;
}

/* The model sorts calls by thread: each is found by its instant, which is unique. */
static void calls_come_back(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = some_calls(f);
	struct model *model = load(f, item);

	assert_int_equal(model->calls.count, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		const struct call *call = &model->calls.row[i];
		const struct rec_call *r =
			(const struct rec_call *)item->data + (call->start_ns - START) / 1000;

		assert_int_equal(call->start_ns, r->header.ts_ns);
		assert_int_equal(call->end_ns, r->header.ts_ns + r->dur_ns);
		assert_int_equal(tid_of(model, call->thread), r->tid);
		assert_int_equal(call->ret, r->ret);
		assert_int_equal(call->depth, r->header.flags >> CALL_DEPTH_SHIFT);
		assert_memory_equal(call->args, r->args, sizeof(r->args));
	}
	model_free(model);
	item_free(item);
}

static void switches_come_back(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = some_switches(f);
	struct model *model = load(f, item);

	assert_int_equal(model->switches.count, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		const struct cpu_switch *row = &model->switches.row[i];
		const struct rec_switch *r = (const struct rec_switch *)item->data + i;

		assert_int_equal(row->ts_ns, r->header.ts_ns);
		assert_int_equal(row->prev_tid, r->prev_tid);
		assert_int_equal(row->next_tid, r->next_tid);
		assert_int_equal(row->state, trace_switch_state(r->state));
		assert_int_equal(row->syscall, r->syscall);
		assert_int_equal(row->flags, trace_switch_flags(r->header.flags));
		assert_int_equal(row->refill_ns,
				 r->header.flags & SWITCH_THROTTLED ? r->refill_ns : 0);
	}
	model_free(model);
	item_free(item);
}

static void wakes_come_back(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = some_wakes(f);
	struct model *model = load(f, item);

	assert_int_equal(model->wakes.count, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		const struct wake *row = &model->wakes.row[i];
		const struct rec_wake *r =
			(const struct rec_wake *)item->data + (row->ts_ns - START) / 1000;

		assert_int_equal(row->waker_tid, r->waker_tid);
		assert_int_equal(tid_of(model, row->thread), r->tid);
		assert_int_equal(row->target_cpu, r->target_cpu);
		assert_int_equal(row->flags, trace_wake_flags(r->header.flags));
	}
	model_free(model);
	item_free(item);
}

/* A batch is refused as a whole: a half of it would look like a gap. */
static void refused(Profbpf__Packet__Kind kind, const uint8_t *body, size_t size)
{
	struct trace_builder *builder = begin();
	struct model *model;

	trace_packet(builder, kind, body, size);
	model = load_trace(builder);
	assert_int_equal(model->damage.packets_skipped, 1);
	assert_int_equal(model->calls.count + model->switches.count + model->wakes.count, 0);
	model_free(model);
}

#define REFUSED(kind, ...)                                                       \
	refused(PROFBPF__PACKET__KIND__##kind, (const uint8_t[]){ __VA_ARGS__ }, \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void codes_without_entries_are_refused(void **state)
{
	/* Switches, three instants (4), shapes (10), one next_tid (6). */
	REFUSED(SWITCHES, 0x22, 3, 1, 1, 1, 0x52, 3, 0, 0, 1, 0x32, 1, 7); /* two new entries */
	REFUSED(SWITCHES, 0x22, 3, 1, 1, 1, 0x52, 3, 0, 1, 2, 0x32, 1, 7); /* the second is missing */
	REFUSED(SWITCHES, 0x22, 3, 1, 1, 1, 0x52, 3, 1, 0, 0, 0x32, 2, 7, 8); /* used before its entry */
	REFUSED(SWITCHES, 0x22, 3, 1, 1, 1, 0x52, 2, 0, 1, 0x32, 1, 7); /* too few codes */
	REFUSED(SWITCHES, 0x22, 1, 1, 0x52, 1, 0); /* no entries */
	REFUSED(WAKES, 0x22, 2, 1, 1, 0x4a, 2, 0, 2, 0x32, 1, 7);
	/* Calls, two instants (4), shapes (15), one tid (6), value0 (17), one value (20). */
	REFUSED(CALLS, 0x22, 2, 1, 1, 0x7a, 2, 0, 2, 0x32, 1, 7);
	REFUSED(CALLS, 0x22, 2, 1, 1, 0x7a, 2, 0, 1, 0x32, 1, 7, 0x8a, 1, 2, 1, 1, 0xa2, 1, 1, 5);
	REFUSED(CALLS, 0x22, 2, 1, 1, 0x7a, 2, 0, 1, 0x32, 1, 7, 0x8a, 1, 2, 2, 1, 0xa2, 1, 1, 5);
	REFUSED(CALLS, 0x22, 2, 1, 1, 0x7a, 2, 0, 1, 0x32, 1, 7, 0x8a, 1, 2, 1, 2);
}

/* Random bytes instead of valid ones: a result or a refusal, never a crash. */
static void damaged_batches_do_no_harm(void **state)
{
	struct encode_fixture *f = *state;

	for (int round = 0; round < 600; round++) {
		struct item *item = round % 3 == 0   ? some_calls(f)
				    : round % 3 == 1 ? some_switches(f)
						     : some_wakes(f);
		struct trace_builder *builder = begin();
		struct encoded e = encoded(f, item);
		uint8_t *body = malloc(e.size);

		memcpy(body, e.data, e.size);
		for (uint32_t i = 1 + below(f, 4); i > 0; i--)
			body[below(f, (uint32_t)e.size)] = (uint8_t)below(f, 256);
		trace_packet(builder, e.kind, body, e.size);
		free(body);
		model_free(load_trace(builder));
		item_free(item);
	}
}

static void older_formats_are_read_and_newer_refused(void **state)
{
	char error[512] = "";
	const uint8_t *bytes;
	size_t size;

	for (uint32_t format = PBT_FORMAT_OLDEST; format <= PBT_FORMAT + 1; format++) {
		struct trace_builder *builder = trace_builder_new();
		struct model *model;

		trace_segment(builder,
			      &(struct trace_segment){ .format = format, .start_ns = START });
		trace_switch(builder, &(struct trace_switch_row){
					      .ts_ns = START + 5, .prev_tid = 7, .next_tid = 8 });
		bytes = trace_bytes(builder, &size);
		model = load_bytes(bytes, size, error, sizeof(error));
		if (format > PBT_FORMAT) {
			assert_null(model);
			assert_non_null(strstr(error, "reads formats 1 to "));
		} else {
			assert_non_null(model);
			assert_int_equal(model->switches.count, 1);
			assert_int_equal(model->switches.row[0].next_tid, 8);
			model_free(model);
		}
		trace_builder_free(builder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENCODE_TEST(calls_come_back),
		ENCODE_TEST(switches_come_back),
		ENCODE_TEST(wakes_come_back),
		cmocka_unit_test(codes_without_entries_are_refused),
		ENCODE_TEST(damaged_batches_do_no_harm),
		cmocka_unit_test(older_formats_are_read_and_newer_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
