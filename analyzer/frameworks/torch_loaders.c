/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the DataLoader of a fetch.
 *
 * A mark contains only the class of its loader. So loaders are distinguished
 *
 *   with workers: by these. An iterator starts all of its workers before its first fetch:
 *     workers that start with no fetch in between are one group, unless their batches come through different
 *     pipes or they do not take turns (torch_workers.c), as with several iterators that are made first and used
 *     then. A fetch belongs to the group whose processes, or pin-memory thread, wake the fetching thread in it or
 *     are woken by it; if none do, and there is no such thread, to the only group whose writer of orders (a thread
 *     of the trainer) does; else to the live group of the previous fetch. Successive groups with equally many
 *     workers and the same use are the epochs of one loader, as far as this can be determined;
 *   all: by their use. A batch of some is followed by a backward pass or a step of an optimizer, a batch of
 *     others, which evaluate, is not.
 *
 * Two loaders without workers that have the same use cannot be distinguished.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/frameworks/python_loader.h"
#include "analyzer/frameworks/torch.h"
#include "lib/base/bisect.h"

#define ANCESTORS_MAX 8
#define TRAINS_SHARE 4 /* least share of the fetches of a training loader that training follows: one in this many */

#define SEVERAL (INDEX_NONE - 1) /* several groups: the trainer's threads also wake each other for Python's lock */

#define EVALUATES "no backward pass follows its batches: it does not train"

/* Workers of one iterator. */
struct group {
	uint32_t process; /* the process that fetches */
	uint32_t workers;
	uint64_t from_ns;
	uint64_t to_ns; /* end of the last of them; UINT64_MAX = it did not end */
	uint64_t last_worker_ns; /* start of the last worker */
	uint32_t first_fetch, last_fetch; /* INDEX_NONE = none */
	uint32_t fetches, training;
	uint32_t loader;
	uint64_t pipe; /* pipe for its batches; 0 = unknown */
	uint32_t last_worker; /* process of the last worker */
};

/* A fetch from a loader with workers. */
struct ask {
	uint32_t process;
	uint64_t ts_ns;
};

struct finder {
	struct torch *torch;
	MODEL_ARRAY(struct ask) asks; /* sorted */
	MODEL_ARRAY(struct group) groups;
	uint64_t *pipes; /* by worker process; 0 = unknown */
	uint32_t *of_process; /* group by worker process, INDEX_NONE = none */
	uint32_t *of_thread; /* group of each other thread of the trainer */
	uint32_t *first; /* first fetch by thread; INDEX_NONE = it does not fetch */
	bool *fetches; /* by process: it fetches */
	bool pins; /* there is a pin-memory thread */
};

static uint32_t fetching_ancestor(const struct finder *f, uint32_t process)
{
	const struct model *model = f->torch->model;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		process = loader_parent(model, process);
		if (process == INDEX_NONE || f->fetches[process])
			return process;
	}
	return INDEX_NONE;
}

static int by_process(const void *a, const void *b)
{
	const struct ask *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static int sort_asks(struct finder *f)
{
	const struct torch *torch = f->torch;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];
		struct ask ask = { torch->model->threads.row[of->fetch.thread].process,
				   of->fetch.start_ns };

		if (!of->single && !MODEL_PUSH(&f->asks, ask))
			return -ENOMEM;
	}
	if (f->asks.count)
		qsort(f->asks.row, f->asks.count, sizeof(*f->asks.row), by_process);
	return 0;
}

/* Did the process fetch from a loader with workers between two instants? */
static bool asked_between(const struct finder *f, uint32_t process, uint64_t from_ns, uint64_t to_ns)
{
	const struct ask *row = f->asks.row;
	uint32_t next = BISECT(i, 0, f->asks.count,
			       row[i].process < process ||
				       (row[i].process == process && row[i].ts_ns <= from_ns));

	return next < f->asks.count && row[next].process == process && row[next].ts_ns < to_ns;
}

