/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines of processes with an unknown framework: finds the threads and processes that feed the threads that submit
 * work to a device, or the main thread if none submits, from wake-ups.
 *
 * A thread that waits for input sleeps, and the thread that provides the input ends the sleep: by a lock or a
 * condition, a pipe, a socket, a semaphore in shared memory. So the search starts at the submitting threads and goes
 * to the threads that end their sleeps outside of runtime calls, and from these to those that end theirs. Threads of
 * one process whose names differ only in a number are one operator, if they feed the same operator; other processes of
 * one name are another operator, with all their threads. The search does not start at main threads of processes that
 * another process of the job started. This method cannot find the number of elements, nor, for threads that meet at a
 * lock, which of the two takes from the other.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/thread_entry.h"
#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/launch/launch_counts.h"
#include "lib/base/bisect.h"
#include "lib/base/map.h"

#define WAKES_MIN 4 /* fewer may be a coincidence */
#define WAKES_SHARE 20 /* a feeder ends at least one in this many sleeps; of a main thread also in time */
#define LEVELS 4 /* length of a chain of operators */
#define OPERATORS_MAX 64
#define SUBMITTER (INDEX_NONE - 1) /* replaces an operator */

#define NOTE                                                                                      \
	"its framework is not known: these threads and processes end the sleeps of those that submit " \
	"to the device, or of each other; a thread that only takes from them at a lock looks the same"

#define MAIN_NOTE                                                                                 \
	"its framework is not known, if it has one: these threads and processes end the sleeps of the main " \
	"thread, or of each other; a thread that only takes from them at a lock looks the same"

struct feeders {
	struct model *model;
	struct syscall_table *syscalls;
	struct map targets; /* process ids */
	uint32_t *entry; /* by thread: frame of the Python function that it runs, or INDEX_NONE */
	bool of_main; /* the pipeline that is being made begins with a main thread */
	struct pipelines *pipelines;
	uint64_t *launches; /* by thread */
	uint32_t *op; /* by thread: operator in the pipeline that is being made, or INDEX_NONE */
	uint32_t *wakes; /* by thread: sleeps of one operator that it ended */
	uint64_t *slept_ns; /* by thread: total duration of these */
};

/*
 * Is it a sleep in which a thread waits for data of other threads, rather than for the end of a child or for a turn to
 * write?
 */
static bool is_input(const struct feeders *f, const struct span *span)
{
	if (span->flags & SPAN_FAULT)
		return false;
	switch (syscall_class(f->syscalls, span->syscall)) {
	case SYSCALL_LOCK:
	case SYSCALL_POLL:
	case SYSCALL_READ:
	case SYSCALL_NETWORK: return true;
	default: return false;
	}
}

static bool was_woken(const struct feeders *f, uint32_t thread, const struct span *span)
{
	return (!f->of_main || is_input(f, span)) && span->state == STATE_SLEEP && span->other < f->model->threads.count &&
	       span->other != thread && f->model->threads.row[span->other].target &&
	       !(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_WOKEN_TIMER |
				SPAN_NO_WAKE));
}

/* Returns the index of the first call of a thread; calls are sorted by thread. */
static uint32_t first_call(const struct model *model, uint32_t thread)
{
	return BISECT(i, 0, model->calls.count, model->calls.row[i].thread < thread);
}

/* Iterator over the sleeps of a thread that other threads ended. */
struct sleeps {
	const struct feeders *f;
	uint32_t thread;
	uint32_t call; /* current position in the calls */
	uint32_t span;
	uint64_t runtime_until_ns; /* end of the runtime calls up to here */
};

static struct sleeps sleeps_of(const struct feeders *f, uint32_t thread)
{
	return (struct sleeps){ .f = f, .thread = thread, .call = first_call(f->model, thread) };
}

