/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_feeds.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/live/live_loaders.h"
#include "daemon/live/live_marks.h"
#include "daemon/live/live_megengine.h"

#define FUNCTIONS_MAX (1u << 20)
#define TRAINERS_MAX 256

/* A trainer of tf.data gets a batch. */
#define FETCH "_ZN10tensorflow4data16IteratorResource7GetNextE"

enum { OF_INTEREST = 1, FETCHES = 2 };

/* One that calls FETCH. */
struct trainer {
	uint32_t pid;
	uint32_t tid; /* of the last call */
	uint64_t last_start_ns, last_ns; /* of the last call: nested fetches count as one */
	uint64_t ns; /* of this frame */
};

struct live_feeds {
	struct live_pipeline *pipeline;
	struct live_loaders *loaders;
	struct live_marks *marks;
	struct live_megengine *megengine;
	uint8_t *functions; /* by number */
	size_t function_count;
	struct trainer trainers[TRAINERS_MAX];
	size_t trainer_count;
	uint32_t *gone; /* processes that have ended since the last frame */
	size_t gone_count;
	uint64_t left_out; /* events without room here */
};

struct live_feeds *live_feeds_new(void)
{
	struct live_feeds *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pipeline = live_pipeline_new();
	f->loaders = live_loaders_new();
	f->marks = live_marks_new();
	f->megengine = live_megengine_new();
	if (f->pipeline && f->loaders && f->marks && f->megengine)
		return f;
	live_feeds_free(f);
	return NULL;
}

void live_feeds_free(struct live_feeds *f)
{
	if (!f)
		return;
	live_pipeline_free(f->pipeline);
	live_loaders_free(f->loaders);
	live_marks_free(f->marks);
	live_megengine_free(f->megengine);
	free(f->functions);
	free(f->gone);
	free(f);
}

static bool make_room(struct live_feeds *f, uint32_t id)
{
	uint8_t *grown;

	if (id < f->function_count)
		return true;
	grown = id < FUNCTIONS_MAX ? realloc(f->functions, id + 1) : NULL;
	if (!grown)
		return false;
	memset(grown + f->function_count, 0, id + 1 - f->function_count);
	f->functions = grown;
	f->function_count = id + 1;
	return true;
}

void live_feeds_function(struct live_feeds *f, const Profbpf__Function *function)
{
	bool fetches = !strncmp(function->name, FETCH, strlen(FETCH));
	bool wanted = live_pipeline_function(f->pipeline, function);

	wanted |= live_loaders_function(f->loaders, function);
	wanted |= live_marks_function(f->marks, function);
	wanted |= live_megengine_function(f->megengine, function);
	if (!make_room(f, function->id)) {
		f->left_out += wanted || fetches;
		return;
	}
	f->functions[function->id] = (uint8_t)((wanted || fetches ? OF_INTEREST : 0) | (fetches ? FETCHES : 0));
}

bool live_feeds_wants(const struct live_feeds *f, uint32_t function)
{
	return function < f->function_count && f->functions[function];
}

void live_feeds_process(struct live_feeds *f, uint32_t pid, uint32_t parent, const char *name)
{
	for (size_t i = 0; i < f->gone_count; i++)
		if (f->gone[i] == pid)
			f->gone[i--] = f->gone[--f->gone_count];
	live_loaders_process(f->loaders, pid, parent, name);
}

void live_feeds_gone(struct live_feeds *f, uint32_t pid)
{
	uint32_t *rows = reallocarray(f->gone, f->gone_count + 1, sizeof(*rows));

	if (!rows)
		return;
	f->gone = rows;
	rows[f->gone_count++] = pid;
}

static void forget(struct live_feeds *f, uint32_t pid)
{
	live_loaders_gone(f->loaders, pid);
	live_pipeline_gone(f->pipeline, pid);
	live_marks_gone(f->marks, pid);
	live_megengine_gone(f->megengine, pid);
	for (size_t i = 0; i < f->trainer_count; i++)
		if (f->trainers[i].pid == pid)
			f->trainers[i--] = f->trainers[--f->trainer_count];
}

void live_feeds_roles(struct live_feeds *f, const uint8_t *body, size_t size)
{
	live_pipeline_roles(f->pipeline, body, size);
}

static struct trainer *trainer_of(struct live_feeds *f, uint32_t pid)
{
	for (size_t i = 0; i < f->trainer_count; i++)
		if (f->trainers[i].pid == pid)
			return &f->trainers[i];
	if (f->trainer_count == TRAINERS_MAX) {
		f->left_out++;
		return NULL;
	}
	f->trainers[f->trainer_count] = (struct trainer){ .pid = pid };
	return &f->trainers[f->trainer_count++];
}

