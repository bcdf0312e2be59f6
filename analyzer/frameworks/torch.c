/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's DataLoader.
 *
 * The trainer is the process that marks "enumerate(DataLoader)#..."; workers are its descendants (also through a fork
 * server) with the name pt_data_worker (torch 2.1 and later; older ones cannot be identified). A worker passes a batch
 * on as tensors in shared memory, each made once by the worker and opened once by the trainer inside __next__: a
 * __next__ that opened none was the end of the data. Sources: torch/utils/data (dataloader.py, _utils/worker.py) and
 * ATen/MapAllocator.h of torch 2.15.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/python_loader.h"
#include "analyzer/frameworks/torch.h"
#include "lib/base/bisect.h"

#define LOADER "enumerate(DataLoader)#"
#define OPTIMIZER "Optimizer."
#define SINGLE "_SingleProcess"
#define WORKER_NAME "pt_data_worker"
#define PIN_NAME "pt_data_pin"
#define AHEAD_SHARE 8 /* more than one in so many fetches find their batch opened */
#define WAIT_NS 200000 /* a pop or push of at least this duration waited */

static const struct framework_function FUNCTIONS[] = {
	{ "_ZN5torch8autograd8profiler25record_function_enter_newE", TORCH_MARK },
	{ "_ZN5torch8autograd8profilerL24record_function_exit_newE", TORCH_MARK_END },
	{ "_ZN2at12MapAllocatorC1ENS_6WithFdE", TORCH_TENSOR },
	{ "_ZN2at12MapAllocatorC2ENS_6WithFdE", TORCH_TENSOR },
	{ "_ZN5torch8autograd6Engine7executeE", TORCH_BACKWARD },
};

static bool is_loader_mark(const struct torch *torch, const struct call *call)
{
	return torch->what[call->function] == TORCH_MARK &&
	       strncmp(model_text(torch->model, call->text), LOADER, strlen(LOADER)) == 0;
}

static struct pipeline *pipeline_of(const struct torch *torch, const struct torch_loader *loader)
{
	return &torch->pipelines->list.row[loader->pipeline];
}

static int add_thread(struct torch *torch, const struct torch_loader *loader, uint32_t thread,
		      uint32_t op, uint8_t role, bool descendant)
{
	uint32_t group = torch->process_group[torch->model->threads.row[thread].process];
	struct pipeline_thread row = {
		.thread = thread, .op = op, .role = role, .descendant = descendant, .set = group + 1
	};

	return MODEL_PUSH(&pipeline_of(torch, loader)->threads, row) ? 0 : -ENOMEM;
}

bool torch_pin_thread(const struct model *model, uint32_t thread)
{
	return strcmp(model_text(model, model->threads.row[thread].name), PIN_NAME) == 0;
}

/* Adds the thread that copies the workers' batches into page-locked memory. */
static int add_pin_thread(struct torch *torch, struct torch_loader *loader, uint32_t thread)
{
	struct pipeline *pipeline = pipeline_of(torch, loader);

	if (loader->pin == INDEX_NONE) {
		loader->pin =
			pipeline_operator_add(torch->model, pipeline, 1, "pin memory", "pin");
		if (loader->pin == INDEX_NONE ||
		    !pipeline_edge_add(pipeline, loader->workers, loader->pin))
			return -ENOMEM;
		pipeline->operators.row[loader->pin].workers = 1;
		pipeline->operators.row[loader->pin].counts_outputs = true;
		pipeline->operators.row[loader->pin].hands_on = true;
	}
	return add_thread(torch, loader, thread, loader->pin, PIPELINE_MAIN, false);
}

bool torch_worker_process(const struct model *model, uint32_t process)
{
	return strcmp(model_text(model, model->processes.row[process].name), WORKER_NAME) == 0;
}

static int find_threads(struct torch *torch)
{
	const struct model *model = torch->model;
	int err = 0;

	for (uint32_t i = 0; i < model->threads.count && !err; i++) {
		const struct thread *thread = &model->threads.row[i];
		uint32_t worker = torch->process_loader[thread->process];
		uint32_t pin = torch->thread_loader[i];
		bool leader = thread->tid == model->processes.row[thread->process].pid;

		if (pin != INDEX_NONE) {
			err = add_pin_thread(torch, &torch->loaders.row[pin], i);
		} else if (worker != INDEX_NONE) {
			struct torch_loader *loader = &torch->loaders.row[worker];

			loader->worker_processes += leader;
			err = add_thread(torch, loader, i, loader->workers, PIPELINE_WORKER_PROCESS,
					 !leader);
		}
	}
	return err;
}

