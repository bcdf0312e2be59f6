/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter CPython: finds it by its runtime's symbol, and reads stacks of its functions (python_read.h). */

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_tid.h"
#include "daemon/profbpfd/interpreters/interpreter.h"
#include "daemon/profbpfd/interpreters/python/python_live.h"
#include "daemon/profbpfd/interpreters/python/python_read.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/split_part.h"
#include "proto/trace.pb-c.h"

#define CODES_MAX 16384 /* cached code objects of a process */
#define PLACES 512 /* cached frames; a power of two */

struct known_code {
	uint64_t code;
	uint64_t mark[2];
	uint32_t name, file;
};

/* The cached frame of an instruction in a code object; dropped when another code object takes that address. */
struct known_place {
	const struct known_code *code;
	int64_t instruction; /* -1: any instruction, in a caller */
	uint32_t frame; /* 0 = unknown */
};

struct python {
	struct interpreted *process;
	struct python_live *live;
	uint64_t loop, loop_end; /* code of _PyEval_EvalFrameDefault(); 0 = unknown */
	uint64_t cold, cold_end; /* the part that the compiler has split off; 0 = none */
	struct python_reader reader;
	struct python_place place;
	struct device_tids *tids;
	void *codes; /* tsearch tree of struct known_code */
	size_t code_count;
	struct known_place places[PLACES];
};

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	return interpreted_read(context, address, into, size);
}

static void forget_codes(struct python *p)
{
	tdestroy(p->codes, free);
	p->codes = NULL;
	p->code_count = 0;
	memset(p->places, 0, sizeof(p->places));
}

static void free_python(void *data)
{
	struct python *p = data;

	forget_codes(p);
	python_live_free(p->live);
	device_tids_free(p->tids);
	free(p);
}

