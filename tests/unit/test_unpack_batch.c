/* SPDX-License-Identifier: Apache-2.0 */
/* Batches are unpacked like protobuf-c does it, including damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/load/arena.h"
#include "analyzer/load/unpack_batch.h"
#include "proto/trace.pb-c.h"

#define ROWS 203
#define BODY_MAX (64u << 10)
#define DAMAGES 20000

static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Mostly small values, and some of each length. */
static uint64_t random_value(void)
{
	unsigned int bits = next_random() % 4 ? 3 : (unsigned int)(next_random() % 64 + 1);

	return next_random() & (UINT64_MAX >> (64 - bits));
}

static void fill64(uint64_t *to)
{
	for (int i = 0; i < ROWS; i++)
		to[i] = random_value();
}

static void fill32(uint32_t *to)
{
	for (int i = 0; i < ROWS; i++)
		to[i] = (uint32_t)random_value();
}

static size_t make_calls(uint8_t *body)
{
	static uint64_t end_ns[ROWS], dur_ns[ROWS], values[ROWS];
	static uint32_t tid[ROWS], function[ROWS], shape[ROWS];
	Profbpf__Calls calls = PROFBPF__CALLS__INIT;

	fill64(end_ns);
	fill64(dur_ns);
	fill64(values);
	fill32(tid);
	fill32(function);
	fill32(shape);
	calls.cpu = 3;
	calls.first_end_ns = UINT64_MAX;
	calls.last_end_ns = 300;
	calls.n_end_ns = calls.n_dur_ns = calls.n_shape = calls.n_values = ROWS;
	calls.n_tid = calls.n_function = 17;
	calls.end_ns = (int64_t *)end_ns;
	calls.dur_ns = dur_ns;
	calls.values = (int64_t *)values;
	calls.tid = (int32_t *)tid;
	calls.function = function;
	calls.shape = shape;
	assert_in_range(profbpf__calls__get_packed_size(&calls), 1, BODY_MAX);
	return profbpf__calls__pack(&calls, body);
}

static size_t make_switches(uint8_t *body)
{
	static uint32_t ts_ns32[ROWS], next[ROWS];
	static uint64_t ts_ns[ROWS];
	static Profbpf__Switches__State state[ROWS];
	Profbpf__Switches switches = PROFBPF__SWITCHES__INIT;

	fill64(ts_ns);
	fill32(next);
	fill32(ts_ns32);
	for (int i = 0; i < ROWS; i++)
		state[i] = (Profbpf__Switches__State)(ts_ns32[i] % 7);
	switches.n_ts_ns = switches.n_next_tid = switches.n_state = ROWS;
	switches.ts_ns = ts_ns;
	switches.next_tid = next;
	switches.state = state;
	return profbpf__switches__pack(&switches, body);
}

/* Compares the two messages in packed form. */
static void assert_same(const ProtobufCMessage *expected, const ProtobufCMessage *got)
{
	static uint8_t a[2 * BODY_MAX], b[2 * BODY_MAX];
	size_t size = protobuf_c_message_get_packed_size(expected);

	assert_in_range(size, 0, sizeof(a));
	assert_int_equal(protobuf_c_message_get_packed_size(got), size);
	protobuf_c_message_pack(expected, a);
	protobuf_c_message_pack(got, b);
	assert_memory_equal(a, b, size);
}

/* Drops unknown fields. */
static void forget_unknown(ProtobufCMessage *message)
{
	message->n_unknown_fields = 0;
}

static bool compare(const ProtobufCMessageDescriptor *type, struct arena *arena, size_t size,
		    const uint8_t *body)
{
	ProtobufCMessage *expected, *got;

	arena_reset(arena);
	expected = protobuf_c_message_unpack(type, &arena->allocator, size, body);
	got = unpack_batch(type, &arena->allocator, size, body);
	if (!expected)
		return false;
	assert_non_null(got);
	forget_unknown(expected);
	assert_same(expected, got);
	return true;
}

static void check(const ProtobufCMessageDescriptor *type, size_t (*make)(uint8_t *body))
{
	static uint8_t body[2 * BODY_MAX], damaged[2 * BODY_MAX];
	struct arena arena;
	size_t size = make(body), sound = 0;

	arena_init(&arena, 64u << 20);
	assert_true(compare(type, &arena, size, body));
	for (size_t cut = 0; cut < size; cut += 1 + cut / 64)
		sound += compare(type, &arena, cut, body);
	for (int i = 0; i < DAMAGES; i++) {
		size_t from = next_random() % size;

		memcpy(damaged, body, size);
		for (uint64_t n = next_random() % 3 + 1; n--;)
			damaged[from + next_random() % 8 % (size - from)] = (uint8_t)next_random();
		sound += compare(type, &arena, size, damaged);
	}
	/* The message twice in a row: columns are concatenated. */
	memcpy(body + size, body, size);
	assert_true(compare(type, &arena, 2 * size, body));
	assert_in_range(sound, DAMAGES / 10, DAMAGES);
	arena_release(&arena);
}

static void calls(void **state)
{
	(void)state;
	check(&profbpf__calls__descriptor, make_calls);
}

static void switches(void **state)
{
	(void)state;
	check(&profbpf__switches__descriptor, make_switches);
}

/* A number without an end is damage, wherever it is. */
static void endless(void **state)
{
	uint8_t body[32] = { 4 << 3 | 2, 12 };
	struct arena arena;

	(void)state;
	arena_init(&arena, 1u << 20);
	memset(body + 2, 0xff, 11);
	body[13] = 1;
	assert_null(unpack_batch(&profbpf__calls__descriptor, &arena.allocator, 14, body));
	body[11] = 1;
	body[12] = 1;
	assert_non_null(unpack_batch(&profbpf__calls__descriptor, &arena.allocator, 14, body));
	arena_release(&arena);
}

/* Batches have no numbers of fixed size: a column of them, or a single one, is damage, except in an unknown field. */
static void of_fixed_size(void **state)
{
	static const struct {
		uint8_t body[10];
		size_t size;
		bool sound;
	} cases[] = {
		{ { 1 << 3 | 5, 7 }, 5, false },      { { 1 << 3 | 1, 7 }, 9, false },
		{ { 5 << 3 | 1, 7 }, 9, false },      { { 6 << 3 | 5, 7 }, 5, false },
		{ { 0x81, 96 >> 4, 7 }, 10, true }, /* field 96 */
	};
	const ProtobufCMessageDescriptor *type = &profbpf__calls__descriptor;
	struct arena arena;

	(void)state;
	arena_init(&arena, 1u << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *body = cases[i].body;

		assert_int_equal(protobuf_c_message_unpack(type, &arena.allocator, cases[i].size, body) != NULL,
				 cases[i].sound);
		assert_int_equal(unpack_batch(type, &arena.allocator, cases[i].size, body) != NULL, cases[i].sound);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(calls), cmocka_unit_test(switches),
					    cmocka_unit_test(endless),
					    cmocka_unit_test(of_fixed_size) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
