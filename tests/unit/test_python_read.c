/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading CPython from outside: line tables from real interpreters, and memory of a simulated interpreter, valid,
 * inconsistent and hostile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/interpreters/python/python_read.h"

/* A function's line table by version, and the line of every second byte of its code. */
static const struct {
	uint16_t version;
	int32_t first_line;
	const uint8_t *table;
	size_t size;
	const uint8_t *lines;
	size_t count;
} tables[] = {
	{ 0x0308, 1, (const uint8_t[]){ 0, 1, 4, 1, 6, 1, 2, 255, 6, 3, 4, 3, 2, 1, 2, 255, 4, 2,
		  8, 1, 10, 1 }, 22,
		(const uint8_t[]){ 2, 2, 3, 3, 3, 4, 3, 3, 3, 6, 6, 9, 10, 9, 9, 11, 11, 11, 11, 12, 12,
		  12, 12, 12, 13, 13 }, 26 },
	{ 0x0309, 1, (const uint8_t[]){ 0, 1, 4, 1, 6, 1, 2, 255, 6, 3, 4, 3, 2, 1, 2, 255, 4, 2,
		  8, 1, 10, 1 }, 22,
		(const uint8_t[]){ 2, 2, 3, 3, 3, 4, 3, 3, 3, 6, 6, 9, 10, 9, 9, 11, 11, 11, 11, 12, 12,
		  12, 12, 12, 13, 13 }, 26 },
	{ 0x030a, 1, (const uint8_t[]){ 4, 1, 6, 1, 2, 1, 6, 255, 4, 3, 2, 3, 2, 1, 4, 255, 8, 2,
		  10, 1, 4, 1 }, 22,
		(const uint8_t[]){ 2, 2, 3, 3, 3, 4, 3, 3, 3, 6, 6, 9, 10, 9, 9, 11, 11, 11, 11, 12, 12,
		  12, 12, 12, 13, 13 }, 26 },
	{ 0x030b, 1, (const uint8_t[]){ 128, 0, 216, 8, 9, 128, 65, 240, 2, 2, 9, 6, 240, 0, 2,
		  9, 6, 216, 18, 19, 240, 3, 2, 9, 6, 241, 0, 2, 9, 6, 244, 0, 2, 9, 6, 128, 65, 240, 6,
		  0, 8, 9, 240, 0, 4, 5, 15, 240, 6, 0, 17, 18, 216, 12, 13, 241, 3, 1, 17, 14, 240, 0,
		  1, 9, 15, 224, 13, 14, 240, 0, 1, 5, 15, 240, 0, 1, 5, 15, 136, 1, 216, 8, 9, 136, 81,
		  137, 6, 136, 1, 136, 1, 216, 11, 12, 128, 72 }, 96,
		(const uint8_t[]){ 1, 2, 2, 3, 3, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 6, 6, 9, 10, 9, 9, 9,
		  11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 13, 13 }, 34 },
	{ 0x030c, 1, (const uint8_t[]){ 128, 0, 216, 8, 9, 128, 65, 224, 18, 19, 246, 3, 2, 9, 6,
		  216, 13, 14, 242, 3, 0, 10, 11, 240, 0, 2, 9, 6, 128, 65, 240, 0, 2, 9, 6, 241, 6, 0,
		  8, 9, 240, 6, 0, 17, 18, 216, 12, 13, 241, 3, 1, 17, 14, 240, 0, 1, 9, 15, 224, 13,
		  14, 242, 0, 1, 5, 15, 136, 1, 216, 8, 9, 136, 81, 137, 6, 137, 1, 240, 3, 1, 5, 15,
		  224, 11, 12, 128, 72, 249, 242, 21, 2, 9, 6 }, 93,
		(const uint8_t[]){ 1, 2, 2, 4, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3, 3, 3, 3, 3, 6, 6, 9, 10, 9,
		  9, 9, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 11, 13, 13, 0, 0, 3, 3, 3 }, 44 },
	{ 0x030d, 1, (const uint8_t[]){ 128, 0, 216, 8, 9, 128, 65, 225, 18, 19, 243, 3, 2, 9, 6,
		  217, 18, 19, 136, 81, 243, 3, 0, 10, 11, 217, 18, 19, 240, 3, 0, 5, 6, 240, 0, 2, 9,
		  6, 246, 6, 0, 8, 9, 240, 6, 0, 17, 18, 216, 12, 13, 241, 3, 1, 17, 14, 240, 0, 1, 9,
		  15, 227, 13, 14, 136, 1, 216, 8, 9, 137, 6, 138, 1, 241, 3, 0, 14, 15, 224, 11, 12,
		  128, 72, 249, 242, 21, 2, 9, 6 }, 89,
		(const uint8_t[]){ 1, 2, 2, 4, 4, 3, 3, 3, 3, 4, 4, 4, 3, 3, 3, 3, 4, 4, 3, 3, 6, 6, 6,
		  6, 6, 6, 6, 9, 10, 9, 9, 9, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 11, 11, 13,
		  13, 0, 0, 3, 3, 3 }, 52 },
	{ 0x030e, 1, (const uint8_t[]){ 128, 0, 240, 2, 4, 5, 14, 220, 12, 15, 241, 0, 1, 16, 28, 217, 25, 26, 243,
		  3, 1, 16, 28, 243, 0, 1, 13, 28, 136, 1, 240, 8, 0, 11, 12, 136, 97, 140, 37,
		  216, 8, 9, 136, 81, 141, 6, 138, 1, 216, 11, 12, 128, 72, 248, 244, 9, 0, 12,
		  13, 244, 0, 1, 5, 14, 216, 12, 13, 138, 1, 240, 3, 1, 5, 14, 250 }, 75,
		(const uint8_t[]){ 1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 7, 7, 7, 7, 7, 7,
		  7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 9, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6,
		  6, 6, 6, 5, 0, 0, 0 }, 59 },
};