/* In a runtime call the thread waits for the device, or for a lock of the runtime. */
static bool in_runtime(struct sleeps *s, uint64_t ts_ns)
{
	const struct model *model = s->f->model;

	for (; s->call < model->calls.count; s->call++) {
		const struct call *call = &model->calls.row[s->call];

		if (call->thread != s->thread || call->start_ns > ts_ns)
			break;
		if (call_is_runtime(model, call) && call->end_ns > s->runtime_until_ns)
			s->runtime_until_ns = call->end_ns;
	}
	return ts_ns < s->runtime_until_ns;
}

static const struct span *next_sleep(struct sleeps *s)
{
	const struct model *model = s->f->model;
	const struct timeline *line;

	if (s->thread >= model->timelines.count)
		return NULL;
	line = &model->timelines.row[s->thread];
	while (s->span < line->count) {
		const struct span *span = &model->spans.row[line->first + s->span++];

		if (model_has_time(model, span->start_ns, span->end_ns) &&
		    was_woken(s->f, s->thread, span) && !in_runtime(s, span->start_ns))
			return span;
	}
	return NULL;
}

/*
 * Does @op feed @to? Threads and processes that feed the same operator are one operator if their names differ only in
 * a number.
 */
static bool feeds(const struct pipeline *pipeline, uint32_t op, uint32_t to)
{
	return pipeline->queues.row[op].to == (to == SUBMITTER ? INDEX_NONE : to);
}

/*
 * "av:h264:df1" and "av:h264:df12" are one operator. Threads without a name of their own have the name of their
 * process; then the function that they run shows their purpose.
 */
static void group_name(const struct feeders *f, const struct pipeline *pipeline, uint32_t thread,
		       char *name, size_t size)
{
	const struct model *model = f->model;
	const struct thread *row = &model->threads.row[thread];
	const char *process = model_text(model, model->processes.row[row->process].name);
	size_t length;

	if (row->process != pipeline->process) {
		snprintf(name, size, "process %s", process);
		return;
	}
	snprintf(name, size, "%s", model_text(model, row->name));
	if (strcmp(name, process) == 0) {
		thread_entry_text(model, f->entry[thread], name, size);
		if (!*name)
			snprintf(name, size, "%s", process);
		return;
	}
	for (length = strlen(name); length > 1 && isdigit((unsigned char)name[length - 1]);)
		name[--length] = '\0';
}

static uint32_t operator_named(struct feeders *f, struct pipeline *pipeline, const char *name,
			       bool process, uint32_t to)
{
	struct pipeline_edge edge = { .to = to };
	struct pipeline_queue queue = { .to = to == SUBMITTER ? INDEX_NONE : to,
					.pushes_unseen = true };
	char unique[112];
	uint32_t op, others = 0;

	snprintf(unique, sizeof(unique), "%s", name);
	for (op = 0; op < pipeline->operators.count; op++) {
		if (strcmp(model_text(f->model, pipeline->operators.row[op].name), unique) != 0)
			continue;
		if (feeds(pipeline, op, to))
			return op;
		snprintf(unique, sizeof(unique), "%s (%u)", name, ++others + 1);
	}
	op = pipeline_operator_add(f->model, pipeline, (int32_t)op, unique,
				   process ? "process" : "threads");
	edge.from = queue.from = op;
	if (op == INDEX_NONE || !MODEL_PUSH(&pipeline->queues, queue) ||
	    (to != SUBMITTER && !MODEL_PUSH(&pipeline->edges, edge)))
		return INDEX_NONE;
	return op;
}

/* If one thread of a worker process works for the operator, its other threads do so, too. */
static int add_process(struct feeders *f, struct pipeline *pipeline, uint32_t op, uint32_t process)
{
	for (uint32_t t = 0; t < f->model->threads.count; t++) {
		struct pipeline_thread row = { .thread = t, .op = op, .role = PIPELINE_WORKER_PROCESS };

		if (f->model->threads.row[t].process != process || f->op[t] != INDEX_NONE)
			continue;
		if (!MODEL_PUSH(&pipeline->threads, row))
			return -ENOMEM;
		f->op[t] = op;
	}
	return 0;
}

