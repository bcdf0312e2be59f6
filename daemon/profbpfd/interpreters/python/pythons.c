/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/python/pythons.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_tid.h"
#include "daemon/profbpfd/interpreters/memory_pages.h"
#include "daemon/profbpfd/interpreters/python/python_read.h"
#include "lib/elf/code_maps.h"
#include "lib/elf/elf_file.h"

#define LOOKS_MAX 40 /* at a process, before it is left alone */
#define CODES_MAX 16384 /* code objects remembered of a process */
#define TID_IN_PTHREAD 720 /* glibc's struct pthread.tid, x86-64 */

struct known_code {
	uint64_t code;
	uint64_t mark[2];
	uint32_t name, file;
};

struct python {
	struct pythons *owner;
	pid_t pid;
	unsigned int looks;
	bool found;
	struct python_reader reader;
	struct python_place place;
	struct device_tids *tids;
	void *codes; /* tsearch tree of struct known_code */
	size_t code_count;
	uint64_t now_ns; /* of the look that goes on */
};

struct pythons {
	const struct right *right;
	struct stack_table *table;
	struct item_queue *queue;
	struct pythons_handler handler;
	void *processes; /* tsearch tree of struct python */
	struct memory_pages *pages;
	unsigned int found; /* of them with an interpreter */
	uint64_t next_ns;
	uint32_t random; /* never 0 */
	bool warned;
};

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct python *p = context;

	return memory_pages_read(p->owner->pages, address, into, size);
}

struct pythons *pythons_new(struct stack_table *table, struct item_queue *queue,
			    const struct pythons_handler *handler)
{
	struct pythons *pythons = calloc(1, sizeof(*pythons));

	if (!pythons)
		return NULL;
	pythons->pages = memory_pages_new();
	if (!pythons->pages) {
		free(pythons);
		return NULL;
	}
	pythons->table = table;
	pythons->queue = queue;
	pythons->handler = *handler;
	pythons->random = (uint32_t)clock_now() | 1;
	return pythons;
}

static void forget_codes(struct python *p)
{
	tdestroy(p->codes, free);
	p->codes = NULL;
	p->code_count = 0;
}

static void free_python(void *data)
{
	struct python *p = data;

	forget_codes(p);
	device_tids_free(p->tids);
	free(p);
}

void pythons_limit(struct pythons *pythons, const struct right *right)
{
	pythons->right = right;
	memory_pages_limit(pythons->pages, right);
}

void pythons_free(struct pythons *pythons)
{
	if (!pythons)
		return;
	tdestroy(pythons->processes, free_python);
	memory_pages_free(pythons->pages);
	free(pythons);
}