/* Does the worker @process belong to @group? The trainer has not fetched since the group began. */
static bool fits(const struct finder *f, const struct group *group, uint32_t process)
{
	uint64_t pipe = f->pipes[process];

	if (pipe && group->pipe)
		return pipe == group->pipe;
	return torch_take_turns(f->torch, group->last_worker, process);
}

/* Returns the last group of a trainer that a worker may belong to, or NULL. */
static struct group *group_for(struct finder *f, uint32_t trainer, uint32_t worker)
{
	uint64_t start_ns = f->torch->model->processes.row[worker].start_ns;

	for (uint32_t g = f->groups.count; g-- > 0;) {
		struct group *group = &f->groups.row[g];

		if (group->process != trainer)
			continue;
		if (asked_between(f, trainer, group->last_worker_ns, start_ns))
			return NULL;
		if (fits(f, group, worker))
			return group;
	}
	return NULL;
}

/* Processes are sorted by their first appearance. */
static int find_groups(struct finder *f)
{
	const struct model *model = f->torch->model;

	for (uint32_t p = 0; p < model->processes.count; p++) {
		const struct process *process = &model->processes.row[p];
		uint32_t trainer = torch_worker_process(model, p) ? fetching_ancestor(f, p)
								  : INDEX_NONE;
		uint64_t exit_ns = process->exit_ns ? process->exit_ns : UINT64_MAX;
		struct group new = { .process = trainer,
				     .from_ns = process->start_ns,
				     .first_fetch = INDEX_NONE,
				     .last_fetch = INDEX_NONE,
				     .loader = INDEX_NONE };
		struct group *group;

		if (trainer == INDEX_NONE)
			continue;
		group = group_for(f, trainer, p);
		if (!group) {
			if (!MODEL_PUSH(&f->groups, new))
				return -ENOMEM;
			group = &f->groups.row[f->groups.count - 1];
		}
		if (!group->pipe)
			group->pipe = f->pipes[p];
		group->workers++;
		group->last_worker_ns = process->start_ns;
		group->last_worker = p;
		group->to_ns = exit_ns > group->to_ns ? exit_ns : group->to_ns;
		f->of_process[p] = (uint32_t)(group - f->groups.row);
	}
	return 0;
}

/* Is it a thread of a training process that does not fetch itself? */
static bool is_helper(const struct finder *f, uint32_t thread)
{
	return f->first[thread] == INDEX_NONE &&
	       f->fetches[f->torch->model->threads.row[thread].process];
}

/*
 * Threads of the trainer belong to the group with which they first exchange a wake-up: the pin-memory thread, and the
 * threads that write orders to its workers.
 */
static void find_helpers(struct finder *f)
{
	const struct model *model = f->torch->model;

	for (uint32_t i = 0; i < model->wakes.count; i++) {
		uint32_t a = model->wakes.row[i].waker_thread, b = model->wakes.row[i].thread;
		uint32_t group;

		if (a >= model->threads.count || b >= model->threads.count ||
		    !model_has_time(model, model->wakes.row[i].ts_ns, model->wakes.row[i].ts_ns))
			continue;
		if (!is_helper(f, a)) {
			a = b;
			b = model->wakes.row[i].waker_thread;
		}
		group = f->of_process[model->threads.row[b].process];
		if (is_helper(f, a) && torch_pin_thread(model, a))
			f->pins = true;
		if (is_helper(f, a) && f->of_thread[a] == INDEX_NONE && group != INDEX_NONE)
			f->of_thread[a] = group;
	}
}

/* Returns the fetch of a thread that is in progress at an instant, or NULL. */
static struct torch_fetch *fetch_at(const struct finder *f, uint32_t thread, uint64_t ts_ns)
{
	struct torch_fetch *row = f->torch->fetches.row;
	uint32_t first = f->first[thread], next;

