/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what it costs a trainer that its DataLoader has other worker processes in each epoch.
 *
 * Without persistent_workers the fetch that returns the end of the data ends the workers and waits for that, and the
 * next iterator makes new ones, one after the other, before its first fetch. That fetch waits until a worker has started
 * up: it calls itself pt_data_worker then (torch/utils/data/_utils/worker.py), and is slow for some time, because memory
 * that it shares with the trainer is copied at the first write. The batch that the worker makes after that is work,
 * which workers that remain have, too; what a batch usually takes is told by the later fetches of the epoch.
 *
 * Batches may be uneven: the first one of an epoch may have taken much more or less than the usual one. Over many epochs
 * both happen, so the median of what the first fetches took more than usual is the cost of a start; of two it is the
 * smaller one. A single start is compared with a batch that only a quarter of the others exceed.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/frameworks/torch.h"

#define USUAL_MIN 3 /* batches that tell how long one usually takes */
#define USUAL_MAX 256 /* fetches that are looked at for that */
#define QUARTER_MIN 8 /* ... and that tell which part of them takes longer */
#define LOOK_MAX 1024 /* ... others of the thread included */

/* The workers of one iterator. */
struct crew {
	uint32_t workers;
	uint64_t first_ns; /* start of the first of them; UINT64_MAX = unknown */
	uint64_t last_ns; /* start of the last of them */
	uint64_t ready_ns; /* when the first one that had started up had done so; UINT64_MAX = unknown */
	bool fetched; /* one of its fetches was visited */
};

/* A first fetch of other workers than before. */
struct start {
	uint32_t fetch; /* row of the fetches */
	uint32_t loader;
	uint32_t workers;
	uint32_t restart; /* row of its pipeline's restarts */
	int64_t excess_ns; /* how much longer it took than a usual batch; INT64_MIN = unknown */
};

struct starts {
	MODEL_ARRAY(struct start) list;
};

static uint32_t count_crews(const struct torch *torch)
{
	uint32_t count = 0;

	for (uint32_t p = 0; p < torch->model->processes.count; p++)
		if (torch->process_group[p] != INDEX_NONE && torch->process_group[p] >= count)
			count = torch->process_group[p] + 1;
	return count;
}

static void fill_crews(const struct torch *torch, struct crew *crews, uint32_t count)
{
	const struct model *model = torch->model;

	for (uint32_t g = 0; g < count; g++)
		crews[g].first_ns = crews[g].ready_ns = UINT64_MAX;
	for (uint32_t t = 0; t < model->threads.count; t++) {
		const struct thread *thread = &model->threads.row[t];
		const struct process *process = &model->processes.row[thread->process];
		uint32_t group = torch->process_group[thread->process];
		struct crew *crew;

		if (group == INDEX_NONE || thread->tid != process->pid)
			continue;
		crew = &crews[group];
		crew->workers++;
		if (process->start_ns < crew->first_ns)
			crew->first_ns = process->start_ns;
		if (process->start_ns > crew->last_ns)
			crew->last_ns = process->start_ns;
		if (thread->named_ns && thread->named_ns < crew->ready_ns)
			crew->ready_ns = thread->named_ns;
	}
}

/* Returns the last fetch of the same loader and thread before this one, or NULL. */
static const struct torch_fetch *fetch_before(const struct torch *torch, uint32_t i)
{
	const struct torch_fetch *row = torch->fetches.row;

	for (uint32_t k = i; k-- > 0 && row[k].fetch.thread == row[i].fetch.thread;)
		if (row[k].loader == row[i].loader)
			return &row[k];
	return NULL;
}

/*
 * Returns the trainer's time for new workers before their first fetch. It makes one after the other: that takes about as
 * long for the first one, before it starts, and for the last one, after it started, as between two of them. Of a single
 * worker the time before its start is unknown, as the program may have done anything then.
 */
