/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/interpreters/interpreters.h"

#include <search.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/profbpfd/host/thread_awake.h"
#include "daemon/profbpfd/interpreters/memory_pages.h"
#include "lib/elf/code_maps.h"

#define MEMORY_KEPT_NS 20000000ull /* memory read for one sample is used for the next ones during this time */
#define LOOKS_MAX 40 /* number of checks of a process without an interpreter */
#define CPUCLOCK_SCHED 2 /* linux/posix-timers.h: the clock of a process */

#define INTERPRETER_POINTER(name) &interpreter_##name,
static const struct interpreter *const ALL[] = { INTERPRETERS(INTERPRETER_POINTER) };
#define COUNT (sizeof(ALL) / sizeof(ALL[0]))

struct process {
	struct interpreted seen; /* the process as the interpreter gets it */
	unsigned int looks;
	size_t which; /* index in ALL */
	void *known; /* the state from the interpreter's look(); NULL = none found yet */
	/* Pages by purpose: a sample of all threads, and the names of functions that a BPF program read. */
	struct memory_pages_used sampled, named;
	/* The last sample, which holds until the process runs again. */
	uint64_t ran_ns; /* the process' CPU time before it; 0 = the sample cannot be repeated */
	struct stack_row *rows;
	size_t row_count, row_room;
};

struct interpreters {
	const struct right *right;
	struct stack_table *table;
	struct item_queue *queue;
	struct interpreters_handler handler;
	void *processes; /* tsearch tree of struct process */
	struct memory_pages *pages;
	pid_t pages_pid; /* the process of @pages */
	uint64_t pages_ns; /* the time at which it was set */
	unsigned int found; /* number of processes with an interpreter */
	uint64_t next_ns;
	uint32_t random; /* never 0 */
	bool warned[COUNT];
};

uint64_t interpreted_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int interpreted_read(struct interpreted *seen, uint64_t address, void *into, size_t size)
{
	int err = memory_pages_read(seen->owner->pages, address, into, size);

	if (err)
		interpreted_partial(seen);
	return err;
}

void interpreted_partial(struct interpreted *seen)
{
	((struct process *)seen)->ran_ns = 0;
}

static bool keep_row(struct process *process, const struct stack_row *row)
{
	if (process->row_count == process->row_room) {
		size_t room = process->row_room ? 2 * process->row_room : 8;
		struct stack_row *rows = realloc(process->rows, room * sizeof(*rows));

		if (!rows)
			return false;
		process->rows = rows;
		process->row_room = room;
	}
	process->rows[process->row_count++] = *row;
	return true;
}

void interpreted_row(struct interpreted *seen, const struct stack_row *row)
{
	const struct interpreters_handler *handler = &seen->owner->handler;

	if (!row->stack || !keep_row((struct process *)seen, row))
		interpreted_partial(seen);
	handler->row(handler->context, row);
}

void interpreted_lock(struct interpreted *process, const struct python_range *range)
{
	const struct interpreters_handler *handler = &process->owner->handler;

	handler->lock(handler->context, process->pid, range);
}

void interpreted_layout(struct interpreted *process, const struct python_layout *layout)
{
	const struct interpreters_handler *handler = &process->owner->handler;

	handler->layout(handler->context, process->pid, layout);
}

void interpreted_state(struct interpreted *process, uint32_t tid, uint64_t state)
{
	const struct interpreters_handler *handler = &process->owner->handler;

	handler->state(handler->context, process->pid, tid, state);
}

void interpreted_warn(struct interpreted *seen, const char *text)
{
	const struct process *process = (const struct process *)seen;
	struct interpreters *owner = seen->owner;

	if (owner->warned[process->which])
		return;
	owner->warned[process->which] = true;
	owner->handler.warn(owner->handler.context, text);
}

