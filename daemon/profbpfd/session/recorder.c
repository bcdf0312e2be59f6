/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/profbpfd/host/process_info.h"

#define FIRST_BATCH_BYTES 4096
#define KNOWN_TEXTS 256 /* a power of two */
#define COMMANDS 64 /* last command lines, by the low bits of the process id */

/* What a process ran when it was read. */
struct command {
	pid_t pid; /* 0 = none */
	uint64_t read_ns; /* CLOCK_MONOTONIC before that */
	char *cmdline, *exe; /* NULL: unknown */
};

struct recorder {
	int cpus;
	struct item_queue *queue;
	struct texts *texts;
	struct recorder_events events;
	struct item **batches;		/* [cpu * REC_TYPES + type] */
	size_t *sizes;			/* size of the last queued batch of each, in bytes */
	struct item *tasks;
	uint64_t known_texts[KNOWN_TEXTS]; /* keys of strings in calls of this pass, by their last bits; 0 = none */
	bool texts_missing;
	struct command commands[COMMANDS];
	uint64_t dropped[TRACE_SOURCES];
	uint64_t used[TRACE_SOURCES];
};

struct recorder *recorder_new(int cpus, struct item_queue *queue, struct texts *texts,
			      const struct recorder_events *events)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->cpus = cpus;
	r->queue = queue;
	r->texts = texts;
	r->events = *events;
	r->batches = calloc((size_t)cpus * REC_TYPES, sizeof(*r->batches));
	r->sizes = calloc((size_t)cpus * REC_TYPES, sizeof(*r->sizes));
	if (!r->batches || !r->sizes) {
		recorder_free(r);
		return NULL;
	}
	return r;
}

static void forget_command(struct command *command)
{
	free(command->cmdline);
	free(command->exe);
	*command = (struct command){ 0 };
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->batches && i < (size_t)r->cpus * REC_TYPES; i++)
		item_free(r->batches[i]);
	item_free(r->tasks);
	for (size_t i = 0; i < COMMANDS; i++)
		forget_command(&r->commands[i]);
	free(r->batches);
	free(r->sizes);
	free(r);
}

static const struct {
	size_t size;
	enum source source;
} kinds[REC_TYPES] = {
	[REC_CALL] = { sizeof(struct rec_call), SOURCE_API },
	[REC_IOCTL] = { sizeof(struct rec_ioctl), SOURCE_IOCTL },
	[REC_SWITCH] = { sizeof(struct rec_switch), SOURCE_SCHED },
	[REC_INTERRUPT] = { sizeof(struct rec_interrupt), SOURCE_SCHED },
	[REC_WAKE] = { sizeof(struct rec_wake), SOURCE_SCHED },
	[REC_ACCOUNT] = { sizeof(struct rec_account), SOURCE_TASK },
	[REC_PROCESS] = { sizeof(struct rec_process), SOURCE_TASK },
	[REC_FAULT] = { sizeof(struct rec_fault), SOURCE_FAULT },
	[REC_BLOCK] = { sizeof(struct rec_block), SOURCE_BLOCK },
};

static void hand_over(struct recorder *r, struct item **batch)
{
	if (!*batch)
		return;
	r->sizes[batch - r->batches] = (*batch)->size;
	if (!item_queue_push(r->queue, *batch)) {
		r->dropped[(*batch)->source] += (*batch)->count;
		item_free(*batch);
	}
	*batch = NULL;
}

/* Allocates about the size of the previous batch, because growing would copy it repeatedly. */
static struct item *new_batch(struct recorder *r, size_t index, const struct rec_header *record)
{
	size_t capacity = r->sizes[index] + r->sizes[index] / 8;
	struct item *batch = item_new(ITEM_RECORDS, capacity > FIRST_BATCH_BYTES ? capacity :
										   FIRST_BATCH_BYTES);

	if (!batch)
		return NULL;
	batch->type = record->type;
	batch->cpu = record->cpu;
	batch->source = kinds[record->type].source;
	return batch;
}