static int add_feeder(struct feeders *f, struct pipeline *pipeline, uint32_t thread, uint32_t to)
{
	uint32_t of = f->model->threads.row[thread].process;
	bool process = of != pipeline->process;
	struct pipeline_thread row = { .thread = thread, .role = PIPELINE_WORKER };
	char name[96];

	group_name(f, pipeline, thread, name, sizeof(name));
	row.op = operator_named(f, pipeline, name, process, to);
	if (row.op == INDEX_NONE)
		return -ENOMEM;
	pipeline->operators.row[row.op].workers++;
	if (process)
		return add_process(f, pipeline, row.op, of);
	if (!MODEL_PUSH(&pipeline->threads, row))
		return -ENOMEM;
	f->op[thread] = row.op;
	return 0;
}

/* Makes operators of the threads that end sleeps of the threads of @op, and lets them feed @op. */
static int add_feeders_of(struct feeders *f, struct pipeline *pipeline, uint32_t op)
{
	const struct model *model = f->model;
	uint64_t all_ns = 0;
	uint32_t all = 0;
	int err = 0;

	memset(f->wakes, 0, model->threads.count * sizeof(*f->wakes));
	memset(f->slept_ns, 0, model->threads.count * sizeof(*f->slept_ns));
	for (uint32_t t = 0; t < model->threads.count; t++) {
		struct sleeps sleeps = sleeps_of(f, t);
		const struct span *span;

		while (f->op[t] == op && (span = next_sleep(&sleeps))) {
			f->wakes[span->other]++;
			f->slept_ns[span->other] += span->end_ns - span->start_ns;
			all++;
			all_ns += span->end_ns - span->start_ns;
		}
	}
	for (uint32_t t = 0; t < model->threads.count && !err; t++)
		if (f->op[t] == INDEX_NONE && pipeline->operators.count < OPERATORS_MAX &&
		    f->wakes[t] >= WAKES_MIN &&
		    (uint64_t)f->wakes[t] * WAKES_SHARE >= all &&
		    (!f->of_main || f->slept_ns[t] >= all_ns / WAKES_SHARE))
			err = add_feeder(f, pipeline, t, op);
	return err;
}

/* Adds a fetch: a submitting thread slept until a feeder woke it. No more is known. */
static int add_fetch(struct pipeline *pipeline, uint32_t thread, const struct span *span)
{
	struct pipeline_fetch fetch = { .start_ns = span->start_ns,
					.end_ns = span->end_ns,
					.thread = thread };

	return MODEL_PUSH(&pipeline->fetches, fetch) ? 0 : -ENOMEM;
}

/* Adds a wait at the queue between two operators, which has the index of the operator that fills it. */
static int add_wait(struct feeders *f, struct pipeline *pipeline, uint32_t thread,
		    const struct span *span)
{
	uint32_t op = f->op[thread], other = f->op[span->other];
	struct pipeline_queue_event event = { .start_ns = span->start_ns,
					      .end_ns = span->end_ns,
					      .thread = thread,
					      .size = -1 };

	if (other < SUBMITTER && pipeline->queues.row[other].to ==
					 (op == SUBMITTER ? INDEX_NONE : op)) {
		event.queue = other;
		event.change = -1;
	} else if (op < SUBMITTER && pipeline->queues.row[op].to ==
					     (other == SUBMITTER ? INDEX_NONE : other)) {
		event.queue = op;
		event.change = 1;
	} else {
		return 0;
	}
	if (op == SUBMITTER && add_fetch(pipeline, thread, span))
		return -ENOMEM;
	return MODEL_PUSH(&pipeline->queue_events, event) ? 0 : -ENOMEM;
}

static int add_waits(struct feeders *f, struct pipeline *pipeline)
{
	int err = 0;

	for (uint32_t t = 0; t < f->model->threads.count; t++) {
		struct sleeps sleeps = sleeps_of(f, t);
		const struct span *span;

		while (f->op[t] != INDEX_NONE && !err && (span = next_sleep(&sleeps)))
			if (f->op[span->other] != INDEX_NONE)
				err = add_wait(f, pipeline, t, span);
	}
	return err;
}

