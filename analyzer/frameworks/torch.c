/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's DataLoader.
 *
 * The trainer is the process that marks "enumerate(DataLoader)#..."; workers are processes
 * that descend from it (by way of a fork server, too) and call themselves
 * pt_data_worker (torch 2.1 and later; older ones cannot be told). A worker hands a batch over as
 * tensors in shared memory, each made once by the worker and opened once by the trainer inside
 * __next__: one for which none were opened was the end of the data. Sources: torch/utils/data
 * (dataloader.py, _utils/worker.py) and ATen/MapAllocator.h of torch 2.15.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/python_loader.h"
#include "analyzer/frameworks/torch.h"
#include "lib/base/bisect.h"

#define LOADER "enumerate(DataLoader)#"
#define SINGLE "_SingleProcess"
#define WORKER_NAME "pt_data_worker"
#define PIN_NAME "pt_data_pin"
#define ANCESTORS_MAX 8
#define WAIT_NS 200000 /* a pop or push of so long waited */

static const struct framework_function FUNCTIONS[] = {
	{ "_ZN5torch8autograd8profiler25record_function_enter_newE", TORCH_MARK },
	{ "_ZN5torch8autograd8profilerL24record_function_exit_newE", TORCH_MARK_END },
	{ "_ZN2at12MapAllocatorC1ENS_6WithFdE", TORCH_TENSOR },
	{ "_ZN2at12MapAllocatorC2ENS_6WithFdE", TORCH_TENSOR },
};

static bool is_loader_mark(const struct torch *torch, const struct call *call)
{
	return torch->what[call->function] == TORCH_MARK &&
	       strncmp(model_text(torch->model, call->text), LOADER, strlen(LOADER)) == 0;
}

static uint32_t process_of(const struct torch *torch, const struct call *call)
{
	return torch->model->threads.row[call->thread].process;
}

struct torch_trainer *torch_trainer(const struct torch *torch, uint32_t process)
{
	for (uint32_t i = 0; i < torch->trainers.count; i++)
		if (torch->trainers.row[i].process == process)
			return &torch->trainers.row[i];
	return NULL;
}

static struct pipeline *pipeline_of(const struct torch *torch, const struct torch_trainer *trainer)
{
	return &torch->pipelines->list.row[trainer->pipeline];
}

static int add_trainer(struct torch *torch, const struct call *call)
{
	struct torch_trainer trainer = { .process = process_of(torch, call),
				   .pipeline = torch->pipelines->list.count,
				   .workers = INDEX_NONE,
				   .pin = INDEX_NONE,
				   .queue = INDEX_NONE,
				   .pinned = INDEX_NONE };
	const char *name = model_text(torch->model, call->text);
	struct pipeline *pipeline;
	struct pipeline_operator *op;
	bool single = strstr(name, SINGLE) != NULL;

	pipeline = pipeline_add(torch->pipelines, "torch", trainer.process);
	if (!pipeline)
		return -ENOMEM;
	trainer.workers = pipeline_operator_add(torch->model, pipeline, 0,
						single ? "DataLoader" : "DataLoader worker",
						single ? "DataLoader" : "worker");
	if (trainer.workers == INDEX_NONE)
		return -ENOMEM;
	op = &pipeline->operators.row[trainer.workers];
	op->source = true;
	op->python = true;
	op->counts_outputs = true;
	op->in_trainer = single;
	return MODEL_PUSH(&torch->trainers, trainer) ? 0 : -ENOMEM;
}

static int find_trainers(struct torch *torch)
{
	for (uint32_t i = 0; i < torch->model->calls.count; i++) {
		const struct call *call = &torch->model->calls.row[i];
		int err;

		if (!is_loader_mark(torch, call) || torch_trainer(torch, process_of(torch, call)))
			continue;
		err = add_trainer(torch, call);
		if (err)
			return err;
	}
	return 0;
}

/* The trainer that a process descends from, or NULL. */
struct torch_trainer *torch_ancestor(const struct torch *torch, uint32_t process)
{
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		uint32_t pid = torch->model->processes.row[process].parent_pid;
		struct torch_trainer *trainer;