static void line_tables(void **state)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (size_t k = 0; k < tables[i].count; k++) {
			uint32_t line = python_line_in(tables[i].version, tables[i].table,
						       tables[i].size, tables[i].first_line,
						       2 * (int64_t)k);

			if (line != tables[i].lines[k])
				fail_msg("%x: byte %zu is line %u, found %u", tables[i].version,
					 2 * k, tables[i].lines[k], line);
		}
}

/* A table of line numbers as large as can be encoded: their sum exceeds 64 bits. */
static void endless_numbers(void)
{
	uint8_t table[65536];

	for (size_t i = 0; i < sizeof(table); i++)
		table[i] = i % 12 ? 126 : 232;
	assert_int_equal(python_line_in(0x030b, table, sizeof(table), INT32_MAX, INT64_MAX), 0);
}

/* No table makes the reader leave its bounds or loop forever; the sanitizers check that. */
static void hostile_line_tables(void **state)
{
	static const uint16_t versions[] = { 0x0307, 0x0308, 0x0309, 0x030a,
					     0x030b, 0x030c, 0x030d, 0x030e };
	uint64_t random = 42;

	for (int round = 0; round < 20000; round++) {
		size_t size = round % 40;
		uint8_t *table = malloc(size + 1);

		for (size_t i = 0; i < size; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			table[i] = (uint8_t)random;
		}
		for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
			python_line_in(versions[v], table, size, (int32_t)random, random % 300);
			python_line_in(versions[v], table, size, INT32_MAX, INT64_MAX);
		}
		free(table);
	}
	endless_numbers();
	assert_int_equal(python_line_in(0x030b, NULL, 0, 7, -1), 7);
	assert_int_equal(python_line_in(0x030b, NULL, 0, 7, 0), 0);
}

#define BASE 0x10000ull
#define SIZE 0x10000ull

struct memory {
	uint8_t bytes[SIZE];
	unsigned int reads;
};

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	struct memory *m = context;

	m->reads++;
	if (address < BASE || size > SIZE || address - BASE > SIZE - size)
		return -1;
	memcpy(into, m->bytes + (address - BASE), size);
	return 0;
}

static void put64(struct memory *m, uint64_t address, uint64_t value)
{
	memcpy(m->bytes + (address - BASE), &value, sizeof(value));
}

