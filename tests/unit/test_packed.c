/* SPDX-License-Identifier: Apache-2.0 */
/* Columns packed by hand are readable by protobuf-c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "daemon/profbpfd/encode/packed.h"
#include "proto/trace.pb-c.h"

static const uint64_t values[] = { 0, 1, 127, 128, 300, UINT32_MAX, 1ull << 62, UINT64_MAX };
#define VALUES (sizeof(values) / sizeof(values[0]))

static Profbpf__Calls *unpack(const struct packed_message *m)
{
	return profbpf__calls__unpack(NULL, m->size, m->data);
}

/* Lengths change at every seven bits; above 28 bits varint_put_time() takes another path. */
static void times_are_varints(void **state)
{
	uint8_t plain[VARINT_MAX], time[VARINT_MAX];

	for (int bit = 0; bit < 64; bit++) {
		for (uint64_t around = 0; around < 3; around++) {
			uint64_t value = (1ull << bit) - 1 + around;
			size_t size = (size_t)(varint_put(plain, value) - plain);

			assert_int_equal(varint_put_time(time, value) - time, size);
			assert_memory_equal(time, plain, size);
		}
	}
}

static void values_of_any_size(void **state)
{
	struct packed end = { 0 }, dur = { 0 }, tid = { 0 }, zero = { 0 };
	struct packed_message m = { 0 };
	Profbpf__Calls *calls;
	int64_t sum = 0;
	int32_t last = 0;

	assert_int_equal(packed_start(&end, VALUES), 0);
	assert_int_equal(packed_start(&dur, VALUES), 0);
	assert_int_equal(packed_start(&tid, VALUES), 0);
	assert_int_equal(packed_start(&zero, VALUES), 0);
	for (size_t i = 0; i < VALUES; i++) {
		packed_put_delta(&end, values[i]);
		packed_put(&dur, values[i]);
		packed_put_delta(&tid, (uint32_t)(i % 2 ? 4000 + i : 7));
		packed_put(&zero, 0);
	}
	packed_message_start(&m, &profbpf__calls__descriptor);
	assert_int_equal(packed_message_value(&m, "cpu", 130), 0);
	assert_int_equal(packed_message_value(&m, "first_end_ns", 0), 0);
	assert_int_equal(packed_message_column(&m, "end_ns", &end, true), 0);
	assert_int_equal(packed_message_column(&m, "dur_ns", &dur, false), 0);
	assert_int_equal(packed_message_column(&m, "tid", &tid, false), 0);
	assert_int_equal(packed_message_column(&m, "ret", &zero, false), 0);
	calls = unpack(&m);
	assert_non_null(calls);
	assert_int_equal(calls->cpu, 130);
	assert_int_equal(calls->n_end_ns, VALUES);
	assert_int_equal(calls->n_dur_ns, VALUES);
	assert_int_equal(calls->n_tid, VALUES);
	assert_int_equal(calls->n_ret, 0);
	for (size_t i = 0; i < VALUES; i++) {
		sum = (int64_t)((uint64_t)sum + (uint64_t)calls->end_ns[i]);
		last += calls->tid[i];
		assert_true((uint64_t)sum == values[i]);
		assert_true(calls->dur_ns[i] == values[i]);
		assert_int_equal(last, i % 2 ? 4000 + i : 7);
	}
	profbpf__calls__free_unpacked(calls, NULL);
	packed_free(&end);
	packed_free(&dur);
	packed_free(&tid);
	packed_free(&zero);
	packed_message_free(&m);
}

static void signed_and_growing(void **state)
{
	struct packed ts = { 0 }, syscall = { 0 };
	struct packed_message m = { 0 };
	Profbpf__Switches *switches;

	assert_int_equal(packed_start(&ts, 3), 0);
	assert_int_equal(packed_start(&syscall, 3), 0);
	for (int i = 0; i < 3; i++) {
		packed_put_growth(&ts, 1000000000000ull + 500 * i);
		packed_put_signed(&syscall, i - 1);
	}
	packed_message_start(&m, &profbpf__switches__descriptor);
	assert_int_equal(packed_message_column(&m, "ts_ns", &ts, true), 0);
	assert_int_equal(packed_message_column(&m, "syscall", &syscall, false), 0);
	switches = profbpf__switches__unpack(NULL, m.size, m.data);
	assert_non_null(switches);
	assert_int_equal(switches->n_syscall, 3);
	assert_true(switches->ts_ns[0] == 1000000000000ull);
	assert_int_equal(switches->ts_ns[1], 500);
	assert_int_equal(switches->ts_ns[2], 500);
	for (int i = 0; i < 3; i++)
		assert_int_equal(switches->syscall[i], i - 1);
	profbpf__switches__free_unpacked(switches, NULL);
	packed_free(&ts);
	packed_free(&syscall);
	packed_message_free(&m);
}

/* A column of zeros that gives the number of rows stays; any other one is left out. */
static void zeros(void **state)
{
	struct packed_message m = { 0 };
	struct packed column = { 0 };
	Profbpf__Calls *calls;

	assert_int_equal(packed_start(&column, 4), 0);
	for (int i = 0; i < 4; i++)
		packed_put(&column, 0);
	packed_message_start(&m, &profbpf__calls__descriptor);
	assert_int_equal(packed_message_column(&m, "end_ns", &column, true), 0);
	assert_int_equal(packed_message_column(&m, "arg0", &column, false), 0);
	calls = unpack(&m);
	assert_non_null(calls);
	assert_int_equal(calls->n_end_ns, 4);
	assert_int_equal(calls->n_arg0, 0);
	profbpf__calls__free_unpacked(calls, NULL);

	/* A reused column is empty, however large it was. */
	assert_int_equal(packed_start(&column, 2), 0);
	packed_message_start(&m, &profbpf__calls__descriptor);
	assert_int_equal(packed_message_column(&m, "end_ns", &column, true), 0);
	assert_int_equal(m.size, 0);
	packed_free(&column);
	packed_message_free(&m);
}

static void no_such_field(void **state)
{
	struct packed_message m = { 0 };

	packed_message_start(&m, &profbpf__calls__descriptor);
	assert_int_equal(packed_message_value(&m, "colour", 1), -EINVAL);
	packed_message_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_varints),
		cmocka_unit_test(values_of_any_size),
		cmocka_unit_test(signed_and_growing),
		cmocka_unit_test(zeros),
		cmocka_unit_test(no_such_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