		process = pid ? loader_process(torch->model, pid) : INDEX_NONE;
		if (process == INDEX_NONE)
			return NULL;
		trainer = torch_trainer(torch, process);
		if (trainer)
			return trainer;
	}
	return NULL;
}

static int add_thread(struct torch *torch, const struct torch_trainer *trainer, uint32_t thread,
		      uint32_t op, uint8_t role, bool descendant)
{
	struct pipeline_thread row = {
		.thread = thread, .op = op, .role = role, .descendant = descendant
	};

	return MODEL_PUSH(&pipeline_of(torch, trainer)->threads, row) ? 0 : -ENOMEM;
}

bool torch_pin_thread(const struct model *model, uint32_t thread)
{
	return strcmp(model_text(model, model->threads.row[thread].name), PIN_NAME) == 0;
}

/* The thread that takes what workers made and puts it into memory the device can read. */
static int add_pin_thread(struct torch *torch, struct torch_trainer *trainer, uint32_t thread)
{
	struct pipeline *pipeline = pipeline_of(torch, trainer);

	if (trainer->pin == INDEX_NONE) {
		trainer->pin =
			pipeline_operator_add(torch->model, pipeline, 1, "pin memory", "pin");
		if (trainer->pin == INDEX_NONE ||
		    !pipeline_edge_add(pipeline, trainer->workers, trainer->pin))
			return -ENOMEM;
		pipeline->operators.row[trainer->pin].workers = 1;
		pipeline->operators.row[trainer->pin].counts_outputs = true;
	}
	return add_thread(torch, trainer, thread, trainer->pin, PIPELINE_MAIN, false);
}

static int find_threads(struct torch *torch)
{
	const struct model *model = torch->model;
	int err = 0;

	for (uint32_t i = 0; i < model->threads.count && !err; i++) {
		const struct thread *thread = &model->threads.row[i];
		const struct process *process = &model->processes.row[thread->process];
		struct torch_trainer *trainer;
		bool leader = thread->tid == process->pid;

		if (torch_pin_thread(model, i)) {
			trainer = torch_trainer(torch, thread->process);
			err = trainer ? add_pin_thread(torch, trainer, i) : 0;
		} else if (strcmp(model_text(model, process->name), WORKER_NAME) == 0) {
			trainer = torch_ancestor(torch, thread->process);
			if (!trainer)
				continue;
			trainer->worker_processes += leader;
			err = add_thread(torch, trainer, i, trainer->workers,
					 PIPELINE_WORKER_PROCESS, !leader);
		}
	}
	return err;
}

/* A sleep in which __next__ waits: on the workers' pipe, or for the pin-memory thread. */
static bool is_wait(const struct torch *torch, const struct torch_trainer *trainer,
		    const struct span *span)
{
	if (trainer->pin == INDEX_NONE)
		return loader_waits(span);
	return span->state == STATE_SLEEP && span->other < torch->model->threads.count &&
	       !(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_NO_WAKE)) &&
	       torch_pin_thread(torch->model, span->other);
}

/*
 * When __next__ returned, in a library without symbols for that: with worker processes at the end of its last wait for
 * them, or of the last tensor that was opened, before the thread's next mark.
 */
static uint64_t fetch_end(const struct torch *torch, const struct torch_trainer *trainer,
			  const struct call *mark, uint64_t next_ns, uint64_t opened_ns)
{
	const struct model *model = torch->model;
	const struct timeline *line =
		mark->thread < model->timelines.count ? &model->timelines.row[mark->thread] : NULL;
	uint64_t end_ns = opened_ns > mark->end_ns ? opened_ns : mark->end_ns;
	uint32_t at = BISECT(i, 0, line ? line->count : 0,
			     model->spans.row[line->first + i].end_ns <= mark->start_ns);

	for (; line && at < line->count; at++) {
		const struct span *span = &model->spans.row[line->first + at];

		if (span->start_ns >= next_ns)
			break;
		if (is_wait(torch, trainer, span) && span->end_ns <= next_ns && span->end_ns > end_ns)
			end_ns = span->end_ns;
	}
	return end_ns;
}