/* @size: from kinds[]; a constant at the frequent call sites. */
static inline void add_record(struct recorder *r, const struct rec_header *record, size_t size)
{
	size_t index = (size_t)record->cpu * REC_TYPES + record->type;
	struct item **batch;

	if (record->cpu >= (uint32_t)r->cpus) {
		r->dropped[kinds[record->type].source]++;
		return;
	}
	batch = &r->batches[index];
	if (!*batch)
		*batch = new_batch(r, index, record);
	if (!*batch || item_append(*batch, record, size))
		r->dropped[kinds[record->type].source]++;
	else if ((*batch)->count >= RECORDER_BATCH_MAX)
		hand_over(r, batch);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void read_command(struct command *command, const struct right *right, pid_t pid)
{
	forget_command(command);
	command->pid = pid;
	command->read_ns = now_ns();
	command->exe = process_exe(pid);
	/* A process that has ended has neither, nor has a thread of the kernel. */
	if (command->exe || errno != ENOENT)
		command->cmdline = process_cmdline(pid);
	if (right_holds(right, pid))
		return;
	free(command->cmdline);
	free(command->exe);
	command->cmdline = command->exe = NULL;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/*
 * An ordinary user's session gets command lines of targets only, and only if the process is still the user's. Records of
 * a process often come together, of its first switch and of its program: what was read after them holds for all.
 */
static void add_command(struct recorder *r, struct task_row *row)
{
	pid_t pid = (pid_t)row->record.tgid;
	struct command *command = &r->commands[(uint32_t)pid % COMMANDS];

	if (right_limited(r->events.right) && !(row->record.header.flags & TASK_TARGET))
		return;
	if (command->pid != pid || command->read_ns <= row->record.header.ts_ns)
		read_command(command, r->events.right, pid);
	row->cmdline = copy_of(command->cmdline);
	row->exe = copy_of(command->exe);
}

static void add_task(struct recorder *r, const struct rec_task *record)
{
	struct task_row row = { .record = *record };
	bool leader = record->tid == record->tgid && !(record->header.flags & TASK_KTHREAD);

	row.record.comm[REC_COMM_LEN - 1] = '\0';
	if (leader && record->event != TASK_EXIT && record->event != TASK_RENAME)
		add_command(r, &row);
	if (!r->tasks)
		r->tasks = item_new(ITEM_TASKS, FIRST_BATCH_BYTES);
	if (!r->tasks || item_append(r->tasks, &row, sizeof(row))) {
		free(row.cmdline);
		free(row.exe);
		r->dropped[SOURCE_TASK]++;
	}
}

static void act_on_task(struct recorder *r, const struct rec_task *t)
{
	const struct recorder_events *e = &r->events;
	bool target = t->header.flags & TASK_TARGET;
	bool started = t->event == TASK_EXEC || (t->event == TASK_FORK && t->tid == t->tgid);

	if ((t->event == TASK_EXEC || t->event == TASK_DROPPED) && e->code_names)
		code_names_forget(e->code_names, t->tgid);
	if (target && started)
		e->process_started(e->context, t->tgid, t->event == TASK_FORK ? (pid_t)t->parent_tgid : 0,
				   t->header.ts_ns);
	else if (target && t->event == TASK_EXIT && t->header.flags & TASK_LAST)
		e->process_exited(e->context, t->tgid, t->header.ts_ns);
	else if (t->event == TASK_DROPPED && e->process_dropped)
		e->process_dropped(e->context, t->tgid);
}

static void note_process(struct recorder *r, const struct rec_process *p)
{
	const struct recorder_events *e = &r->events;

	e->process_seen(e->context, p->tgid, p->cgroup, p->header.flags & PROCESS_TARGET,
			p->header.flags & PROCESS_FINAL);
}

static void see_text(struct recorder *r, uint64_t key)
{
	uint64_t *known = &r->known_texts[key & (KNOWN_TEXTS - 1)];

	if (*known == key)
		return;
	if (texts_has(r->texts, key))
		*known = key;
	else
		r->texts_missing = true;
}

static void add_call(struct recorder *r, const struct rec_call *call)
{
	if (r->events.code_names)
		code_names_see(r->events.code_names, call);
	if (call->header.flags & CALL_HAS_STRING)
		see_text(r, call->text);
	add_record(r, &call->header, sizeof(*call));
}

static void keep_text(struct recorder *r, const struct rec_string *string)
{
	if (texts_put(r->texts, string->key, string->str, string->len) && r->events.texts_forgotten)
		r->events.texts_forgotten(r->events.context);
	r->used[SOURCE_TASK]++;
}

static void pass_tail(struct recorder *r, const struct rec_tail *tail)
{
	if (r->events.tail_seen)
		r->events.tail_seen(r->events.context, tail->tgid, tail->address, tail->probe);
	r->used[SOURCE_TASK]++;
}

void recorder_handle(void *context, const struct rec_header *record)
{
	struct recorder *r = context;

	switch (record->type) {
	case REC_TASK:
		add_task(r, (const void *)record);
		act_on_task(r, (const void *)record);
		break;
	case REC_PROCESS:
		note_process(r, (const void *)record);
		add_record(r, record, sizeof(struct rec_process));
		break;
	case REC_CALL: add_call(r, (const void *)record); break;
	case REC_STRING: keep_text(r, (const void *)record); break;
	case REC_TAIL: pass_tail(r, (const void *)record); break;
	default:
		if (kinds[record->type].size)
			add_record(r, record, kinds[record->type].size);
		break;
	}
}

bool recorder_texts_missing(struct recorder *r)
{
	bool missing = r->texts_missing;

	r->texts_missing = false;
	return missing;
}

/* Tasks are queued first, because records refer to them. */
void recorder_pass(struct recorder *r, bool flush)
{
	memset(r->known_texts, 0, sizeof(r->known_texts));
	if (r->events.code_names && code_names_waiting(r->events.code_names))
		r->events.code_seen(r->events.context);
	if (r->tasks && (flush || r->tasks->count >= RECORDER_BATCH)) {
		item_queue_push(r->queue, r->tasks);
		r->tasks = NULL;
	}
	for (size_t i = 0; i < (size_t)r->cpus * REC_TYPES; i++)
		if (r->batches[i] && (flush || r->batches[i]->count >= RECORDER_BATCH))
			hand_over(r, &r->batches[i]);
}

uint64_t recorder_dropped(const struct recorder *r, unsigned int source)
{
	return r->dropped[source];
}

uint64_t recorder_used(const struct recorder *r, unsigned int source)
{
	return r->used[source];
}