static uint64_t making_ns(const struct crew *crew, uint64_t after_ns, uint64_t fetch_ns)
{
	uint64_t each_ns = crew->workers > 1 ? (crew->last_ns - crew->first_ns) / (crew->workers - 1) : 0;
	uint64_t from_ns = crew->first_ns - each_ns, to_ns = crew->last_ns + each_ns;

	if (crew->workers == 1 || to_ns > fetch_ns)
		to_ns = fetch_ns;
	if (from_ns < after_ns)
		from_ns = after_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Returns how long at most a worker takes for a batch in @quarters of four cases. Workers take turns: from one batch of a
 * worker to its next one the trainer fetches one of each, whether they deliver evenly or all at once. @i: their first
 * fetch; UINT64_MAX = unknown.
 */
static uint64_t usual_ns(const struct torch *torch, uint32_t i, uint32_t workers, size_t quarters)
{
	const struct torch_fetch *row = torch->fetches.row;
	uint64_t ns[USUAL_MAX];
	size_t count = 0;

	for (uint32_t k = i; k < torch->fetches.count && k - i < LOOK_MAX && count < USUAL_MAX; k++) {
		if (row[k].fetch.thread != row[i].fetch.thread)
			break;
		if (row[k].group == row[i].group && !row[k].fetch.end_of_data && !row[k].fetch.open)
			ns[count++] = row[k].fetch.end_ns;
	}
	if (count < (size_t)workers + USUAL_MIN)
		return UINT64_MAX;
	count -= workers;
	for (size_t k = 0; k < count; k++)
		ns[k] = ns[k + workers] - ns[k];
	qsort(ns, count, sizeof(ns[0]), by_value);
	return ns[count >= QUARTER_MIN ? count * quarters / 4 : count / 2];
}

/* Returns the trainer's time in the first fetch until a worker had started up; 0 = not known. */
static uint64_t start_up_ns(const struct pipeline_fetch *fetch, const struct crew *crew)
{
	uint64_t ready_ns = crew->ready_ns < fetch->end_ns ? crew->ready_ns : fetch->end_ns;

	return crew->ready_ns != UINT64_MAX && ready_ns > fetch->start_ns ? ready_ns - fetch->start_ns : 0;
}

/* Returns how much longer the first fetch took than a usual batch, maybe negative; INT64_MIN = unknown. */
static int64_t excess_ns(const struct torch *torch, const struct start *start, size_t quarters)
{
	const struct pipeline_fetch *fetch = &torch->fetches.row[start->fetch].fetch;
	uint64_t batch_ns = usual_ns(torch, start->fetch, start->workers, quarters);

	return batch_ns == UINT64_MAX ? INT64_MIN : (int64_t)(fetch->end_ns - fetch->start_ns) - (int64_t)batch_ns;
}

static int by_excess(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->loader != y->loader)
		return x->loader < y->loader ? -1 : 1;
	return x->excess_ns < y->excess_ns ? -1 : x->excess_ns > y->excess_ns;
}

/* Sets the waits for the new workers of one loader, whose starts are sorted by their excess. */
static void set_waits(struct torch *torch, const struct start *starts, uint32_t count)
{
	struct pipeline *pipeline = &torch->pipelines->list.row[torch->loaders.row[starts->loader].pipeline];
	uint32_t known = 0;
	int64_t more_ns;

	while (known < count && starts[known].excess_ns == INT64_MIN)
		known++;
	if (known == count)
		return;
	more_ns = starts[known + (count - known - 1) / 2].excess_ns;
	if (count - known == 1)
		more_ns = excess_ns(torch, &starts[known], 3);
	for (uint32_t i = known; i < count && more_ns > 0; i++) {
		struct pipeline_restart *restart = &pipeline->restarts.row[starts[i].restart];
		uint64_t ns = (uint64_t)more_ns < restart->fetch_ns ? (uint64_t)more_ns : restart->fetch_ns;

		if (restart->wait_ns < ns)
			restart->wait_ns = ns;
	}
}

static void set_all_waits(struct torch *torch, struct start *starts, uint32_t count)
{
	if (count)
		qsort(starts, count, sizeof(*starts), by_excess);
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && starts[end].loader == starts[first].loader;)
			end++;
		set_waits(torch, &starts[first], end - first);
	}
}

static int add_restart(struct torch *torch, const struct torch_fetch *before, uint32_t i, const struct crew *crew,
		       struct starts *starts)
{
	const struct torch_fetch *first = &torch->fetches.row[i];
	const struct torch_loader *loader = &torch->loaders.row[first->loader];
	struct pipeline *pipeline = &torch->pipelines->list.row[loader->pipeline];
	const struct pipeline_fetch *fetch = &first->fetch;
	struct pipeline_restart restart = { .start_ns = fetch->start_ns,
					    .fetch_ns = fetch->end_ns - fetch->start_ns,
					    .op = loader->workers };
	struct start start = { i, first->loader, crew->workers, pipeline->restarts.count, 0 };

	if (crew->first_ns == UINT64_MAX || crew->first_ns < before->fetch.end_ns)
		return 0;
	restart.make_ns = making_ns(crew, before->fetch.end_ns, fetch->start_ns);
	if (before->fetch.end_of_data)
		restart.make_ns += before->fetch.end_ns - before->fetch.start_ns;
	restart.wait_ns = start_up_ns(fetch, crew);
	start.excess_ns = excess_ns(torch, &start, 2);
	return MODEL_PUSH(&pipeline->restarts, restart) && MODEL_PUSH(&starts->list, start) ? 0 : -ENOMEM;
}

int torch_restarts_find(struct torch *torch)
{
	uint32_t count = count_crews(torch);
	struct crew *crews = calloc((size_t)count + 1, sizeof(*crews));
	int err = crews ? 0 : -ENOMEM;
	struct starts starts = { 0 };

	if (crews)
		fill_crews(torch, crews, count);
	for (uint32_t i = 0; i < torch->fetches.count && !err; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];
		const struct torch_fetch *before;

		if (of->single || of->group >= count || crews[of->group].fetched)
			continue;
		crews[of->group].fetched = true;
		before = fetch_before(torch, i);
		if (before && before->group != of->group && !of->fetch.open)
			err = add_restart(torch, before, i, &crews[of->group], &starts);
	}
	if (!err)
		set_all_waits(torch, starts.list.row, starts.list.count);
	free(starts.list.row);
	free(crews);
	return err;
}