/* Addresses in the simulated memory. */
enum {
	RUNTIME = 0x10000,
	INTERPRETER = 0x12000,
	THREAD = 0x15000,
	FRAME = 0x16000,
	OUTER = 0x16400,
	CODE = 0x17000,
	NAME = 0x17800,
	FILE_NAME = 0x17a00,
	CFRAME = 0x17c00,
	CODE_TYPE = 0x18000,
	LOCK = 0x19000
};

static void put_text(struct memory *m, const struct python_offsets *o, uint64_t at,
		     const char *text)
{
	put64(m, at + o->unicode_length, strlen(text));
	/* A compact ASCII string with one byte per character. */
	put64(m, at + o->unicode_state, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(m->bytes + (at - BASE) + o->ascii_data, text, strlen(text));
}

/* One thread in function "inner", called recursively, which holds the lock. */
static void build(struct memory *m, const struct python_offsets *o)
{
	memset(m, 0, sizeof(*m));
	if (o->version >= 0x030d) {
		uint64_t own[10] = { 0, (uint64_t)o->version << 16 | 0xf0, 0, 0, 0,
				     o->interpreters_head, 0, 0, o->interp_next,
				     o->interp_threads };

		memcpy(own, "xdebugpy", 8);
		memcpy(m->bytes, own, sizeof(own));
	}
	put64(m, RUNTIME + o->interpreters_head, INTERPRETER);
	put64(m, INTERPRETER + o->interp_threads, THREAD);
	put64(m, THREAD + o->thread_interp, INTERPRETER);
	put64(m, THREAD + o->thread_id, 0x7777);
	if (o->native_thread_id != PYTHON_NONE)
		put64(m, THREAD + o->native_thread_id, 1234);
	if (o->thread_cframe != PYTHON_NONE) {
		put64(m, THREAD + o->thread_cframe, CFRAME);
		put64(m, CFRAME + o->thread_frame, FRAME);
	} else {
		put64(m, THREAD + o->thread_frame, FRAME);
	}
	for (uint64_t frame = FRAME; frame <= OUTER; frame += OUTER - FRAME) {
		/* Only one of the frames has a tag. */
		put64(m, frame + o->frame_code, CODE | (frame == FRAME ? o->frame_code_tags & 1 : 0));
		put64(m, frame + o->frame_instruction,
		      o->code_instructions == PYTHON_NONE ? 4 : CODE + o->code_instructions + 4);
	}
	put64(m, FRAME + o->frame_previous, OUTER);
	put64(m, CODE + o->object_type, CODE_TYPE);
	put64(m, CODE + (o->code_qualname != PYTHON_NONE ? o->code_qualname : o->code_name), NAME);
	put64(m, CODE + o->code_name, NAME);
	put64(m, CODE + o->code_filename, FILE_NAME);
	memcpy(m->bytes + (CODE - BASE) + o->code_first_line, &(int32_t){ 77 }, 4);
	put_text(m, o, NAME, "Loader.inner");
	put_text(m, o, FILE_NAME, "/job/load.py");
	if (o->interp_lock != PYTHON_NONE)
		put64(m, INTERPRETER + o->interp_lock, LOCK);
	put64(m, (o->interp_lock != PYTHON_NONE ? LOCK : RUNTIME + o->runtime_lock) + o->lock_holder,
	      THREAD);
	put64(m, (o->interp_lock != PYTHON_NONE ? LOCK : RUNTIME + o->runtime_lock) + o->lock_locked,
	      1);
}

static void keep(void *context, const struct python_thread *thread)
{
	*(struct python_thread *)context = *thread;
}

static void made_up_interpreter(void **state)
{
	struct memory *m = malloc(sizeof(*m));
	struct python_reader reader = { read_memory, m };
	const struct python_offsets *o;

	for (size_t i = 0; (o = python_offsets_at(i)); i++) {
		struct python_place place = { NULL, RUNTIME, CODE_TYPE };
		struct python_thread thread = { 0 };
		struct python_code code;
		struct python_lock lock;

		build(m, o);
		assert_true(python_identify(&reader, &place, o->version));
		assert_ptr_equal(place.offsets, o);
		assert_int_equal(python_threads(&reader, &place, keep, &thread), 1);
		assert_int_equal(thread.thread_id, 0x7777);
		assert_int_equal(thread.native_id, o->native_thread_id != PYTHON_NONE ? 1234 : 0);
		assert_true(thread.has_lock);
		assert_int_equal(thread.depth, 2);
		assert_int_equal(thread.frame[0].code, CODE);
		assert_int_equal(thread.frame[0].instruction, o->version == 0x030a ? 8 : 4);
		assert_true(python_code_read(&reader, &place, CODE, &code));
		assert_string_equal(code.name, "Loader.inner");
		assert_string_equal(code.file, "/job/load.py");
		assert_int_equal(code.first_line, 77);
		assert_false(python_code_read(&reader, &place, NAME, &code));
		assert_true(python_lock_read(&reader, &place, &lock));
		assert_true(lock.locked && lock.first < lock.last);
		/* Another version than the actual one. */
		assert_false(python_identify(&reader, &place, 0x0306));
	}
	free(m);
}

/* Its layout is different, whatever else looks equal. */
static void free_threaded_build(void **state)
{
	struct memory *m = malloc(sizeof(*m));
	struct python_reader reader = { read_memory, m };
	const struct python_offsets *o;

	for (size_t i = 0; (o = python_offsets_at(i)); i++) {
		struct python_place place = { NULL, RUNTIME, CODE_TYPE };

		build(m, o);
		assert_true(python_version_known(o->version));
		assert_int_equal(python_free_threaded(&reader, &place), 0);
		put64(m, RUNTIME + 16, 1);
		assert_int_equal(python_free_threaded(&reader, &place), o->version >= 0x030d ? o->version : 0);
		assert_int_equal(python_identify(&reader, &place, o->version), o->version < 0x030d);
	}
	assert_false(python_version_known(0x0306));
	free(m);
}

/* Circular lists end. */
static void endless_lists(void **state)
{
	struct memory *m = malloc(sizeof(*m));
	struct python_reader reader = { read_memory, m };
	const struct python_offsets *o;

	for (size_t i = 0; (o = python_offsets_at(i)); i++) {
		struct python_place place = { o, RUNTIME, CODE_TYPE };
		struct python_thread thread = { 0 };

		build(m, o);
		put64(m, OUTER + o->frame_previous, FRAME);
		put64(m, THREAD + o->thread_next, THREAD);
		put64(m, INTERPRETER + o->interp_next, INTERPRETER);
		assert_int_equal(python_threads(&reader, &place, keep, &thread),
				 PYTHON_THREADS_MAX);
		assert_int_equal(thread.depth, PYTHON_DEPTH_MAX);
	}
	free(m);
}

/* Inconsistent and hostile: any eight bytes may have any value, with no other effect than a missing result. */
static void spoilt_memory(void **state)
{
	struct memory *m = malloc(sizeof(*m));
	struct python_reader reader = { read_memory, m };
	const struct python_offsets *o;
	uint64_t random = 7;

	for (size_t i = 0; (o = python_offsets_at(i)); i++) {
		for (int round = 0; round < 300; round++) {
			struct python_place place = { o, RUNTIME, CODE_TYPE };
			struct python_thread thread = { 0 };
			struct python_code code;
			struct python_lock lock;

			build(m, o);
			for (int k = 0; k <= round % 8; k++) {
				static const uint64_t places[] = { INTERPRETER, THREAD, FRAME, CODE,
								   NAME, LOCK, CFRAME, RUNTIME };

				random = random * 6364136223846793005ull + 1442695040888963407ull;
				put64(m, places[random >> 60 & 7] + (random >> 40 & 0xf8),
				      random >> 33 & 1 ? random : BASE + (random >> 45 & 0xffff));
			}
			m->reads = 0;
			python_threads(&reader, &place, keep, &thread);
			python_code_read(&reader, &place, CODE, &code);
			python_line(&reader, &place, &thread.frame[0]);
			python_lock_read(&reader, &place, &lock);
			assert_true(strlen(code.name) < PYTHON_NAME_MAX);
			assert_true(m->reads < 64u * PYTHON_THREADS_MAX * 4 * PYTHON_DEPTH_MAX);
		}
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_tables),	       cmocka_unit_test(hostile_line_tables),
		cmocka_unit_test(made_up_interpreter), cmocka_unit_test(free_threaded_build),
		cmocka_unit_test(endless_lists),
		cmocka_unit_test(spoilt_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