/* Is it a sleep in which __next__ waits: on the workers' pipe, or for the pin-memory thread? */
static bool is_wait(const struct torch *torch, const struct torch_loader *loader,
		    const struct span *span)
{
	if (loader->pin == INDEX_NONE)
		return loader_waits(span);
	return span->state == STATE_SLEEP && span->other < torch->model->threads.count &&
	       !(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_NO_WAKE)) &&
	       torch_pin_thread(torch->model, span->other);
}

/*
 * Returns when __next__ returned, in a library without symbols for its end: with worker processes at the end of its
 * last wait for them, or of the opening of the last tensor, before the thread's next mark.
 */
static uint64_t fetch_end(const struct torch *torch, const struct torch_loader *loader,
			  const struct torch_fetch *of)
{
	const struct model *model = torch->model;
	const struct timeline *line = of->fetch.thread < model->timelines.count
					      ? &model->timelines.row[of->fetch.thread]
					      : NULL;
	uint64_t mark_ns = of->fetch.end_ns,
		 end_ns = of->opened_ns > mark_ns ? of->opened_ns : mark_ns;
	uint32_t at = BISECT(i, 0, line ? line->count : 0,
			     model->spans.row[line->first + i].end_ns <= of->fetch.start_ns);

	for (; line && at < line->count; at++) {
		const struct span *span = &model->spans.row[line->first + at];

		if (span->start_ns >= of->next_ns)
			break;
		if (is_wait(torch, loader, span) && span->end_ns <= of->next_ns &&
		    span->end_ns > end_ns)
			end_ns = span->end_ns;
	}
	return end_ns;
}

/* A mark of the loader, and its thread's actions up to its next mark. */
struct window {
	const struct call *mark;
	uint64_t end_ns; /* end of the mark; 0 = not recorded */
	uint32_t inner; /* marks inside it that have not ended */
	uint64_t opened_ns; /* end of the opening of the last tensor */
	bool opening; /* opening the last tensor has no known end */
	bool trains; /* a backward pass came after it */
	uint32_t opened;
};

/* If its end was not recorded, it is determined when its loader is known. */
static int end_window(struct torch *torch, const struct window *window, const struct call *next)
{
	const struct call *mark = window->mark;
	struct torch_fetch fetch = {
		.fetch = { .start_ns = mark->start_ns,
			   .end_ns = window->end_ns ? window->end_ns : mark->end_ns,
			   .thread = mark->thread,
			   .open = mark->flags & MODEL_CALL_NOT_RETURNED },
		.next_ns = next ? next->start_ns : UINT64_MAX,
		.opened_ns = window->opened_ns,
		.opened = window->opened,
		.opening = window->opening,
		.loader = INDEX_NONE,
		.group = INDEX_NONE,
		.ordered_group = INDEX_NONE,
		.single = strstr(model_text(torch->model, mark->text), SINGLE) != NULL,
		.end_known = window->end_ns != 0,
		.trains = window->trains,
		.backward = window->trains,
	};

	torch->trains |= window->trains;
	return MODEL_PUSH(&torch->fetches, fetch) ? 0 : -ENOMEM;
}

/* Sets the unknown ends of fetches, and adds the fetches to their pipelines. */
static int settle_fetches(struct torch *torch)
{
	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		struct torch_fetch *of = &torch->fetches.row[i];
		const struct torch_loader *loader = &torch->loaders.row[of->loader];

		if (of->end_known) {
			of->fetch.open = false;
		} else if (loader->single) {
			of->fetch.open &= of->next_ns == UINT64_MAX;
			of->fetch.end_ns = of->next_ns == UINT64_MAX ? of->fetch.end_ns : of->next_ns;
		} else {
			of->fetch.open = of->opening;
			of->fetch.end_ns = fetch_end(torch, loader, of);
		}
	}
	torch_ends_find(torch);
	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];

		if (!MODEL_PUSH(&pipeline_of(torch, &torch->loaders.row[of->loader])->fetches,
				of->fetch))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The pin-memory thread opens tensors a few batches ahead: a recording that attaches misses those of the first
 * batches.
 */
static void count_pinned(struct torch_loader *loader, const struct pipeline *pipeline)
{
	uint32_t batches = 0;

	for (uint32_t i = 0; i < pipeline->fetches.count; i++)
		batches += !pipeline->fetches.row[i].end_of_data;
	if (batches)
		loader->batch_tensors = (loader->pin_tensors + batches / 2) / batches;
}

