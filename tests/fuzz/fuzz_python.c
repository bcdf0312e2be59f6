/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_python.c - libFuzzer target for the readers of a CPython process's memory.
 *
 * The first byte of an input selects the layout of a Python version, the second whether the rest of the
 * input is only a line table; else it is the process's memory, which repeats with the period of its size,
 * so that pointers are valid. Addresses with high bits are invalid.
 */
#include <string.h>

#include "daemon/profbpfd/interpreters/python/python_read.h"
#include "tests/fuzz/input.h"

#define RUNTIME 64
#define CODE_TYPE 0x41
#define ADDRESS_END (1ull << 32)
/* Limits for an input, after which reads fail as if the process had exited. Readers must detect cycles themselves. */
#define READS_MAX 5000
#define BYTES_MAX (128u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	struct input bytes;
	unsigned int reads;
	size_t bytes_read;
	const struct python_reader *reader;
	const struct python_place *place;
};

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	struct memory *memory = context;
	const struct input *bytes = &memory->bytes;
	size_t at, part;

	if (address >= ADDRESS_END || !bytes->size || memory->reads++ >= READS_MAX ||
	    (memory->bytes_read += size) > BYTES_MAX)
		return -1;
	at = address % bytes->size;
	for (uint8_t *to = into; size; to += part, size -= part, at = 0) {
		part = size < bytes->size - at ? size : bytes->size - at;
		memcpy(to, bytes->data + at, part);
	}
	return 0;
}

static void look_at_frame(const struct memory *memory, const struct python_frame *frame)
{
	struct python_code code;
	uint64_t mark[2];

	check(frame->instruction >= -1);
	python_code_mark(memory->reader, memory->place, frame->code, mark);
	if (python_code_read(memory->reader, memory->place, frame->code, &code))
		check(code.name[0] && strnlen(code.name, sizeof(code.name)) < sizeof(code.name) &&
		      strnlen(code.file, sizeof(code.file)) < sizeof(code.file));
	check(python_line(memory->reader, memory->place, frame) <= INT32_MAX);
}

static void look_at_thread(void *context, const struct python_thread *thread)
{
	check(thread->depth <= PYTHON_DEPTH_MAX);
	for (uint32_t i = 0; i < thread->depth; i++)
		look_at_frame(context, &thread->frame[i]);
}

static void try_memory(const struct python_offsets *offsets, struct input bytes)
{
	struct python_place place = { .runtime = RUNTIME, .code_type = CODE_TYPE };
	struct python_reader reader = { read_memory, NULL };
	struct memory memory = { .bytes = bytes, .reader = &reader, .place = &place };
	struct python_lock lock;

	reader.context = &memory;
	if (python_identify(&reader, &place, offsets->version))
		check(place.offsets == offsets);
	/* Uses the memory as if the layout had been verified: a process can change it after the check. */
	place.offsets = offsets;
	if (python_lock_read(&reader, &place, &lock))
		check(lock.last - lock.first == offsets->lock_last - offsets->lock_first);
	check(python_threads(&reader, &place, look_at_thread, &memory) <= PYTHON_THREADS_MAX);
}

static void try_lines(uint16_t version, struct input in)
{
	int32_t first_line = (int32_t)input_number(&in, 4);
	int64_t instruction = (int64_t)input_number(&in, 3);

	check(python_line_in(version, in.data, in.size, first_line, instruction) <= INT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t versions = 0;
	const struct python_offsets *offsets;
	uint8_t version = input_byte(&in);
	bool lines = input_byte(&in) & 1;

	while (python_offsets_at(versions))
		versions++;
	offsets = python_offsets_at(version % versions);
	if (lines)
		try_lines(offsets->version, in);
	else
		try_memory(offsets, in);
	return 0;
}
