/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the operator of MindSpore's MindData for which each running thread works, by reading the process' memory.
 *
 * Each thread of MindData has a Task, and the exported thread-local variable
 * mindspore::dataset::gMyTask points to it. The variable's address is found in the
 * process' memory: the library's relocations name the two words of its global offset
 * table that hold the module's number and the variable's offset; the thread's table of
 * modules (dtv) has the module's block. Only threads that began before their
 * start could be traced need this. Only pages that are in memory are read: see process_memory.h.
 *
 * Sources: the ELF handling of thread-local storage (variant of x86-64, glibc);
 * Task of mindspore/ccsrc/minddata/dataset/util/task.h, which also has the group of its tree; a table has its layouts
 * with the versions of MindSpore in which they were found. Data are used only if they pass the
 * checks that their layout permits. AArch64 addresses such variables in another
 * way (TLSDESC) and is not supported.
 */
#include <ctype.h>
#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/profbpfd/interpreters/interpreter.h"
#include "daemon/profbpfd/interpreters/mindspore/process_symbol.h"
#include "lib/elf/process_maps.h"
#include "proto/trace.pb-c.h"

#define VARIABLE "_ZN9mindspore7dataset7gMyTaskE"
#define NAME_MAX_BYTES 96
#define MODULES_MAX 65536
#define ID_MAX 4096

/* Offsets in a Task. Uses the layout with most Tasks that contain their threads' ids, else the one that fits most. */
struct layout {
	const char *versions; /* versions of MindSpore with this layout */
	uint16_t name; /* std::string: its first word is the text's address in both of its forms */
	uint16_t id; /* int32: the operator's number, -1 = none */
	uint16_t tid; /* int32: gettid() of the thread, the check; 0 = absent */
	uint16_t group; /* pointer: the TaskGroup, one for each tree; 0 = unknown offset */
};

static const struct layout LAYOUTS[] = {
	{ "2.10", 0x68, 0x70, 0x78, 0x160 },
	{ "2.0", 0x68, 0x70, 0x74, 0x130 },
	{ "2.0 without thread ids", 0x68, 0x70, 0, 0 },
};

#define LAYOUT_COUNT (sizeof(LAYOUTS) / sizeof(LAYOUTS[0]))

struct found {
	uint32_t tid;
	bool knows_itself; /* its Task contains the same thread id */
	int32_t id;
	uint64_t group; /* 0 = unknown */
	char name[NAME_MAX_BYTES];
};

struct search {
	struct process_memory memory;
	pid_t pid;
	uint64_t module; /* number of the library in each thread's dtv */
	uint64_t offset; /* of the variable in the module's block */
	struct found *found;
	size_t count;
};

static bool read_word(const struct search *s, uint64_t address, uint64_t *value)
{
	return address && process_memory_read(&s->memory, address, value, sizeof(*value));
}

static bool read_int(const struct search *s, uint64_t address, int32_t *value)
{
	return process_memory_read(&s->memory, address, value, sizeof(*value));
}

/*
 * Valid names are "MapOp(ID:2)", "MapOp::WorkerEntry", "Watchdog": printable, and a number in one is
 * the operator's id.
 */
