/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of raw records become messages, from which protobuf-c reads back every value. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/trace/column.h"
#include "tests/unit/encode_fixture.h"
#include "tests/unit/pbt_stream.h"

#define ROWS 3000

/* Numbers of all sizes, small ones more often: truncated to a random width. */
static uint64_t any(struct encode_fixture *f)
{
	uint64_t number = pbt_stream_random(&f->random);

	return number >> (number & 63);
}

static struct item *records(enum rec_type type, uint32_t cpu)
{
	struct item *item = item_new(ITEM_RECORDS, 64);

	assert_non_null(item);
	item->type = type;
	item->cpu = cpu;
	return item;
}

static void encode(struct encode_fixture *f, const struct item *item, Profbpf__Packet__Kind kind,
		   struct encoded *out)
{
	assert_int_equal(encode_item(f->encode, item, f->strings, f->texts, out), 0);
	assert_int_equal(out->kind, kind);
}

/* Returns the entry that a code stands for, by the rules of proto/trace.proto. */
static size_t entry(uint32_t code, size_t *used)
{
	return code ? code - 1 : (*used)++;
}

struct values {
	uint64_t sum[4 * ROWS];
	size_t used;
};

static uint64_t value(const Profbpf__Calls *m, uint32_t code, struct values *values)
{
	size_t i;

	if (!code)
		return 0;
	i = entry(code - 1, &values->used);
	assert_in_range(i, 0, m->n_values - 1);
	if (code == 1)
		values->sum[i] = (i ? values->sum[i - 1] : 0) + m->values[i];
	return values->sum[i];
}

/* Every fourth call equals the previous one except for its times; some have a string. */
static struct item *any_calls(struct encode_fixture *f)
{
	struct item *item = records(REC_CALL, 3);
	struct rec_call row = { 0 };
	uint64_t ts = 1000;

	for (int i = 0; i < ROWS; i++) {
		if (i % 4)
			row = (struct rec_call){
				.header = { .type = REC_CALL, .cpu = 3, .flags = any(f) & 0xff05 },
				.tgid = any(f) & 0x3fffff,
				.tid = any(f) & 0x3fffff,
				.probe = any(f),
				.ret = any(f),
				.args = { any(f), any(f), any(f) }
			};
		row.dur_ns = any(f) & 0xffffffffff;
		row.header.ts_ns = ts += any(f) & 0xffffff;
		row.header.flags &= ~CALL_HAS_STRING;
		if (i % 100 == 7) {
			row.header.flags |= CALL_HAS_STRING;
			row.text = 77;
			texts_put(f->texts, row.text, "kernel", 6);
		}
		assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	}
	return item;
}

static void calls(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = any_calls(f);
	static uint32_t tid[ROWS], tgid[ROWS];
	static struct values values;
	uint64_t end = 0;
	Profbpf__Calls *m;
	struct encoded e;
	size_t rows, shapes, used = 0;

	encode(f, item, PROFBPF__PACKET__KIND__CALLS, &e);
	m = profbpf__calls__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	assert_int_equal(m->cpu, 3);
	assert_int_equal(COLUMN_ROWS(&rows, m->n_end_ns, m->n_dur_ns, m->n_shape, m->n_ret_value,
				     m->n_value0, m->n_value1, m->n_value2),
			 0);
	assert_int_equal(rows, ROWS);
	assert_int_equal(
		COLUMN_ROWS(&shapes, m->n_tid, m->n_tgid, m->n_function, m->n_flags, m->n_text), 0);
	/* Fewer shapes than calls, though some of the equal calls have a string. */
	assert_true(shapes < ROWS - ROWS / 8);
	for (size_t i = 0; i < rows; i++) {
		const struct rec_call *r = (const struct rec_call *)item->data + i;
		size_t s = entry(m->shape[i], &used);

		if (m->shape[i] == 0) {
			tid[s] = (s ? tid[s - 1] : 0) + m->tid[s];
			tgid[s] = (s ? tgid[s - 1] : 0) + m->tgid[s];
		}
		end += m->end_ns[i];
		assert_int_equal(end, r->header.ts_ns + r->dur_ns);
		assert_int_equal(m->dur_ns[i], r->dur_ns);
		assert_int_equal(tid[s], r->tid);
		assert_int_equal(tgid[s], r->tgid);
		assert_int_equal(m->function[s], r->probe);
		assert_int_equal(m->flags[s], trace_call_flags(r->header.flags));
		assert_string_equal(string_table_get(f->strings, m->text[s]),
				    r->header.flags & CALL_HAS_STRING ? "kernel" : "");
		assert_int_equal(value(m, m->ret_value[i], &values), r->ret);
		assert_int_equal(value(m, m->value0[i], &values), r->args[0]);
		assert_int_equal(value(m, m->value1[i], &values), r->args[1]);
		assert_int_equal(value(m, m->value2[i], &values), r->args[2]);
	}
	assert_int_equal(used, shapes);
	assert_int_equal(values.used, m->n_values);
	assert_int_equal(m->first_end_ns, m->end_ns[0]);
	assert_int_equal(m->last_end_ns, end);
	profbpf__calls__free_unpacked(m, NULL);
	item_free(item);
}