	if (first == INDEX_NONE)
		return NULL;
	next = BISECT(i, first, f->torch->fetches.count,
		      row[i].fetch.thread == thread && row[i].fetch.start_ns <= ts_ns);
	return next > first && (row[next - 1].end_known ? row[next - 1].fetch.end_ns
							: row[next - 1].next_ns) >= ts_ns
		       ? &row[next - 1]
		       : NULL;
}

/* A group that exchanges wake-ups with a fetching thread made its batch. */
static void find_talks(struct finder *f)
{
	const struct model *model = f->torch->model;

	for (uint32_t i = 0; i < model->wakes.count; i++) {
		const struct wake *wake = &model->wakes.row[i];
		uint32_t ours = wake->waker_thread, other = wake->thread, group;
		struct torch_fetch *fetch;

		if (ours >= model->threads.count || other >= model->threads.count ||
		    !model_has_time(model, wake->ts_ns, wake->ts_ns))
			continue;
		if (f->first[ours] == INDEX_NONE) {
			ours = wake->thread;
			other = wake->waker_thread;
		}
		group = f->of_thread[other] != INDEX_NONE
				? f->of_thread[other]
				: f->of_process[model->threads.row[other].process];
		fetch = group != INDEX_NONE ? fetch_at(f, ours, wake->ts_ns) : NULL;
		if (!fetch || fetch->single)
			continue;
		if (f->of_thread[other] == INDEX_NONE || torch_pin_thread(model, other))
			fetch->group = group;
		else if (fetch->ordered_group == INDEX_NONE)
			fetch->ordered_group = group;
		else if (fetch->ordered_group != group)
			fetch->ordered_group = SEVERAL;
	}
}

/* Returns the group of a fetch without such wake-ups. */
static uint32_t likely_group(const struct finder *f, const struct torch_fetch *of, uint32_t before)
{
	uint32_t process = f->torch->model->threads.row[of->fetch.thread].process;

	if (before != INDEX_NONE && f->groups.row[before].to_ns < of->fetch.start_ns)
		before = INDEX_NONE; /* it has ended */
	for (uint32_t g = f->groups.count; g-- > 0;) {
		const struct group *group = &f->groups.row[g];
		bool lives = group->process == process && group->from_ns <= of->fetch.start_ns &&
			     group->to_ns >= of->fetch.start_ns;

		if (lives && group->first_fetch == INDEX_NONE)
			return g; /* the first fetch of a new iterator */
		if (lives && before == INDEX_NONE)
			before = g;
	}
	return before;
}

static void assign_groups(struct finder *f)
{
	struct torch *torch = f->torch;
	uint32_t before = INDEX_NONE;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		struct torch_fetch *of = &torch->fetches.row[i];
		struct group *group;

		if (i == 0 || of[-1].fetch.thread != of->fetch.thread)
			before = INDEX_NONE;
		if (of->single)
			continue;
		if (of->group == INDEX_NONE && of->ordered_group < SEVERAL && !f->pins)
			of->group = of->ordered_group;
		if (of->group == INDEX_NONE)
			of->group = likely_group(f, of, before);
		before = of->group != INDEX_NONE ? of->group : before;
		if (of->group == INDEX_NONE)
			continue;
		group = &f->groups.row[of->group];
		group->first_fetch = group->first_fetch == INDEX_NONE ? i : group->first_fetch;
		group->last_fetch = i;
		group->fetches++;
		group->training += of->trains;
	}
}

static bool used_to_train(const struct finder *f, const struct group *group)
{
	return !f->torch->trains || group->training * TRAINS_SHARE >= group->fetches;
}