static int by_pid(const void *a, const void *b)
{
	const struct python *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_code(const void *a, const void *b)
{
	const struct known_code *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static struct python *find_python(struct pythons *pythons, pid_t pid)
{
	struct python key = { .pid = pid };
	struct python **found = tfind(&key, &pythons->processes, by_pid), *new;

	if (found)
		return *found;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->owner = pythons;
	new->pid = pid;
	new->reader = (struct python_reader){ read_memory, new };
	if (tsearch(new, &pythons->processes, by_pid))
		return new;
	free(new);
	return NULL;
}

void pythons_forget(struct pythons *pythons, pid_t pid)
{
	struct python key = { .pid = pid };
	struct python **found = tfind(&key, &pythons->processes, by_pid), *p;

	if (!found)
		return;
	p = *found;
	pythons->found -= p->found;
	tdelete(&key, &pythons->processes, by_pid);
	free_python(p);
}

/* "python3.11", "libpython3.8.so.1.0": *version is 0 if the name tells none. */
static bool python_file(const char *path, uint16_t *version)
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

/* Addresses of the runtime and of the type of code objects, from one mapping of the file. */
static bool find_place(struct python *p, const struct process_map *map)
{
	uint64_t runtime, code_type, bias;
	struct elf_file *elf = NULL;
	char error[256];
	bool found;
	int fd = process_map_open(p->pid, map);

	if (fd >= 0)
		elf = elf_file_open_fd(fd, map->path, error, sizeof(error));
	found = elf && !elf_file_object(elf, "_PyRuntime", &runtime) &&
		!elf_file_object(elf, "PyCode_Type", &code_type) &&
		!elf_file_bias(elf, map->start, map->end, map->offset, &bias);
	if (found) {
		p->place.runtime = runtime + bias;
		p->place.code_type = code_type + bias;
	}
	elf_file_close(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static void tell(struct pythons *pythons, pid_t pid, uint16_t version)
{
	char text[160];

	if (pythons->warned)
		return;
	pythons->warned = true;
	snprintf(text, sizeof(text),
		 "process %d: this build of Python %u.%u is not known (3.8 to 3.13 are, in their "
		 "default builds): its functions are not seen",
		 (int)pid, version >> 8, version & 255);
	pythons->handler.warn(pythons->handler.context, text);
}

/* The trace says which processes were looked into, and where their threads wait for each other. */
static void put_python(struct python *p, const struct python_range *range)
{
	Profbpf__Pythons m = PROFBPF__PYTHONS__INIT;
	struct item *item;
	size_t size;

	m.ts_ns = clock_now();
	m.tgid = (uint32_t)p->pid;
	m.version = p->place.offsets->version;
	m.lock_first = range->first;
	m.lock_last = range->last;
	size = protobuf_c_message_get_packed_size(&m.base);
	item = item_new(ITEM_BODY, size);
	if (!item)
		return;
	item->body = PROFBPF__PACKET__KIND__PYTHONS;
	item->repeated = true;
	item->size = protobuf_c_message_pack(&m.base, item->data);
	item_queue_push(p->owner->queue, item);
}

static void look_into(struct python *p, uint16_t version)
{
	struct python_range range = { 0 };
	struct python_lock lock;

	if (!python_identify(&p->reader, &p->place, version)) {
		/* What starts has no thread yet; a known version that never fits is another build. */
		if (p->looks == LOOKS_MAX)
			tell(p->owner, p->pid, version);
		return;
	}
	if (python_lock_read(&p->reader, &p->place, &lock))
		range = (struct python_range){ lock.first, lock.last };
	p->tids = device_tids_new(p->pid);
	if (!p->tids)
		return;
	p->found = true;
	p->owner->found++;
	put_python(p, &range);
	if (range.first)
		p->owner->handler.found(p->owner->handler.context, p->pid, &range);
}

void pythons_look(struct pythons *pythons, pid_t pid)
{
	struct python *p = find_python(pythons, pid);
	struct code_maps maps;
	uint16_t version;

	if (!p || p->found || p->looks >= LOOKS_MAX || code_maps_read(pid, &maps))
		return;
	if (!right_holds(pythons->right, pid)) {
		code_maps_free(&maps);
		return;
	}
	p->looks++;
	memory_pages_begin(pythons->pages, pid);
	for (size_t i = 0; i < maps.count && !p->found; i++) {
		const struct process_map *map = &maps.map[i].map;

		if (map->inode && python_file(map->path, &version) && find_place(p, map))
			look_into(p, version);
	}
	code_maps_free(&maps);
}

/* Names of a code object, read once as long as it is the same. */
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
	known->mark[0] = key.mark[0];
	known->mark[1] = key.mark[1];
	known->name = stack_table_name(p->owner->table, read.name);
	known->file = stack_table_name(p->owner->table, read.file);
	return known;
}

static uint32_t frame_of(struct python *p, const struct python_frame *frame, bool innermost)
{
	const struct known_code *code = code_of(p, frame->code);
	struct stack_frame row = { .kind = PROFBPF__STACKS__KIND__PYTHON };

	if (!code)
		return 0;
	row.name = code->name;
	row.source = code->file;
	/* Lines of callers would make every call site another stack. */
	if (innermost)
		row.line = python_line(&p->reader, &p->place, frame);
	return stack_table_frame(p->owner->table, &row);
}

/* The thread's id as we see it; 0 if that cannot be told. */
static uint32_t tid_of(struct python *p, const struct python_thread *thread)
{
	uint32_t inner = thread->native_id;

#if defined(__x86_64__)
	if (!inner && thread->thread_id &&
	    read_memory(p, thread->thread_id + TID_IN_PTHREAD, &inner, sizeof(inner)))
		inner = 0;
#endif
	return inner ? device_tids_find(p->tids, inner, p->now_ns) : 0;
}

static void take_thread(void *context, const struct python_thread *thread)
{
	struct python *p = context;
	uint32_t frames[PYTHON_DEPTH_MAX], count = 0;
	struct stack_row row = { .ts_ns = p->now_ns,
				 .tgid = (uint32_t)p->pid,
				 .flags = PROFBPF__STACK_SAMPLES__FLAG__PYTHON };

	row.tid = tid_of(p, thread);
	if (!row.tid || !thread->depth)
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
	row.stack = stack_table_stack(p->owner->table, frames, count);
	p->owner->handler.row(p->owner->handler.context, &row);
}

static void sample_one(const void *node, VISIT visit, void *context)
{
	struct python *p = *(struct python *const *)node;

	if ((visit != postorder && visit != leaf) || !p->found)
		return;
	p->now_ns = clock_now();
	memory_pages_begin(p->owner->pages, p->pid);
	python_threads(&p->reader, &p->place, take_thread, p);
}

/* Marsaglia's xorshift: good enough to keep no step. */
static uint64_t random_below(struct pythons *pythons, uint64_t limit)
{
	pythons->random ^= pythons->random << 13;
	pythons->random ^= pythons->random >> 17;
	pythons->random ^= pythons->random << 5;
	return pythons->random % limit;
}

void pythons_sample(struct pythons *pythons, uint64_t now_ns)
{
	if (now_ns < pythons->next_ns)
		return;
	pythons->next_ns = now_ns + 3 * PYTHONS_PERIOD_NS / 4 +
			   random_below(pythons, PYTHONS_PERIOD_NS / 2);
	twalk_r(pythons->processes, sample_one, NULL);
}

uint64_t pythons_next(const struct pythons *pythons)
{
	return pythons->found ? pythons->next_ns : UINT64_MAX;
}