static uint32_t mark_submitters(struct feeders *f, uint32_t process)
{
	uint64_t all = 0;
	uint32_t found = 0;

	memset(f->op, 0xff, f->model->threads.count * sizeof(*f->op));
	for (uint32_t t = 0; t < f->model->threads.count; t++)
		if (f->model->threads.row[t].process == process)
			all += f->launches[t];
	for (uint32_t t = 0; t < f->model->threads.count; t++) {
		if (f->model->threads.row[t].process != process ||
		    !launches_submit(f->launches[t], all))
			continue;
		f->op[t] = SUBMITTER;
		found++;
	}
	return found;
}

/* Without submitting threads, starts at the main thread, but not at that of a worker process. */
static uint32_t mark_main(struct feeders *f, uint32_t process)
{
	const struct model *model = f->model;

	if (map_get(&f->targets, model->processes.row[process].parent_pid) != INDEX_NONE)
		return 0;
	for (uint32_t t = 0; t < model->threads.count; t++) {
		if (model->threads.row[t].process != process ||
		    model->threads.row[t].tid != model->processes.row[process].pid)
			continue;
		f->op[t] = SUBMITTER;
		return 1;
	}
	return 0;
}

static int build_process(struct feeders *f, uint32_t process)
{
	struct pipeline *pipeline = pipeline_add(f->pipelines, "unknown", process);
	uint32_t done = 0;
	int err;

	if (!pipeline)
		return -ENOMEM;
	pipeline->by_wakes = true;
	pipeline->of_main = f->of_main;
	err = add_feeders_of(f, pipeline, SUBMITTER);
	for (int level = 1; level < LEVELS && !err; level++) {
		uint32_t end = pipeline->operators.count;

		for (; done < end && !err; done++)
			err = add_feeders_of(f, pipeline, done);
	}
	if (!err)
		err = add_waits(f, pipeline);
	if (err)
		return err;
	if (pipeline->operators.count == 0) {
		pipeline_drop_last(f->pipelines);
		return 0;
	}
	if (!pipeline_note(f->model, pipeline, f->of_main ? MAIN_NOTE : NOTE))
		return -ENOMEM;
	pipeline_sort(pipeline);
	return err;
}

static bool has_pipeline(const struct feeders *f, uint32_t process)
{
	for (uint32_t i = 0; i < f->pipelines->list.count; i++)
		if (f->pipelines->list.row[i].process == process)
			return true;
	return false;
}

static int build_all(struct feeders *f)
{
	const struct model *model = f->model;
	int err = 0;

	for (uint32_t p = 0; p < model->processes.count; p++)
		if (model->processes.row[p].target &&
		    !map_put(&f->targets, model->processes.row[p].pid, p))
			return -ENOMEM;
	for (uint32_t p = 0; p < model->processes.count && !err; p++) {
		if (!model->processes.row[p].target || has_pipeline(f, p))
			continue;
		f->of_main = !mark_submitters(f, p);
		if (!f->of_main || mark_main(f, p))
			err = build_process(f, p);
	}
	return err;
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct feeders f = { .model = model, .pipelines = pipelines };
	size_t threads = (size_t)model->threads.count + 1;
	int err = -ENOMEM;

	f.launches = launch_counts(model);
	f.op = calloc(threads, sizeof(*f.op));
	f.wakes = calloc(threads, sizeof(*f.wakes));
	f.slept_ns = calloc(threads, sizeof(*f.slept_ns));
	f.entry = thread_entries_find(model);
	f.syscalls = syscall_table_new(model_text(model, model->info.arch));
	if (f.launches && f.op && f.wakes && f.slept_ns && f.entry && f.syscalls)
		err = build_all(&f);
	syscall_table_free(f.syscalls);
	map_free(&f.targets);
	free(f.launches);
	free(f.op);
	free(f.wakes);
	free(f.slept_ns);
	free(f.entry);
	return err;
}

const struct framework FRAMEWORK_FEEDERS = { "unknown", build };