/* A mark of the loader, and what its thread did up to its next mark. */
struct window {
	const struct call *mark;
	uint64_t end_ns; /* when the mark was over; 0 = not recorded */
	uint32_t inner; /* marks inside it that are not over */
	uint64_t opened_ns; /* when the last tensor was opened */
	bool opening; /* not: nobody knows when that ended */
	uint32_t opened;
};

static int end_window(struct torch *torch, const struct window *window, const struct call *next)
{
	uint64_t next_ns = next ? next->start_ns : UINT64_MAX;
	struct torch_trainer *trainer = torch_trainer(torch, process_of(torch, window->mark));
	struct pipeline *pipeline = pipeline_of(torch, trainer);
	bool single = pipeline->operators.row[trainer->workers].in_trainer;
	struct pipeline_fetch fetch = { .start_ns = window->mark->start_ns,
					.thread = window->mark->thread };

	if (window->end_ns) {
		fetch.end_ns = window->end_ns;
	} else if (single) {
		fetch.end_ns = next ? next_ns : window->mark->end_ns;
		fetch.open = !next && window->mark->flags & MODEL_CALL_NOT_RETURNED;
	} else {
		fetch.end_ns = fetch_end(torch, trainer, window->mark, next_ns, window->opened_ns);
		fetch.open = window->opening;
	}
	/* Where it opens no tensors what follows tells: the next mark of a step, or of the loader again. */
	fetch.end_of_data = (single || trainer->pin != INDEX_NONE) && trainer->other_marks &&
			    (!next || is_loader_mark(torch, next));
	return MODEL_PUSH(&pipeline->fetches, fetch) && MODEL_PUSH(&trainer->opened, window->opened)
		       ? 0
		       : -ENOMEM;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * With workers, tensors tell batches from ends of the data. A fetch may open the next
 * batch's, too, if another worker was quicker: a fetch after that finds its batch there.
 */
static void find_ends(struct torch_trainer *trainer, struct pipeline *pipeline)
{
	uint64_t there = 0;

	for (uint32_t i = 0; i < trainer->opened.count; i++)
		trainer->batch_tensors =
			common_divisor(trainer->batch_tensors, trainer->opened.row[i]);
	/* Data without tensors: every fetch is taken for a batch. */
	for (uint32_t i = 0; trainer->batch_tensors && i < pipeline->fetches.count; i++) {
		there += trainer->opened.row[i];
		pipeline->fetches.row[i].end_of_data = there == 0;
		there -= there ? trainer->batch_tensors : 0;
	}
}

/* The pin-memory thread opens them, a few batches ahead: who attaches misses those of the first. */
static void count_pinned(struct torch_trainer *trainer, const struct pipeline *pipeline)
{
	uint32_t batches = 0;

	for (uint32_t i = 0; i < pipeline->fetches.count; i++)
		batches += !pipeline->fetches.row[i].end_of_data;
	if (batches)
		trainer->batch_tensors = (trainer->pin_tensors + batches / 2) / batches;
}

static int add_outputs(struct torch *torch, struct torch_trainer *trainer)
{
	struct pipeline *pipeline = pipeline_of(torch, trainer);

	if (trainer->pin != INDEX_NONE)
		count_pinned(trainer, pipeline);
	else if (!pipeline->operators.row[trainer->workers].in_trainer)
		find_ends(trainer, pipeline);
	for (uint32_t i = 0; i < pipeline->fetches.count; i++) {
		struct pipeline_output output = { .ts_ns = pipeline->fetches.row[i].end_ns,
						  .op = trainer->workers,
						  .count = 1 };

		if (pipeline->fetches.row[i].end_of_data)
			continue;
		if (!MODEL_PUSH(&pipeline->outputs, output))
			return -ENOMEM;
		output.op = trainer->pin;
		if (trainer->pin != INDEX_NONE && !MODEL_PUSH(&pipeline->outputs, output))
			return -ENOMEM;
	}
	return 0;
}

/* Does a trainer mark anything but its loader? What does its pin-memory thread open? */
static void find_other_calls(struct torch *torch)
{
	for (uint32_t i = 0; i < torch->model->calls.count; i++) {
		const struct call *call = &torch->model->calls.row[i];
		uint8_t what = torch->what[call->function];
		struct torch_trainer *trainer;

		if ((what != TORCH_MARK && what != TORCH_TENSOR) || is_loader_mark(torch, call))
			continue;
		trainer = torch_trainer(torch, process_of(torch, call));
		if (!trainer)
			continue;
		trainer->other_marks |= what == TORCH_MARK;
		trainer->pin_tensors +=
			what == TORCH_TENSOR && torch_pin_thread(torch->model, call->thread);
	}
}

/* What a thread calls while a mark of the loader is the last that it made. */
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
	case TORCH_MARK_END:
		if (window->inner)
			window->inner--;
		else if (!window->end_ns)
			window->end_ns = call->start_ns;
		break;
	default: break;
	}
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
		if (torch->what[call->function] != TORCH_MARK || err ||
		    (window.mark && window.inner))
			continue;
		if (window.mark)
			err = end_window(torch, &window, call);
		window = (struct window){ .mark = is_loader_mark(torch, call) ? call : NULL };
	}
	if (!err && window.mark)
		err = end_window(torch, &window, NULL);
	return err;
}