static bool plausible_name(const char *name, int32_t id)
{
	const char *number = strstr(name, "(ID:");

	if (!isupper((unsigned char)name[0]) && strcmp(name, "master") != 0)
		return false;
	for (const char *p = name; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return !number || atoi(number + 4) == id;
}

static bool read_name(const struct search *s, uint64_t address, char *name)
{
	size_t n = address ? process_memory_some(&s->memory, address, name, NAME_MAX_BYTES) : 0;
	size_t length = strnlen(name, n);

	return length > 2 && length < n;
}

/* A TaskGroup has virtual methods: its first word is the address of the table of methods. */
static uint64_t read_group(const struct search *s, const struct layout *layout, uint64_t task)
{
	uint64_t group, table, method;

	if (!layout->group || !read_word(s, task + layout->group, &group) ||
	    group % sizeof(group) || !read_word(s, group, &table) || !read_word(s, table, &method) || !method)
		return 0;
	return group;
}

static bool read_task(const struct search *s, const struct layout *layout, uint64_t task,
		      struct found *found)
{
	uint64_t text;
	int32_t tid = 0;

	if (!read_int(s, task + layout->id, &found->id) ||
	    !read_word(s, task + layout->name, &text) ||
	    !read_name(s, text, found->name))
		return false;
	if (layout->tid && (!read_int(s, task + layout->tid, &tid) || tid <= 0))
		return false;
	found->group = read_group(s, layout, task);
	found->knows_itself = layout->tid && (uint32_t)tid == found->tid;
	/* In a pid namespace the thread has another id there: then only the name is checked. */
	if (layout->tid && (uint32_t)tid != found->tid && !strstr(found->name, "Op"))
		return false;
	return found->id >= -1 && found->id < ID_MAX && plausible_name(found->name, found->id);
}

/* Returns the address of the thread's Task; 0 = none. The block is -1 if it was never used. */
static uint64_t task_of(const struct search *s, uint64_t thread_pointer)
{
	uint64_t dtv, block, task;

	if (!read_word(s, thread_pointer + 8, &dtv) ||
	    !read_word(s, dtv + 16 * s->module, &block) || block == UINT64_MAX ||
	    !read_word(s, block + s->offset, &task))
		return 0;
	return task;
}

static size_t try_layout(struct search *s, const struct layout *layout,
			 const struct thread_pointer *threads, size_t count, size_t *tasks,
			 size_t *knowing)
{
	size_t found = 0;

	*tasks = *knowing = 0;
	for (size_t i = 0; i < count; i++) {
		struct found *row = &s->found[found];
		uint64_t task;

		if (threads[i].tgid != (uint32_t)s->pid)
			continue;
		task = task_of(s, threads[i].address);
		if (!task)
			continue;
		++*tasks;
		row->tid = threads[i].tid;
		if (!read_task(s, layout, task, row))
			continue;
		found++;
		*knowing += row->knows_itself;
	}
	return found;
}

static struct item *pack(const struct search *s)
{
	Profbpf__ThreadRoles m = PROFBPF__THREAD_ROLES__INIT;
	uint32_t *tids = calloc(s->count, sizeof(*tids));
	int32_t *ids = calloc(s->count, sizeof(*ids));
	char **names = calloc(s->count, sizeof(*names));
	uint64_t *trees = calloc(s->count, sizeof(*trees));
	struct item *item = NULL;
	struct timespec now;

	if (!tids || !ids || !names || !trees)
		goto cleanup;
	for (size_t i = 0; i < s->count; i++) {
		tids[i] = s->found[i].tid;
		ids[i] = s->found[i].id;
		names[i] = s->found[i].name;
		trees[i] = s->found[i].group;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	m.framework = "MindData";
	m.tgid = s->pid;
	m.ts_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	m.n_tid = m.n_operator_id = m.n_name = m.n_tree = s->count;
	m.tid = tids;
	m.operator_id = ids;
	m.name = names;
	m.tree = trees;
	item = item_new(ITEM_BODY, profbpf__thread_roles__get_packed_size(&m));
	if (!item)
		goto cleanup;
	item->size = profbpf__thread_roles__pack(&m, item->data);
	item->body = PROFBPF__PACKET__KIND__THREAD_ROLES;
	item->repeated = true;
cleanup:
	free(tids);
	free(ids);
	free(names);
	free(trees);
	return item;
}

static struct item *search(struct search *s, const struct thread_pointer *threads, size_t count,
			   const char **problem)
{
	size_t best = 0, best_found = 0, best_knowing = 0, tasks = 0, knowing = 0;

	free(s->found); /* The library may be mapped twice. */
	s->found = calloc(count + 1, sizeof(*s->found));
	if (!s->found)
		return NULL;
	for (size_t i = 0; i < LAYOUT_COUNT; i++) {
		size_t found = try_layout(s, &LAYOUTS[i], threads, count, &tasks, &knowing);

		if (knowing > best_knowing || (knowing == best_knowing && found > best_found)) {
			best = i;
			best_found = found;
			best_knowing = knowing;
		}
	}
	/* Half of the Tasks must fit; a thread may have ended meanwhile. */
	if (best_found * 2 < tasks || (tasks && !best_found)) {
		*problem = "the layout of its class Task is unknown";
		return NULL;
	}
	s->count = try_layout(s, &LAYOUTS[best], threads, count, &tasks, &knowing);
	return s->count ? pack(s) : NULL;
}

/* Reads the module's number and the variable's offset from the two words that the loader has filled. */
static bool find_variable(struct search *s, const struct process_map *map, const char **problem)
{
	struct process_tls_symbol symbol;

	if (process_symbol_find_tls(&s->memory, map, VARIABLE, &symbol) ||
	    !read_word(s, symbol.module_address, &s->module) ||
	    !read_word(s, symbol.offset_address, &s->offset) || s->module == 0 ||
	    s->module > MODULES_MAX || s->offset > (1u << 30)) {
		*problem = "its variable gMyTask is not where it is expected";
		return false;
	}
	return true;
}

static bool mindspore_file(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && fnmatch("/_c_dataengine*.so", name, 0) == 0;
}

static struct item *mindspore_roles(pid_t pid, const struct thread_pointer *threads, size_t count,
				    const char **problem)
{
	struct search s = { .pid = pid, .memory = { .present.pagemap = -1, .content = -1 } };
	struct process_maps maps;
	struct item *item = NULL;

	*problem = NULL;
	if (process_maps_read(pid, &maps))
		return NULL;
	for (size_t i = 0; i < maps.count && !item; i++) {
		if (!mindspore_file(maps.map[i].path))
			continue;
#if !defined(__x86_64__)
		*problem = "the layout is known for x86-64 only";
		break;
#endif
		if (s.memory.content < 0 && !process_memory_open(&s.memory, pid)) {
			*problem = "its memory cannot be read";
			break;
		}
		if (find_variable(&s, &maps.map[i], problem))
			item = search(&s, threads, count, problem);
	}
	process_memory_close(&s.memory);
	free(s.found);
	process_maps_free(&maps);
	return item;
}

const struct interpreter interpreter_mindspore = {
	.file = mindspore_file,
	.roles = mindspore_roles,
	.roles_words = "the operators that its running MindData threads work for",
};
