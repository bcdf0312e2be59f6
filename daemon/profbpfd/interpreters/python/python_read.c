/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/python/python_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERPRETERS_MAX 64
#define FRAMES_MAX (4 * PYTHON_DEPTH_MAX) /* frames that a walk visits, including frames without Python code */
#define OWNED_BY_C_STACK 3 /* 3.12: a frame that stands for C code, in 3.14 of the interpreter; enum _frameowner */

static bool get(const struct python_reader *r, uint64_t address, void *into, size_t size)
{
	return address && r->read(r->context, address, into, size) == 0;
}

/* Returns the pointer at @address + @offset; 0 if it cannot be read. */
static uint64_t pointer(const struct python_reader *r, uint64_t address, uint16_t offset)
{
	uint64_t value = 0;

	if (!address || offset == PYTHON_NONE || !get(r, address + offset, &value, sizeof(value)))
		return 0;
	return value;
}

static uint64_t first_interpreter(const struct python_reader *r, const struct python_place *place)
{
	return pointer(r, place->runtime, place->offsets->interpreters_head);
}

/* The start of _Py_DebugOffsets, with which the runtime begins from 3.13 on. */
struct debug_offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime_size, finalizing, interpreters_head;
	uint64_t interp_size, interp_id, interp_next, interp_threads;
};

static bool get_debug_offsets(const struct python_reader *r, const struct python_place *place,
			      struct debug_offsets *own)
{
	return get(r, place->runtime, own, sizeof(*own)) && !memcmp(own->cookie, "xdebugpy", 8);
}

static bool debug_offsets_agree(const struct python_reader *r, const struct python_place *place)
{
	const struct python_offsets *o = place->offsets;
	struct debug_offsets own;

	if (o->version < 0x030d)
		return true;
	return get_debug_offsets(r, place, &own) && own.version >> 16 == o->version &&
	       !own.free_threaded && own.interpreters_head == o->interpreters_head &&
	       own.interp_next == o->interp_next && own.interp_threads == o->interp_threads;
}

uint16_t python_free_threaded(const struct python_reader *r, const struct python_place *place)
{
	struct debug_offsets own;

	if (!get_debug_offsets(r, place, &own) || !own.free_threaded)
		return 0;
	return own.version >> 16 <= UINT16_MAX ? (uint16_t)(own.version >> 16) : 0;
}

bool python_version_known(uint16_t version)
{
	const struct python_offsets *o;

	for (size_t i = 0; (o = python_offsets_at(i)); i++)
		if (o->version == version)
			return true;
	return false;
}

static bool is_code(const struct python_reader *r, const struct python_place *place,
		    uint64_t code)
{
	return code && pointer(r, code, place->offsets->object_type) == place->code_type;
}

static uint64_t frame_code(const struct python_reader *r, const struct python_offsets *o, uint64_t frame)
{
	return pointer(r, frame, o->frame_code) & ~(uint64_t)o->frame_code_tags;
}

/* Returns the innermost frame of a thread. */
static uint64_t first_frame(const struct python_reader *r, const struct python_offsets *o,
			    uint64_t thread)
{
	if (o->thread_cframe != PYTHON_NONE)
		thread = pointer(r, thread, o->thread_cframe);
	return pointer(r, thread, o->thread_frame);
}

/* Does at least one thread run code, read by this layout? */
static bool some_thread_fits(const struct python_reader *r, const struct python_place *place,
			     uint64_t interpreter)
{
	const struct python_offsets *o = place->offsets;
	uint64_t thread = pointer(r, interpreter, o->interp_threads);
	bool fits = false;

	for (int i = 0; thread && i < PYTHON_THREADS_MAX; i++) {
		uint64_t frame = first_frame(r, o, thread);

		if (pointer(r, thread, o->thread_interp) != interpreter)
			return false;
		for (int depth = 0; frame && !fits && depth < PYTHON_DEPTH_MAX; depth++) {
			fits = is_code(r, place, frame_code(r, o, frame));
			frame = pointer(r, frame, o->frame_previous);
		}
		thread = pointer(r, thread, o->thread_next);
	}
	return fits;
}