static int add_outputs(struct torch *torch, struct torch_loader *loader)
{
	struct pipeline *pipeline = pipeline_of(torch, loader);

	if (loader->pin != INDEX_NONE)
		count_pinned(loader, pipeline);
	for (uint32_t i = 0; i < pipeline->fetches.count; i++) {
		struct pipeline_output output = { .ts_ns = pipeline->fetches.row[i].end_ns,
						  .op = loader->workers,
						  .count = 1 };

		if (pipeline->fetches.row[i].end_of_data)
			continue;
		if (!MODEL_PUSH(&pipeline->outputs, output))
			return -ENOMEM;
		output.op = loader->pin;
		if (loader->pin != INDEX_NONE && !MODEL_PUSH(&pipeline->outputs, output))
			return -ENOMEM;
	}
	return 0;
}

/* Counts the tensors that pin-memory threads open. */
static void count_pin_tensors(struct torch *torch)
{
	for (uint32_t i = 0; i < torch->model->calls.count; i++) {
		const struct call *call = &torch->model->calls.row[i];
		uint32_t loader = torch->thread_loader[call->thread];

		if (torch->what[call->function] == TORCH_TENSOR && loader != INDEX_NONE)
			torch->loaders.row[loader].pin_tensors++;
	}
}

/* Evaluates a call of a thread whose last mark is one of the loader. */
static void watch(const struct torch *torch, struct window *window, const struct call *call)
{
	switch (torch->what[call->function]) {
	case TORCH_TENSOR:
		if (!window->end_ns && !(call->flags & MODEL_CALL_LEFT)) {
			window->opened++;
			window->opened_ns = call->end_ns;
			window->opening = call->flags & MODEL_CALL_NOT_RETURNED;
		}
		break;
	case TORCH_MARK: window->inner += torch->ends_recorded && !window->end_ns; break;
	case TORCH_BACKWARD:
		window->trains = true;
		break;
	case TORCH_MARK_END:
		if (window->inner)
			window->inner--;
		else if (!window->end_ns)
			window->end_ns = call->start_ns;
		break;
	default: break;
	}
}

/* Does a call after the last fetch of a thread show that it trains? */
static void note_training(struct torch *torch, const struct call *call)
{
	struct torch_fetch *last =
		torch->fetches.count ? &torch->fetches.row[torch->fetches.count - 1] : NULL;
	bool backward = torch->what[call->function] == TORCH_BACKWARD;
	bool trains = backward ||
		      (torch->what[call->function] == TORCH_MARK &&
		       strncmp(model_text(torch->model, call->text), OPTIMIZER, strlen(OPTIMIZER)) == 0);

	if (!trains || !last || last->fetch.thread != call->thread)
		return;
	last->trains = true;
	last->backward |= backward;
	torch->trains = true;
}

static int find_fetches(struct torch *torch)
{
	const struct model *model = torch->model;
	struct window window = { .mark = NULL };
	int err = 0;

	for (uint32_t i = 0; i < model->calls.count && !err; i++) {
		const struct call *call = &model->calls.row[i];

		if (window.mark && window.mark->thread != call->thread) {
			err = end_window(torch, &window, NULL);
			window.mark = NULL;
		}
		if (window.mark)
			watch(torch, &window, call);
		if (torch->what[call->function] == TORCH_MARK && !err &&
		    !(window.mark && window.inner)) {
			if (window.mark)
				err = end_window(torch, &window, call);
			window = (struct window){ .mark = is_loader_mark(torch, call) ? call : NULL };
		}
		if (!window.mark)
			note_training(torch, call);
	}
	if (!err && window.mark)
		err = end_window(torch, &window, NULL);
	return err;
}

/* When each process made its first and its last tensor. */
struct made {
	uint64_t first_ns;
	uint64_t last_ns;
};

static struct made *find_made(const struct torch *torch)
{
	const struct model *model = torch->model;
	struct made *made = calloc((size_t)model->processes.count + 1, sizeof(*made));

	for (uint32_t i = 0; made && i < model->processes.count; i++)
		made[i].first_ns = UINT64_MAX;
	for (uint32_t i = 0; made && i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		struct made *of = &made[framework_process(torch->model, call)];

		if (torch->what[call->function] != TORCH_TENSOR)
			continue;
		of->first_ns = call->end_ns < of->first_ns ? call->end_ns : of->first_ns;
		of->last_ns = call->end_ns > of->last_ns ? call->end_ns : of->last_ns;
	}
	return made;
}

