/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_column.c - columns of batches: write them, send them, read them back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/trace/column.h"
#include "proto/trace.pb-c.h"

#define ROWS 1000

static void test_push_and_grow(void **state)
{
	struct column_u32 c = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(column_u32_push(&c, i * 7), 0);
	assert_int_equal(c.count, 100000);
	assert_true(c.capacity >= c.count && c.capacity < 2 * c.count);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(c.value[i], i * 7);
	column_u32_clear(&c);
	assert_int_equal(c.count, 0);
	assert_true(c.capacity >= 100000);
	column_u32_free(&c);
	assert_null(c.value);
	assert_int_equal(column_u32_push(&c, 1), 0);
	column_u32_free(&c);
}

static void test_reserve(void **state)
{
	struct column_s64 c = { 0 };
	int64_t *value;

	assert_int_equal(column_s64_reserve(&c, 5000), 0);
	value = c.value;
	for (int i = 0; i < 5000; i++)
		assert_int_equal(column_s64_push(&c, -i), 0);
	assert_ptr_equal(c.value, value);
	/* Impossible sizes fail and change nothing. */
	assert_int_equal(column_s64_reserve(&c, SIZE_MAX), -ENOMEM);
	assert_int_equal(column_s64_reserve(&c, SIZE_MAX / 8), -ENOMEM);
	assert_int_equal(column_s64_reserve(&c, SIZE_MAX / 16), -ENOMEM);
	assert_ptr_equal(c.value, value);
	assert_int_equal(c.count, 5000);
	assert_int_equal(c.value[4999], -4999);
	column_s64_free(&c);
}

/* Differences wrap around, so that every sequence survives, also one that no clock produces. */
static void test_deltas(void **state)
{
	static const uint64_t u[] = { 5, 5, 1000, 0, UINT64_MAX, 1, INT64_MAX, 1ull << 63, 7 };
	static const int32_t s[] = { 4, -4, INT32_MAX, INT32_MIN, 0, -1, INT32_MIN, INT32_MAX };
	struct column_s64 a = { 0 };
	struct column_u64 b = { 0 };
	struct column_s32 c = { 0 };
	uint64_t value = 0;
	int64_t signed_value = 0;
	int32_t small = 0;

	for (size_t i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
		assert_int_equal(column_s64_push_delta(&a, (int64_t)u[i]), 0);
		assert_int_equal(column_u64_push_delta(&b, u[i]), 0);
	}
	assert_int_equal(a.value[0], 5);
	assert_int_equal(a.value[1], 0);
	assert_int_equal(a.value[2], 995);
	assert_int_equal(a.value[3], -1000);
	for (size_t i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
		signed_value = column_s64_next(signed_value, a.value[i]);
		assert_true((uint64_t)signed_value == u[i]);
		value = column_u64_next(value, b.value[i]);
		assert_true(value == u[i]);
	}
	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++)
		assert_int_equal(column_s32_push_delta(&c, s[i]), 0);
	for (size_t i = 0; i < sizeof(s) / sizeof(s[0]); i++) {
		small = column_s32_next(small, c.value[i]);
		assert_int_equal(small, s[i]);
	}
	/* The first difference of the next batch is relative to zero again. */
	column_s64_clear(&a);
	assert_int_equal(column_s64_push_delta(&a, 9), 0);
	assert_int_equal(a.value[0], 9);
	column_s64_free(&a);
	column_u64_free(&b);
	column_s32_free(&c);
}

static void test_rows(void **state)
{
	size_t rows = 77;

	assert_int_equal(COLUMN_ROWS(&rows, 0), 0);
	assert_int_equal(rows, 0);
	assert_int_equal(COLUMN_ROWS(&rows, 3, 3, 0, 3), 0);
	assert_int_equal(rows, 3);
	assert_int_equal(COLUMN_ROWS(&rows, 0, 0, 4), 0);
	assert_int_equal(rows, 4);
	assert_int_equal(COLUMN_ROWS(&rows, 3, 3, 4), -EBADMSG);
	assert_int_equal(rows, 0);
	assert_int_equal(COLUMN_ROWS(&rows, 3, 0, 1), -EBADMSG);
	assert_int_equal(COLUMN_ROWS(&rows, SIZE_MAX, 1), -EBADMSG);
}