bool python_identify(const struct python_reader *r, struct python_place *place, uint16_t version)
{
	struct python_place candidate = *place;

	for (size_t i = 0; (candidate.offsets = python_offsets_at(i)); i++) {
		uint64_t interpreter;

		if (version && candidate.offsets->version != version)
			continue;
		if (!debug_offsets_agree(r, &candidate))
			continue;
		interpreter = first_interpreter(r, &candidate);
		if (interpreter && some_thread_fits(r, &candidate, interpreter)) {
			place->offsets = candidate.offsets;
			return true;
		}
	}
	return false;
}

bool python_lock_read(const struct python_reader *r, const struct python_place *place,
		      struct python_lock *lock)
{
	const struct python_offsets *o = place->offsets;
	uint64_t address = 0;
	int32_t locked;

	if (o->runtime_lock != PYTHON_NONE)
		address = place->runtime + o->runtime_lock;
	else
		address = pointer(r, first_interpreter(r, place), o->interp_lock);
	if (!address || !get(r, address + o->lock_locked, &locked, sizeof(locked)))
		return false;
	/* -1: the lock does not exist yet. */
	if (locked != 0 && locked != 1)
		return false;
	lock->address = address;
	lock->locked = locked;
	lock->holder = pointer(r, address, o->lock_holder);
	lock->first = address + o->lock_first;
	lock->last = address + o->lock_last;
	return true;
}

/* Converts @word of a frame to an offset in the code. Until 3.9 f_lasti, an int, counts bytes, in 3.10 byte pairs. */
static int64_t instruction_in(const struct python_offsets *o, uint64_t code, uint64_t word)
{
	int64_t bytes;

	if (o->code_instructions == PYTHON_NONE) {
		int32_t index = (int32_t)word;

		if (index < 0)
			return -1;
		return o->version == 0x030a ? 2 * (int64_t)index : index;
	}
	bytes = (int64_t)(word - (code + o->code_instructions));
	/* From 3.13 on the pointer is to the next instruction. */
	return bytes >= 0 && bytes < (1 << 24) ? bytes : -1;
}

struct python_frame python_frame_read(const struct python_place *place, uint64_t code, uint64_t instruction)
{
	code &= ~(uint64_t)place->offsets->frame_code_tags;
	return (struct python_frame){ code, instruction_in(place->offsets, code, instruction) };
}

static int64_t instruction_of(const struct python_reader *r, const struct python_offsets *o,
			      uint64_t frame, uint64_t code)
{
	uint64_t word = UINT64_MAX; /* none */
	size_t size = o->code_instructions == PYTHON_NONE ? sizeof(int32_t) : sizeof(word);

	get(r, frame + o->frame_instruction, &word, size);
	return instruction_in(o, code, word);
}

static void walk_frames(const struct python_reader *r, const struct python_place *place,
			uint64_t state, struct python_thread *thread)
{
	const struct python_offsets *o = place->offsets;
	uint64_t frame = first_frame(r, o, state);

	for (int i = 0; frame && i < FRAMES_MAX && thread->depth < PYTHON_DEPTH_MAX; i++) {
		uint64_t code = frame_code(r, o, frame);
		uint8_t owner = 0;

		if (o->frame_owner != PYTHON_NONE && o->version >= 0x030c)
			get(r, frame + o->frame_owner, &owner, sizeof(owner));
		if (owner != OWNED_BY_C_STACK && is_code(r, place, code))
			thread->frame[thread->depth++] = (struct python_frame){
				code, instruction_of(r, o, frame, code)
			};
		frame = pointer(r, frame, o->frame_previous);
	}
}

static bool walk_thread(const struct python_reader *r, const struct python_place *place,
			uint64_t state, uint64_t interpreter, const struct python_lock *lock,
			struct python_thread *thread)
{
	const struct python_offsets *o = place->offsets;
	uint64_t native = 0;

	if (pointer(r, state, o->thread_interp) != interpreter)
		return false;
	thread->depth = 0;
	thread->state = state;
	thread->thread_id = pointer(r, state, o->thread_id);
	if (o->native_thread_id != PYTHON_NONE)
		native = pointer(r, state, o->native_thread_id);
	thread->native_id = native <= INT32_MAX ? (uint32_t)native : 0;
	thread->has_lock = lock->locked && lock->holder == state;
	walk_frames(r, place, state, thread);
	return true;
}