static void take_fetch(struct live_feeds *f, const struct live_called *call)
{
	struct trainer *t = call->end_unknown ? NULL : trainer_of(f, call->pid);
	uint64_t start_ns = call->end_ns - call->dur_ns;

	if (!t)
		return;
	/* The inner call was passed first. */
	if (t->tid == call->tid && t->last_start_ns >= start_ns && t->last_ns <= call->end_ns)
		t->ns -= t->ns < t->last_ns - t->last_start_ns ? t->ns : t->last_ns - t->last_start_ns;
	t->ns += call->dur_ns;
	t->tid = call->tid;
	t->last_start_ns = start_ns;
	t->last_ns = call->end_ns;
}

void live_feeds_call(struct live_feeds *f, const struct live_called *call, const char *text)
{
	if (!live_feeds_wants(f, call->function))
		return;
	live_loaders_call(f->loaders, call, text);
	live_marks_call(f->marks, call, text);
	live_pipeline_call(f->pipeline, call);
	live_megengine_call(f->megengine, call);
	if (f->functions[call->function] & FETCHES)
		take_fetch(f, call);
}

void live_feeds_slept(struct live_feeds *f, uint32_t tid, uint64_t ts_ns, int syscall)
{
	if (live_megengine_watches(f->megengine, tid))
		live_megengine_sleep(f->megengine, tid, ts_ns, syscall);
}

void live_feeds_ran(struct live_feeds *f, uint32_t pid, uint32_t tid, uint64_t run_ns, uint64_t runnable_ns)
{
	live_pipeline_ran(f->pipeline, tid, run_ns, runnable_ns);
	live_loaders_ran(f->loaders, pid, tid, run_ns, runnable_ns);
}

static void add_wait(struct live_wait *waits, size_t *count, uint32_t pid, uint64_t ns)
{
	size_t at = 0;

	while (at < *count && waits[at].pid != pid)
		at++;
	if (at == *count)
		waits[(*count)++] = (struct live_wait){ .pid = pid };
	waits[at].ns += ns;
}

static struct live_wait *sum_waits(struct live_feeds *f, const struct live_operator *rows, size_t count, size_t *wait_count)
{
	size_t threads = live_marks_threads(f->marks), getters = live_megengine_threads(f->megengine);
	struct live_wait *waits = calloc(count + threads + getters + f->trainer_count + 1, sizeof(*waits)), of;

	*wait_count = 0;
	/* PyTorch's loaders without worker processes have no operators, but marks. */
	for (size_t i = 0; waits && i < count; i++)
		if (rows[i].to_trainer && strcmp(rows[i].name, LIVE_TORCH))
			add_wait(waits, wait_count, rows[i].pid, rows[i].pop_wait_ns);
	for (size_t i = 0; waits && i < threads; i++)
		if (live_marks_wait(f->marks, i, &of.pid, &of.ns))
			add_wait(waits, wait_count, of.pid, of.ns);
	for (size_t i = 0; waits && i < getters; i++)
		if (live_megengine_wait(f->megengine, i, &of.pid, &of.ns))
			add_wait(waits, wait_count, of.pid, of.ns);
	for (size_t i = 0; i < f->trainer_count; i++) {
		if (waits)
			add_wait(waits, wait_count, f->trainers[i].pid, f->trainers[i].ns);
		f->trainers[i].ns = 0;
	}
	return waits;
}

uint64_t live_feeds_left_out(const struct live_feeds *f)
{
	return f->left_out + live_pipeline_left_out(f->pipeline) + live_loaders_left_out(f->loaders) +
	       live_marks_left_out(f->marks) + live_megengine_left_out(f->megengine);
}

size_t live_feeds_frame(struct live_feeds *f, uint64_t from_ns, uint64_t to_ns, struct live_operator **rows,
			struct live_wait **waits, size_t *wait_count)
{
	size_t count = live_pipeline_frame(f->pipeline, from_ns, to_ns, rows);

	count = live_loaders_frame(f->loaders, from_ns, to_ns, rows, count);
	live_marks_frame(f->marks, from_ns, to_ns, *rows, count);
	live_megengine_frame(f->megengine, to_ns);
	*waits = sum_waits(f, *rows, count, wait_count);
	/* Their last calls come after their ends. */
	while (f->gone_count)
		forget(f, f->gone[--f->gone_count]);
	return count;
}