static void switches(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = records(REC_SWITCH, 1);
	Profbpf__Switches *m;
	uint64_t ts = 77;
	uint32_t next = 0;
	size_t used = 0;
	struct encoded e;

	for (int i = 0; i < ROWS; i++) {
		uint32_t previous = i % 5 ? next : any(f);
		struct rec_switch r = { .header = { .type = REC_SWITCH,
						    .cpu = 1,
						    .flags = any(f) & (15 | SWITCH_THROTTLED),
						    .ts_ns = ts += any(f) & 0xffffffff },
					.prev_tid = previous,
					.refill_ns = any(f),
					.next_tid = any(f) & 0xff,
					.syscall = (int16_t)any(f),
					.state = any(f) & 7 };

		next = r.next_tid;
		assert_int_equal(item_append(item, &r, sizeof(r)), 0);
	}
	encode(f, item, PROFBPF__PACKET__KIND__SWITCHES, &e);
	m = profbpf__switches__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	assert_int_equal(m->n_ts_ns, ROWS);
	ts = next = 0;
	for (size_t i = 0; i < ROWS; i++) {
		const struct rec_switch *r = (const struct rec_switch *)item->data + i;

		size_t s = entry(m->shape[i], &used);

		ts += m->ts_ns[i];
		assert_int_equal(ts, r->header.ts_ns);
		assert_int_equal(m->prev_change[i] ^ next, r->prev_tid);
		next = r->next_tid;
		assert_int_equal(m->next_tid[s], r->next_tid);
		assert_int_equal(m->state[s], trace_switch_state(r->state));
		assert_int_equal(m->syscall[s], r->syscall);
		assert_int_equal(m->flags[s], trace_switch_flags(r->header.flags));
		assert_int_equal(m->refill_ns[s],
				 r->header.flags & SWITCH_THROTTLED ? r->refill_ns : 0);
	}
	assert_int_equal(used, m->n_next_tid);
	assert_int_equal(m->last_ns, ts);
	profbpf__switches__free_unpacked(m, NULL);
	item_free(item);
}

static void wakes(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = records(REC_WAKE, 0);
	Profbpf__Wakes *m;
	uint64_t ts = 0;
	size_t used = 0;
	struct encoded e;

	for (int i = 0; i < ROWS; i++) {
		struct rec_wake r = { .header = { .type = REC_WAKE,
						  .flags = (any(f) & 15) |
							   (any(f) & 1 ? SLEEP_INET << SWITCH_KIND_SHIFT : 0),
						  .ts_ns = ts += 1 + (any(f) & 0xffff) },
				      .waker_tid = any(f) & 7,
				      .tid = any(f) & 7,
				      .target_cpu = any(f) & 4095,
				      .object = 1 + (any(f) & 3),
				      .fd = -1 };

		assert_int_equal(item_append(item, &r, sizeof(r)), 0);
	}
	encode(f, item, PROFBPF__PACKET__KIND__WAKES, &e);
	m = profbpf__wakes__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	assert_int_equal(m->n_ts_ns, ROWS);
	ts = 0;
	for (size_t i = 0; i < ROWS; i++) {
		const struct rec_wake *r = (const struct rec_wake *)item->data + i;

		size_t s = entry(m->shape[i], &used);

		ts += m->ts_ns[i];
		assert_int_equal(ts, r->header.ts_ns);
		assert_int_equal(m->waker_tid[s], r->waker_tid);
		assert_int_equal(m->tid[s], r->tid);
		assert_int_equal(m->target_cpu[s], r->target_cpu);
		assert_int_equal(m->flags[s], trace_wake_flags(r->header.flags & SWITCH_FLAGS));
		if (r->header.flags >> SWITCH_KIND_SHIFT)
			assert_true(m->object[s] >= 1 && m->object[s] <= 4);
		else
			assert_int_equal(m->object[s], 0);
	}
	assert_int_equal(used, m->n_tid);
	profbpf__wakes__free_unpacked(m, NULL);
	item_free(item);
}