static uint32_t add_loader(struct torch *torch, uint32_t process, bool single, bool trains)
{
	struct torch_loader loader = { .process = process,
				       .pipeline = torch->pipelines->list.count,
				       .pin = INDEX_NONE,
				       .queue = INDEX_NONE,
				       .pinned = INDEX_NONE,
				       .single = single,
				       .trains = trains };
	struct pipeline *pipeline = pipeline_add(torch->pipelines, "torch", process);
	struct pipeline_operator *op;

	if (!pipeline)
		return INDEX_NONE;
	loader.workers = pipeline_operator_add(torch->model, pipeline, 0,
					       single ? "DataLoader" : "DataLoader worker",
					       single ? "DataLoader" : "worker");
	pipeline->evaluates = !trains;
	if (loader.workers == INDEX_NONE ||
	    (!trains && !pipeline_note(torch->model, pipeline, EVALUATES)) ||
	    !MODEL_PUSH(&torch->loaders, loader))
		return INDEX_NONE;
	op = &pipeline->operators.row[loader.workers];
	op->source = true;
	op->python = true;
	op->counts_outputs = true;
	op->in_trainer = single;
	return torch->loaders.count - 1;
}

/* Returns a loader whose earlier groups this one may follow, or a new loader. */
static uint32_t loader_of_group(struct finder *f, const struct group *group)
{
	struct torch *torch = f->torch;
	bool trains = used_to_train(f, group);
	uint32_t i;

	for (i = 0; i < torch->loaders.count; i++) {
		const struct torch_loader *loader = &torch->loaders.row[i];

		if (loader->process == group->process && loader->each_workers == group->workers &&
		    loader->trains == trains && loader->last_fetch < group->first_fetch)
			break;
	}
	if (i == torch->loaders.count) {
		i = add_loader(torch, group->process, false, trains);
		if (i == INDEX_NONE)
			return i;
		torch->loaders.row[i].before =
			group->from_ns < torch->model->info.session_start_ns;
	}
	torch->loaders.row[i].each_workers = group->workers;
	torch->loaders.row[i].last_fetch = group->last_fetch;
	return i;
}

/* Loaders without workers, or with unknown workers: one for each use in a process. */
static uint32_t loader_by_use(struct torch *torch, uint32_t process, bool single, bool trains)
{
	for (uint32_t i = 0; i < torch->loaders.count; i++) {
		const struct torch_loader *loader = &torch->loaders.row[i];

		if (loader->process == process && loader->single == single &&
		    (!single || loader->trains == trains))
			return i;
	}
	return add_loader(torch, process, single, trains);
}

/* Returns the duration of a fetch, up to the next mark if its end was not recorded. */
static double took(const struct torch_fetch *of)
{
	uint64_t end_ns = of->end_known || of->next_ns == UINT64_MAX ? of->fetch.end_ns
								     : of->next_ns;

	return (double)(end_ns - of->fetch.start_ns) + 1;
}

/*
 * @count successive fetches without training follow one with training. Is the first of them the end of the training
 * data, and are the rest another loader's? Then its duration is closer to that of the last of them, which is an end,
 * too, than to that of their batches.
 */
static bool begins_with_end(const struct torch_fetch *of, uint32_t count)
{
	double batches = 0;

	if (count < 3)
		return count == 1;
	for (uint32_t i = 1; i + 1 < count; i++)
		batches += took(&of[i]) / (count - 2);
	return 2 * took(of) < batches && took(of) < sqrt(took(&of[count - 1]) * batches);
}

/* Does the training data also end after the last evaluation inside an epoch? Then there are two ends in succession. */
static bool ends_with_end(const struct torch_fetch *of, uint32_t count)
{
	double batches = 0;

	if (count < 3)
		return false;
	for (uint32_t i = 0; i + 2 < count; i++)
		batches += took(&of[i]) / (count - 2);
	return 2 * took(&of[count - 1]) < batches &&
	       took(&of[count - 2]) < sqrt(took(&of[count - 1]) * batches);
}