struct interpreters *interpreters_new(struct stack_table *table, struct item_queue *queue,
				      const struct interpreters_handler *handler)
{
	struct interpreters *interpreters = calloc(1, sizeof(*interpreters));

	if (!interpreters)
		return NULL;
	interpreters->pages = memory_pages_new();
	if (!interpreters->pages) {
		free(interpreters);
		return NULL;
	}
	interpreters->table = table;
	interpreters->queue = queue;
	interpreters->handler = *handler;
	interpreters->random = (uint32_t)interpreted_now() | 1;
	return interpreters;
}

void interpreters_limit(struct interpreters *interpreters, const struct right *right)
{
	interpreters->right = right;
	memory_pages_limit(interpreters->pages, right);
}

static void free_process(void *data)
{
	struct process *process = data;

	if (process->known)
		ALL[process->which]->free(process->known);
	free(process->rows);
	free(process);
}

void interpreters_free(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	tdestroy(interpreters->processes, free_process);
	memory_pages_free(interpreters->pages);
	free(interpreters);
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->seen.pid < y->seen.pid ? -1 : x->seen.pid > y->seen.pid;
}

/* Returns NULL if the process was not checked. */
static struct process *known_process(struct interpreters *interpreters, pid_t pid)
{
	struct process key = { .seen.pid = pid };
	struct process **found = tfind(&key, &interpreters->processes, by_pid);

	return found ? *found : NULL;
}

static struct process *find_process(struct interpreters *interpreters, pid_t pid)
{
	struct process *found = known_process(interpreters, pid), *new;

	if (found)
		return found;
	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->seen = (struct interpreted){ .pid = pid,
					  .table = interpreters->table,
					  .queue = interpreters->queue,
					  .owner = interpreters };
	if (tsearch(new, &interpreters->processes, by_pid))
		return new;
	free(new);
	return NULL;
}

void interpreters_forget(struct interpreters *interpreters, pid_t pid)
{
	struct process *process = known_process(interpreters, pid);

	if (!process)
		return;
	interpreters->found -= process->known != NULL;
	if (process->known && ALL[process->which]->forget)
		ALL[process->which]->forget(process->known);
	tdelete(process, &interpreters->processes, by_pid);
	/* The round's list of pages may be the process's. */
	if (interpreters->pages_pid == pid) {
		interpreters->pages_pid = 0;
		memory_pages_begin(interpreters->pages, 0, NULL);
	}
	free_process(process);
}

static void read_memory_again(struct process *process, uint64_t now_ns, struct memory_pages_used *used)
{
	struct interpreters *owner = process->seen.owner;

	process->seen.now_ns = now_ns;
	owner->pages_pid = process->seen.pid;
	owner->pages_ns = now_ns;
	memory_pages_begin(owner->pages, process->seen.pid, used);
}

/* Calls all interpreters that may be in this file. */
static void look_into(struct process *process, const struct process_map *map)
{
	for (size_t i = 0; i < COUNT && !process->known; i++) {
		if (!ALL[i]->look || !ALL[i]->file(map->path))
			continue;
		process->which = i;
		process->known = ALL[i]->look(&process->seen, map);
	}
	process->seen.owner->found += process->known != NULL;
}

void interpreters_look(struct interpreters *interpreters, pid_t pid)
{
	struct process *process = find_process(interpreters, pid);
	struct code_maps maps;

	if (!process || process->known || process->looks >= LOOKS_MAX ||
	    code_maps_read(pid, &maps))
		return;
	if (!right_holds(interpreters->right, pid)) {
		code_maps_free(&maps);
		return;
	}
	process->seen.last_look = ++process->looks == LOOKS_MAX;
	read_memory_again(process, interpreted_now(), NULL);
	for (size_t i = 0; i < maps.count && !process->known; i++)
		if (maps.map[i].map.inode)
			look_into(process, &maps.map[i].map);
	code_maps_free(&maps);
}