struct batch {
	struct column_s64 end;
	struct column_u64 dur;
	struct column_s32 tid;
	struct column_u32 flags;
	struct column_u32 ret;
};

static void fill_batch(struct batch *b)
{
	assert_int_equal(column_s64_reserve(&b->end, ROWS), 0);
	for (int64_t i = 0; i < ROWS; i++) {
		/* Sometimes out of order, as records of nested calls are. */
		assert_int_equal(column_s64_push_delta(&b->end, 1000000 * i - i % 7), 0);
		assert_int_equal(column_u64_push(&b->dur, (uint64_t)i), 0);
		assert_int_equal(column_s32_push_delta(&b->tid, 4000 + (int32_t)(i % 3)), 0);
		assert_int_equal(column_u32_push(&b->flags, 0), 0);
		assert_int_equal(column_u32_push(&b->ret, i == ROWS - 1), 0);
	}
}

static void check_batch(const Profbpf__Calls *m)
{
	int64_t end = 0;
	int32_t tid = 0;
	size_t rows;

	assert_int_equal(COLUMN_ROWS(&rows, m->n_end_ns, m->n_dur_ns, m->n_tid, m->n_function,
				     m->n_flags, m->n_ret),
			 0);
	assert_int_equal(rows, ROWS);
	for (size_t i = 0; i < rows; i++) {
		int64_t n = (int64_t)i;

		end = column_s64_next(end, COLUMN_AT(m, end_ns, i));
		tid = column_s32_next(tid, COLUMN_AT(m, tid, i));
		assert_int_equal(end, 1000000 * n - n % 7);
		assert_int_equal(tid, 4000 + n % 3);
		assert_int_equal(COLUMN_AT(m, dur_ns, i), n);
		assert_int_equal(COLUMN_AT(m, flags, i), 0);
		assert_int_equal(COLUMN_AT(m, function, i), 0);
		assert_int_equal(COLUMN_AT(m, ret, i), i == ROWS - 1);
	}
}

static void test_through_protobuf(void **state)
{
	struct batch b = { 0 };
	Profbpf__Calls out = PROFBPF__CALLS__INIT, *in;
	uint8_t *packed;
	size_t size;

	fill_batch(&b);
	COLUMN_EXPORT_ALWAYS(&b.end, &out, end_ns);
	COLUMN_EXPORT(&b.dur, &out, dur_ns);
	COLUMN_EXPORT(&b.tid, &out, tid);
	COLUMN_EXPORT(&b.flags, &out, flags);
	COLUMN_EXPORT(&b.ret, &out, ret);
	assert_int_equal(out.n_flags, 0);
	assert_int_equal(out.n_ret, ROWS);

	packed = malloc(profbpf__calls__get_packed_size(&out));
	assert_non_null(packed);
	size = profbpf__calls__pack(&out, packed);
	in = profbpf__calls__unpack(NULL, size, packed);
	assert_non_null(in);
	check_batch(in);
	profbpf__calls__free_unpacked(in, NULL);
	free(packed);
	column_s64_free(&b.end);
	column_u64_free(&b.dur);
	column_s32_free(&b.tid);
	column_u32_free(&b.flags);
	column_u32_free(&b.ret);
}

static void test_enum_columns(void **state)
{
	struct column_u32 event = { 0 };
	Profbpf__Tasks out = PROFBPF__TASKS__INIT;

	column_u32_push(&event, PROFBPF__TASKS__EVENT__SEEN);
	COLUMN_EXPORT_ENUM(&event, &out, event);
	assert_int_equal(out.n_event, 0);
	column_u32_push(&event, PROFBPF__TASKS__EVENT__EXIT);
	COLUMN_EXPORT_ENUM(&event, &out, event);
	assert_int_equal(out.n_event, 2);
	assert_int_equal(out.event[0], PROFBPF__TASKS__EVENT__SEEN);
	assert_int_equal(out.event[1], PROFBPF__TASKS__EVENT__EXIT);
	column_u32_free(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_and_grow),	 cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_deltas),		 cmocka_unit_test(test_rows),
		cmocka_unit_test(test_through_protobuf), cmocka_unit_test(test_enum_columns),
	};

	return cmocka_run_group_tests_name("column", tests, NULL, NULL);
}