/* Assigns fetches without workers by their use: training, the ends of that, and the rest. Fills loader. */
static int assign_singles(struct finder *f)
{
	struct torch *torch = f->torch;
	uint32_t next;

	for (uint32_t i = 0; i < torch->fetches.count; i = next) {
		struct torch_fetch *of = &torch->fetches.row[i];
		uint32_t process = torch->model->threads.row[of->fetch.thread].process;
		bool after = i && of[-1].single && of[-1].trains &&
			     of[-1].fetch.thread == of->fetch.thread;
		bool first, last;

		next = i + 1;
		if (!of->single)
			continue;
		while (next < torch->fetches.count && torch->fetches.row[next].single &&
		       torch->fetches.row[next].fetch.thread == of->fetch.thread &&
		       !of->trains && !torch->fetches.row[next].trains)
			next++;
		first = after && begins_with_end(of, next - i);
		last = after && !first && ends_with_end(of, next - i);
		for (uint32_t k = i; k < next; k++) {
			bool trains = of->trains || !torch->trains || (k == i && first) ||
				      (k == next - 1 && last);

			torch->fetches.row[k].loader = loader_by_use(torch, process, true, trains);
			if (torch->fetches.row[k].loader == INDEX_NONE)
				return -ENOMEM;
		}
	}
	return 0;
}

static int assign_loaders(struct finder *f)
{
	struct torch *torch = f->torch;
	const struct model *model = torch->model;
	int err = 0;

	for (uint32_t g = 0; g < f->groups.count && !err; g++) {
		struct group *group = &f->groups.row[g];

		if (!group->fetches)
			continue;
		group->loader = loader_of_group(f, group);
		err = group->loader == INDEX_NONE ? -ENOMEM : 0;
	}
	if (!err)
		err = assign_singles(f);
	for (uint32_t i = 0; i < torch->fetches.count && !err; i++) {
		struct torch_fetch *of = &torch->fetches.row[i];

		if (of->single)
			continue;
		of->loader = of->group != INDEX_NONE
				     ? f->groups.row[of->group].loader
				     : loader_by_use(torch,
						     model->threads.row[of->fetch.thread].process,
						     false, true);
		err = of->loader == INDEX_NONE ? -ENOMEM : 0;
	}
	for (uint32_t p = 0; p < model->processes.count; p++)
		if (f->of_process[p] != INDEX_NONE)
			torch->process_loader[p] = f->groups.row[f->of_process[p]].loader;
	for (uint32_t t = 0; t < model->threads.count; t++)
		if (f->of_thread[t] != INDEX_NONE && torch_pin_thread(model, t))
			torch->thread_loader[t] = f->groups.row[f->of_thread[t]].loader;
	return err;
}

static void mark_fetching(struct finder *f)
{
	const struct torch *torch = f->torch;

	for (uint32_t i = torch->fetches.count; i-- > 0;) {
		uint32_t thread = torch->fetches.row[i].fetch.thread;

		f->first[thread] = i;
		f->fetches[torch->model->threads.row[thread].process] = true;
	}
}

int torch_loaders_find(struct torch *torch)
{
	const struct model *model = torch->model;
	struct finder f = { .torch = torch,
			    .pipes = torch_result_pipes(torch),
			    .of_process = indices_none(model->processes.count),
			    .of_thread = indices_none(model->threads.count),
			    .first = indices_none(model->threads.count),
			    .fetches = calloc((size_t)model->processes.count + 1, sizeof(bool)) };
	int err = f.pipes && f.of_process && f.of_thread && f.first && f.fetches ? 0 : -ENOMEM;

	if (!err) {
		mark_fetching(&f);
		err = sort_asks(&f);
	}
	if (!err)
		err = find_groups(&f);
	if (!err) {
		find_helpers(&f);
		find_talks(&f);
		assign_groups(&f);
		err = assign_loaders(&f);
	}
	free(f.groups.row);
	free(f.asks.row);
	free(f.pipes);
	torch->process_group = f.of_process;
	free(f.of_thread);
	free(f.first);
	free(f.fetches);
	return err;
}