/* The CPU time of all its threads; 0: unknown. What a thread has run since the last tick may be missing until it sleeps. */
static uint64_t cpu_time(pid_t pid)
{
	struct timespec ts;

	if (clock_gettime((clockid_t)(~(unsigned int)pid << 3 | CPUCLOCK_SCHED), &ts))
		return 0;
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void repeat_sample(struct process *process)
{
	const struct interpreters_handler *handler = &process->seen.owner->handler;

	process->seen.now_ns = interpreted_now();
	for (size_t i = 0; i < process->row_count; i++) {
		process->rows[i].ts_ns = process->seen.now_ns;
		handler->row(handler->context, &process->rows[i]);
	}
}

/*
 * Is a thread of the last sample awake? Others cannot change its rows: a new Python thread is started by one of these, which
 * runs for that. A thread that C code makes one for Python may be seen a sample late.
 */
static bool row_awake(const struct process *process)
{
	for (size_t i = 0; i < process->row_count; i++)
		if (thread_awake((uint32_t)process->seen.pid, process->rows[i].tid))
			return true;
	return false;
}

/* The time is read before the states, for they cost more, and after them: see thread_awake.h. */
static bool holds(const struct process *process, uint64_t ran_ns)
{
	return ran_ns && ran_ns == process->ran_ns && !row_awake(process) && cpu_time(process->seen.pid) == ran_ns;
}

/* The stacks of a process that has not run since the last sample are those of that sample: nothing is read. */
static void sample_one(const void *node, VISIT visit, void *context)
{
	struct process *process = *(struct process *const *)node;
	uint64_t ran_ns;

	if ((visit != postorder && visit != leaf) || !process->known)
		return;
	ran_ns = cpu_time(process->seen.pid);
	if (holds(process, ran_ns) && right_holds(process->seen.owner->right, process->seen.pid)) {
		repeat_sample(process);
		return;
	}
	process->ran_ns = ran_ns;
	process->row_count = 0;
	read_memory_again(process, interpreted_now(), &process->sampled);
	ALL[process->which]->sample(process->known, &process->seen);
}

/* Marsaglia's xorshift: random enough to avoid a fixed period. */
static uint64_t random_below(struct interpreters *interpreters, uint64_t limit)
{
	interpreters->random ^= interpreters->random << 13;
	interpreters->random ^= interpreters->random >> 17;
	interpreters->random ^= interpreters->random << 5;
	return interpreters->random % limit;
}

void interpreters_sample(struct interpreters *interpreters, uint64_t now_ns)
{
	if (now_ns < interpreters->next_ns)
		return;
	interpreters->next_ns = now_ns + 3 * INTERPRETERS_PERIOD_NS / 4 +
				random_below(interpreters, INTERPRETERS_PERIOD_NS / 2);
	twalk_r(interpreters->processes, sample_one, NULL);
}

bool interpreters_frames(struct interpreters *interpreters, pid_t pid, const struct rec_python_frame *read,
			 uint32_t count, uint64_t now_ns, struct interpreted_frame *into)
{
	struct process *process = known_process(interpreters, pid);

	if (!process || !process->known || !ALL[process->which]->frames)
		return false;
	if (interpreters->pages_pid != pid || now_ns - interpreters->pages_ns > MEMORY_KEPT_NS)
		read_memory_again(process, now_ns, &process->named);
	ALL[process->which]->frames(process->known, &process->seen, read, count, into);
	return true;
}

bool interpreters_loop(struct interpreters *interpreters, pid_t pid, uint64_t address)
{
	struct process *process = known_process(interpreters, pid);

	return process && process->known && ALL[process->which]->loop &&
	       ALL[process->which]->loop(process->known, address);
}

uint64_t interpreters_next(const struct interpreters *interpreters)
{
	return interpreters->found ? interpreters->next_ns : UINT64_MAX;
}

bool interpreters_tell_roles(const char *path)
{
	for (size_t i = 0; i < COUNT; i++)
		if (ALL[i]->roles && ALL[i]->file(path))
			return true;
	return false;
}

const struct interpreter *interpreters_with_roles(const struct interpreter *previous)
{
	bool passed = !previous;

	for (size_t i = 0; i < COUNT; i++) {
		if (passed && ALL[i]->roles)
			return ALL[i];
		passed |= ALL[i] == previous;
	}
	return NULL;
}