/*
 * Do fetches of the loader find batches that an earlier one opened? Then its workers share one iterator, and some are
 * quicker than others. Loaders that are read in turn, as by zip(), may look like one: each fetch opens its own batch.
 */
static bool opens_ahead(const struct torch *torch, uint32_t loader)
{
	uint32_t all = 0, none = 0;

	for (uint32_t i = 0; i < torch->fetches.count; i++) {
		const struct torch_fetch *of = &torch->fetches.row[i];

		if (of->loader != loader || of->fetch.end_of_data)
			continue;
		all++;
		none += !of->opened;
	}
	return none * AHEAD_SHARE > all;
}

/* Forgets which workers take turns, unless that is certain: they open ahead, or only one makes anything. */
static void settle_sets(const struct torch *torch, uint32_t loader, const struct made *made)
{
	struct pipeline *pipeline = pipeline_of(torch, &torch->loaders.row[loader]);
	bool ahead = opens_ahead(torch, loader);
	uint32_t makers = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < pipeline->threads.count; i++) {
			struct pipeline_thread *row = &pipeline->threads.row[i];

			if (row->descendant || row->role != PIPELINE_WORKER_PROCESS)
				continue;
			if (pass == 0)
				makers += made[torch->model->threads.row[row->thread].process].last_ns != 0;
			else if (!ahead && makers > 1)
				row->set = 0;
		}
	}
}

static int add_works(struct torch *torch)
{
	struct made *made = find_made(torch);
	int err = made ? 0 : -ENOMEM;

	for (uint32_t t = 0; t < torch->loaders.count; t++) {
		const struct torch_loader *loader = &torch->loaders.row[t];
		struct pipeline *pipeline = pipeline_of(torch, loader);

		if (!err)
			settle_sets(torch, t, made);
		for (uint32_t i = 0; i < pipeline->threads.count && !err; i++) {
			const struct pipeline_thread *row = &pipeline->threads.row[i];
			const struct made *of = &made[torch->model->threads.row[row->thread].process];

			if (row->op == loader->workers && !row->descendant)
				err = loader_works(torch->model, pipeline, row, of->first_ns,
						   of->last_ns);
		}
	}
	free(made);
	return err;
}

static int finish(struct torch *torch)
{
	int err = 0;

	for (uint32_t i = 0; i < torch->loaders.count && !err; i++) {
		struct torch_loader *loader = &torch->loaders.row[i];
		struct pipeline *pipeline = pipeline_of(torch, loader);

		if (loader->worker_processes <= LOADER_WORKERS_MAX)
			pipeline->operators.row[loader->workers].workers =
				loader_concurrent(torch->model, pipeline, loader->workers);
		err = add_outputs(torch, loader);
		if (!err && !pipeline->operators.row[loader->workers].in_trainer &&
		    !loader->worker_processes &&
		    !pipeline_note(torch->model, pipeline,
				   "no worker processes were recognized: torch before 2.1 does not "
				   "name them, and those of another container are not traced"))
			err = -ENOMEM;
	}
	if (!err)
		err = add_works(torch);
	if (!err)
		err = torch_queues(torch);
	for (uint32_t i = 0; i < torch->loaders.count; i++) {
		struct pipeline *pipeline = pipeline_of(torch, &torch->loaders.row[i]);

		pipeline_sort(pipeline);
		pipeline_count_sizes(pipeline, WAIT_NS);
	}
	return err;
}

static int build_all(struct torch *torch)
{
	int err = find_fetches(torch);

	if (err || torch->fetches.count == 0)
		return err;
	err = torch_loaders_find(torch);
	if (!err)
		err = find_threads(torch);
	if (err)
		return err;
	count_pin_tensors(torch);
	err = settle_fetches(torch);
	if (!err)
		err = torch_restarts_find(torch);
	return err ? err : finish(torch);
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct torch torch = { .model = model, .pipelines = pipelines };
	bool any = false;
	int err;

	torch.what = framework_classify(model, "torch", FUNCTIONS,
					sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	torch.process_loader = indices_none(model->processes.count);
	torch.thread_loader = indices_none(model->threads.count);
	err = torch.what && torch.process_loader && torch.thread_loader ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < model->functions.count; i++)
		torch.ends_recorded |= torch.what[i] == TORCH_MARK_END;
	if (!err && any)
		err = build_all(&torch);
	free(torch.fetches.row);
	free(torch.loaders.row);
	free(torch.process_loader);
	free(torch.process_group);
	free(torch.thread_loader);
	free(torch.what);
	return err;
}

const struct framework FRAMEWORK_TORCH = { "torch", build };