size_t python_threads(const struct python_reader *r, const struct python_place *place,
		      void (*each)(void *context, const struct python_thread *thread),
		      void *context)
{
	const struct python_offsets *o = place->offsets;
	uint64_t interpreter = first_interpreter(r, place);
	struct python_lock lock = { 0 };
	struct python_thread thread;
	size_t count = 0;

	python_lock_read(r, place, &lock);
	for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		uint64_t state = pointer(r, interpreter, o->interp_threads);

		while (state && count < PYTHON_THREADS_MAX &&
		       walk_thread(r, place, state, interpreter, &lock, &thread)) {
			each(context, &thread);
			count++;
			state = pointer(r, state, o->thread_next);
		}
		interpreter = pointer(r, interpreter, o->interp_next);
	}
	return count;
}

/* Writes a character as UTF-8; returns the number of bytes. */
static size_t put_character(uint32_t c, char *into)
{
	if (c < 0x80) {
		into[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		into[0] = (char)(0xc0 | c >> 6);
		into[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		into[0] = (char)(0xe0 | c >> 12);
		into[1] = (char)(0x80 | (c >> 6 & 63));
		into[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	into[0] = (char)(0xf0 | (c >> 18 & 7));
	into[1] = (char)(0x80 | (c >> 12 & 63));
	into[2] = (char)(0x80 | (c >> 6 & 63));
	into[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Bits of PyASCIIObject.state: interned 2, kind 3, compact 1, ascii 1. */
static bool decode_state(uint32_t state, uint32_t *kind, bool *ascii)
{
	*kind = state >> 2 & 7;
	*ascii = state >> 6 & 1;
	return state >> 5 & 1 && (*kind == 1 || *kind == 2 || *kind == 4);
}

static bool read_text(const struct python_reader *r, const struct python_offsets *o,
		      uint64_t object, char *into)
{
	uint8_t raw[4 * (PYTHON_NAME_MAX - 1)];
	uint32_t state, kind;
	size_t used = 0;
	int64_t length;
	bool ascii;

	into[0] = '\0';
	if (!object || !get(r, object + o->unicode_length, &length, sizeof(length)) ||
	    !get(r, object + o->unicode_state, &state, sizeof(state)) || length < 0 ||
	    !decode_state(state, &kind, &ascii))
		return false;
	if (length > PYTHON_NAME_MAX - 1)
		length = PYTHON_NAME_MAX - 1;
	if (length && !get(r, object + (ascii ? o->ascii_data : o->compact_data), raw,
			   (size_t)length * kind))
		return false;
	for (int64_t i = 0; i < length && used + 4 < PYTHON_NAME_MAX; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * kind, kind);
		if (!c)
			break;
		used += put_character(c, into + used);
	}
	into[used] = '\0';
	return used > 0;
}

bool python_code_mark(const struct python_reader *r, const struct python_place *place,
		      uint64_t code, uint64_t mark[2])
{
	mark[0] = pointer(r, code, place->offsets->code_name);
	mark[1] = pointer(r, code, place->offsets->code_filename);
	return mark[0] && mark[1] && is_code(r, place, code);
}

bool python_code_read(const struct python_reader *r, const struct python_place *place,
		      uint64_t code, struct python_code *out)
{
	const struct python_offsets *o = place->offsets;
	uint64_t name;

	*out = (struct python_code){ 0 };
	if (!is_code(r, place, code))
		return false;
	name = pointer(r, code, o->code_qualname != PYTHON_NONE ? o->code_qualname : o->code_name);
	if (!read_text(r, o, name, out->name))
		return false;
	read_text(r, o, pointer(r, code, o->code_filename), out->file);
	get(r, code + o->code_first_line, &out->first_line, sizeof(out->first_line));
	return true;
}

uint32_t python_line(const struct python_reader *r, const struct python_place *place,
		     const struct python_frame *frame)
{
	const struct python_offsets *o = place->offsets;
	uint64_t lines = pointer(r, frame->code, o->code_lines);
	int32_t first_line = 0;
	uint8_t *table = NULL;
	uint32_t line = 0;
	int64_t size;

	if (!lines || !get(r, frame->code + o->code_first_line, &first_line, sizeof(first_line)) ||
	    !get(r, lines + o->bytes_size, &size, sizeof(size)) || size < 0 ||
	    size > PYTHON_LINES_MAX)
		return 0;
	table = malloc((size_t)size + 1);
	if (table && (size == 0 || get(r, lines + o->bytes_data, table, (size_t)size)))
		line = python_line_in(o->version, table, (size_t)size, first_line,
				      frame->instruction);
	free(table);
	return line;
}