static void accounts_and_ioctls(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = records(REC_ACCOUNT, 0);
	struct rec_account account = { .header = { .type = REC_ACCOUNT, .ts_ns = 5, .flags = ACCOUNT_FIRST },
				       .tid = 7,
				       .tgid = 6,
				       .run_ns = UINT64_MAX,
				       .runnable_ns = 1,
				       .major_faults = 9,
				       .syscall = 202 };
	struct rec_ioctl ioctl = { .header = { .type = REC_IOCTL, .ts_ns = 50 },
				   .dur_ns = 8,
				   .tgid = 1,
				   .tid = 2,
				   .cmd = 0x80045430,
				   .rdev = 5 << 20 | 2,
				   .ret = -25 };
	Profbpf__Accounts *a;
	Profbpf__Ioctls *m;
	struct encoded e;

	assert_int_equal(item_append(item, &account, sizeof(account)), 0);
	encode(f, item, PROFBPF__PACKET__KIND__ACCOUNTS, &e);
	a = profbpf__accounts__unpack(NULL, e.size, e.data);
	assert_non_null(a);
	assert_int_equal(a->n_ts_ns, 1);
	assert_true(a->run_ns[0] == UINT64_MAX);
	assert_int_equal(a->major_faults[0], 9);
	assert_int_equal(a->syscall[0], 203);
	assert_int_equal(a->n_user_ns, 0); /* all zero: left out */
	profbpf__accounts__free_unpacked(a, NULL);
	item_free(item);

	item = records(REC_IOCTL, 0);
	assert_int_equal(item_append(item, &ioctl, sizeof(ioctl)), 0);
	encode(f, item, PROFBPF__PACKET__KIND__IOCTLS, &e);
	m = profbpf__ioctls__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	assert_int_equal(m->end_ns[0], 58);
	assert_int_equal(m->cmd[0], 0x80045430);
	assert_int_equal(m->rdev[0], 5 << 20 | 2);
	assert_int_equal(m->ret[0], -25);
	profbpf__ioctls__free_unpacked(m, NULL);
	item_free(item);
}

static void changes_of_ends(void **state)
{
	static const struct ends_row rows[] = { { 7, 412000, 1000, false },
						{ 0, 3, 1500, true },
						{ UINT32_MAX, UINT32_MAX, 10, false } };
	struct item *item = item_new(ITEM_ENDS, 0);
	struct encode_fixture *f = *state;
	Profbpf__Ends *m;
	struct encoded e;
	uint64_t ts = 0;

	for (int i = 0; i < 3; i++)
		assert_int_equal(item_append(item, &rows[i], sizeof(rows[i])), 0);
	encode(f, item, PROFBPF__PACKET__KIND__ENDS, &e);
	m = profbpf__ends__unpack(NULL, e.size, e.data);
	assert_non_null(m);
	assert_int_equal(m->n_ts_ns, 3);
	for (int i = 0; i < 3; i++) {
		ts += (uint64_t)m->ts_ns[i];
		assert_int_equal(ts, rows[i].ts_ns);
		assert_int_equal(COLUMN_AT(m, function, i), rows[i].function);
		assert_int_equal(COLUMN_AT(m, seen, i), rows[i].seen);
		assert_int_equal(COLUMN_AT(m, calls_per_second, i), rows[i].calls_per_second);
	}
	profbpf__ends__free_unpacked(m, NULL);
	item_free(item);
}

static void items_that_are_no_rows(void **state)
{
	struct encode_fixture *f = *state;
	struct item *item = item_new(ITEM_BODY, 16);
	struct encoded e;

	assert_int_equal(encode_item(f->encode, item, f->strings, f->texts, &e), -EINVAL);
	item_free(item);
	item = records(REC_CALL, 0);
	assert_int_equal(encode_item(f->encode, item, f->strings, f->texts, &e), -EINVAL);
	item_free(item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENCODE_TEST(calls),
		ENCODE_TEST(switches),
		ENCODE_TEST(wakes),
		ENCODE_TEST(accounts_and_ioctls),
		ENCODE_TEST(changes_of_ends),
		ENCODE_TEST(items_that_are_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