/* When each process made its first tensor and its last. */
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
		struct made *of = &made[process_of(torch, call)];

		if (torch->what[call->function] != TORCH_TENSOR)
			continue;
		of->first_ns = call->end_ns < of->first_ns ? call->end_ns : of->first_ns;
		of->last_ns = call->end_ns > of->last_ns ? call->end_ns : of->last_ns;
	}
	return made;
}

static int add_works(struct torch *torch)
{
	struct made *made = find_made(torch);
	int err = made ? 0 : -ENOMEM;

	for (uint32_t t = 0; t < torch->trainers.count; t++) {
		const struct torch_trainer *trainer = &torch->trainers.row[t];
		struct pipeline *pipeline = pipeline_of(torch, trainer);

		for (uint32_t i = 0; i < pipeline->threads.count && !err; i++) {
			const struct pipeline_thread *row = &pipeline->threads.row[i];
			const struct made *of = &made[torch->model->threads.row[row->thread].process];

			if (row->op == trainer->workers && !row->descendant)
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

	for (uint32_t i = 0; i < torch->trainers.count && !err; i++) {
		struct torch_trainer *trainer = &torch->trainers.row[i];
		struct pipeline *pipeline = pipeline_of(torch, trainer);

		if (trainer->worker_processes <= LOADER_WORKERS_MAX)
			pipeline->operators.row[trainer->workers].workers =
				loader_concurrent(torch->model, pipeline, trainer->workers);
		err = add_outputs(torch, trainer);
		if (!err && !pipeline->operators.row[trainer->workers].in_trainer &&
		    !trainer->worker_processes &&
		    !pipeline_note(torch->model, pipeline,
				   "no worker processes were recognized: torch before 2.1 does not "
				   "name them, and those of another container are not traced"))
			err = -ENOMEM;
	}
	if (!err)
		err = add_works(torch);
	if (!err)
		err = torch_queues(torch);
	for (uint32_t i = 0; i < torch->trainers.count; i++) {
		struct pipeline *pipeline = pipeline_of(torch, &torch->trainers.row[i]);

		pipeline_sort(pipeline);
		pipeline_count_sizes(pipeline, WAIT_NS);
	}
	return err;
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct torch torch = { .model = model, .pipelines = pipelines };
	bool any = false;
	int err;

	torch.what = framework_classify(model, "torch", FUNCTIONS,
					sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	err = torch.what ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < model->functions.count; i++)
		torch.ends_recorded |= torch.what[i] == TORCH_MARK_END;
	if (!err && any)
		err = find_trainers(&torch);
	if (!err && torch.trainers.count)
		err = find_threads(&torch);
	if (!err && torch.trainers.count)
		find_other_calls(&torch);
	if (!err && torch.trainers.count)
		err = find_fetches(&torch);
	if (!err && torch.trainers.count)
		err = finish(&torch);
	for (uint32_t i = 0; i < torch.trainers.count; i++)
		free(torch.trainers.row[i].opened.row);
	free(torch.trainers.row);
	free(torch.what);
	return err;
}

const struct framework FRAMEWORK_TORCH = { "torch", build };