static int by_code(const void *a, const void *b)
{
	const struct known_code *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

/* Matches "python3.11", "libpython3.8.so.1.0"; *version is 0 if the name contains none. */
static bool version_of(const char *path, uint16_t *version)
{
	const char *name = strrchr(path, '/');
	unsigned int major, minor;

	name = name ? name + 1 : path;
	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	if (strncmp(name, "python", 6))
		return false;
	*version = 0;
	if (sscanf(name + 6, "%1u.%2u", &major, &minor) == 2)
		*version = (uint16_t)(major << 8 | minor);
	return true;
}

static bool python_file(const char *path)
{
	uint16_t version;

	return version_of(path, &version);
}

static void *is_loop(void *context, const char *name, size_t length)
{
	static const char wanted[] = "_PyEval_EvalFrameDefault";

	(void)context;
	return length == sizeof(wanted) - 1 && !memcmp(name, wanted, length) ? (void *)wanted : NULL;
}

static void find_loop(struct python *p, struct elf_file *elf, uint64_t bias)
{
	struct elf_symbols found = { 0 };

	elf_file_find(elf, is_loop, NULL, &found);
	if (found.count) {
		uint64_t loop = found.symbol[0].address, end = loop + found.symbol[0].size, cold, cold_end;

		p->loop = loop + bias;
		p->loop_end = end + bias;
		if (!split_part_find(elf, loop, end, &cold, &cold_end)) {
			p->cold = cold + bias;
			p->cold_end = cold_end + bias;
		}
	}
	elf_symbols_free(&found);
}

/* Finds the addresses of the runtime and of the type of code objects from one mapping of the file. */
static bool find_place(struct python *p, const struct process_map *map)
{
	uint64_t runtime, code_type, bias;
	struct elf_file *elf = NULL;
	char error[256];
	bool found;
	int fd = process_map_open(p->process->pid, map);

	if (fd >= 0)
		elf = elf_file_open_fd(fd, map->path, error, sizeof(error));
	found = elf && !elf_file_object(elf, "_PyRuntime", &runtime) &&
		!elf_file_object(elf, "PyCode_Type", &code_type) &&
		!elf_file_bias(elf, map->start, map->end, map->offset, &bias);
	if (found) {
		p->place.runtime = runtime + bias;
		p->place.code_type = code_type + bias;
		find_loop(p, elf, bias);
	}
	elf_file_close(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

/* Records that the process' interpreter is read, and the addresses on which its threads wait for the lock. */
static void put_python(struct python *p, uint16_t version, Profbpf__Pythons__Build build,
		       const struct python_range *range)
{
	Profbpf__Pythons m = PROFBPF__PYTHONS__INIT;
	struct item *item;
	size_t size;

	m.ts_ns = interpreted_now();
	m.tgid = (uint32_t)p->process->pid;
	m.version = version;
	m.build = build;
	m.lock_first = range->first;
	m.lock_last = range->last;
	size = protobuf_c_message_get_packed_size(&m.base);
	item = item_new(ITEM_BODY, size);
	if (!item)
		return;
	item->body = PROFBPF__PACKET__KIND__PYTHONS;
	item->repeated = true;
	item->size = protobuf_c_message_pack(&m.base, item->data);
	item_queue_push(p->process->queue, item);
}

static void tell_unknown(struct python *p, uint16_t version, bool free_threaded)
{
	char text[192];

	snprintf(text, sizeof(text),
		 "process %d: %s of Python %u.%u %s (supported: default builds of 3.7 to 3.14): "
		 "its Python functions are not recorded",
		 (int)p->process->pid, free_threaded ? "the free-threaded build" : "this build", version >> 8,
		 version & 255, free_threaded ? "cannot be read" : "is not supported");
	interpreted_warn(p->process, text);
	put_python(p, version,
		   free_threaded ? PROFBPF__PYTHONS__BUILD__FREE_THREADED : PROFBPF__PYTHONS__BUILD__UNKNOWN,
		   &(struct python_range){ 0 });
}

enum identity { IDENTITY_KNOWN, IDENTITY_UNKNOWN, IDENTITY_NOT_YET };

/* Is there an interpreter, of a known build? */
static enum identity identify(struct python *p, const struct process_map *map)
{
	uint16_t version, free_threaded;

	if (!version_of(map->path, &version) || !find_place(p, map))
		return IDENTITY_NOT_YET;
	if (python_identify(&p->reader, &p->place, version))
		return IDENTITY_KNOWN;
	free_threaded = python_free_threaded(&p->reader, &p->place);
	/* A starting interpreter has no thread yet. A known version that never fits is an unknown build. */
	if (!free_threaded && (!version || python_version_known(version)) && !p->process->last_look)
		return IDENTITY_NOT_YET;
	tell_unknown(p, free_threaded ? free_threaded : version, free_threaded != 0);
	return IDENTITY_UNKNOWN;
}

static void *python_look(struct interpreted *process, const struct process_map *map)
{
	struct python_range range = { 0 };
	struct python_lock lock = { 0 };
	struct python *p = calloc(1, sizeof(*p));
	enum identity identity;

	if (!p)
		return NULL;
	p->process = process;
	p->reader = (struct python_reader){ read_memory, process };
	identity = identify(p, map);
	/* The process is not checked again, and its stacks have no Python functions. */
	if (identity == IDENTITY_UNKNOWN) {
		p->loop = p->loop_end = p->cold = p->cold_end = 0;
		return p;
	}
	p->tids = identity == IDENTITY_KNOWN ? device_tids_new(process->pid) : NULL;
	if (p->tids && python_lock_read(&p->reader, &p->place, &lock))
		range = (struct python_range){ lock.first, lock.last };
	p->live = p->tids ? python_live_new(process, p->place.offsets, range.first ? lock.address : 0) : NULL;
	if (!p->live) {
		free_python(p);
		return NULL;
	}
	put_python(p, p->place.offsets->version, PROFBPF__PYTHONS__BUILD__KNOWN, &range);
	if (range.first)
		interpreted_lock(process, &range);
	return p;
}

/* Returns the names of a code object, which are read again only if the object has changed. */
static const struct known_code *code_of(struct python *p, uint64_t code)
{
	struct known_code key = { .code = code }, **found, *known;
	struct python_code read;

	if (!python_code_mark(&p->reader, &p->place, code, key.mark))
		return NULL;
	found = tfind(&key, &p->codes, by_code);
	known = found ? *found : NULL;
	if (known && known->mark[0] == key.mark[0] && known->mark[1] == key.mark[1])
		return known;
	if (!python_code_read(&p->reader, &p->place, code, &read))
		return NULL;
	if (!known) {
		if (p->code_count >= CODES_MAX)
			forget_codes(p);
		known = calloc(1, sizeof(*known));
		if (!known)
			return NULL;
		known->code = code;
		if (!tsearch(known, &p->codes, by_code)) {
			free(known);
			return NULL;
		}
		p->code_count++;
	}
	if (known->name)
		memset(p->places, 0, sizeof(p->places)); /* the address was another function's */
	known->mark[0] = key.mark[0];
	known->mark[1] = key.mark[1];
	known->name = stack_table_name(p->process->table, read.name);
	known->file = stack_table_name(p->process->table, read.file);
	return known;
}

static uint32_t frame_of(struct python *p, const struct python_frame *frame, bool innermost)
{
	const struct known_code *code = code_of(p, frame->code);
	struct stack_frame row = { .kind = PROFBPF__STACKS__KIND__PYTHON };
	struct known_place *place;
	int64_t instruction = innermost ? frame->instruction : -1;

	if (!code)
		return 0;
	place = &p->places[((frame->code >> 4) ^ (uint64_t)instruction) & (PLACES - 1)];
	if (place->frame && place->code == code && place->instruction == instruction)
		return place->frame;
	row.name = code->name;
	row.source = code->file;
	/* With lines of callers, every call site would be a different stack. */
	if (innermost)
		row.line = python_line(&p->reader, &p->place, frame);
	*place = (struct known_place){ code, instruction, stack_table_frame(p->process->table, &row) };
	return place->frame;
}

/* Returns the thread's id in the daemon's pid namespace; 0 if it is unknown. */
static uint32_t tid_of(struct python *p, const struct python_thread *thread)
{
	uint32_t inner = thread->native_id;

	if (!inner && thread->thread_id &&
	    interpreted_read(p->process, thread->thread_id + PYTHON_TID_IN_PTHREAD, &inner,
			     sizeof(inner)))
		inner = 0;
	return inner ? device_tids_find(p->tids, inner, p->process->now_ns) : 0;
}

static void take_thread(void *context, const struct python_thread *thread)
{
	struct python *p = context;
	uint32_t frames[PYTHON_DEPTH_MAX], count = 0;
	struct stack_row row = { .ts_ns = p->process->now_ns,
				 .tgid = (uint32_t)p->process->pid,
				 .flags = PROFBPF__STACK_SAMPLES__FLAG__PYTHON };

	row.tid = tid_of(p, thread);
	if (!row.tid) {
		interpreted_partial(p->process);
		return;
	}
	python_live_thread(p->live, row.tid, thread->state);
	if (!thread->depth)
		return;
	for (uint32_t i = 0; i < thread->depth; i++) {
		uint32_t frame = frame_of(p, &thread->frame[i], i == 0);

		if (frame)
			frames[count++] = frame;
	}
	if (!count)
		return;
	if (thread->has_lock)
		row.flags |= PROFBPF__STACK_SAMPLES__FLAG__HAD_LOCK;
	row.stack = stack_table_stack(p->process->table, frames, count);
	interpreted_row(p->process, &row);
}

static void python_sample(void *known, struct interpreted *process)
{
	struct python *p = known;

	(void)process;
	if (!p->live)
		return;
	python_threads(&p->reader, &p->place, take_thread, p);
	python_live_looked(p->live);
}

static void python_frames(void *known, struct interpreted *process, const struct rec_python_frame *read,
			  uint32_t count, struct interpreted_frame *into)
{
	struct python *p = known;
	bool innermost = true;

	(void)process;
	/* The frames are from the process' previous program: the layout for the present one is unknown. */
	if (!p->live) {
		memset(into, 0, count * sizeof(*into));
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t code = read[i].code & ~PYTHON_FRAME_ENTRY;
		struct python_frame frame = python_frame_read(&p->place, code, read[i].instruction);

		into[i].entry = read[i].code & PYTHON_FRAME_ENTRY;
		into[i].frame = code ? frame_of(p, &frame, innermost) : 0;
		innermost &= !into[i].frame;
	}
}

static bool python_loop(const void *known, uint64_t address)
{
	const struct python *p = known;

	return (address >= p->loop && address < p->loop_end) || (address >= p->cold && address < p->cold_end);
}

static void python_forget(void *known)
{
	struct python *p = known;

	if (p->live)
		python_live_forget(p->live);
}

const struct interpreter interpreter_python = { .file = python_file,
						.look = python_look,
						.sample = python_sample,
						.frames = python_frames,
						.loop = python_loop,
						.forget = python_forget,
						.free = free_python };
