/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, works and fetches, from the calls of MindData's threads and of the trainer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/frameworks/minddata.h"

#define CAPACITY_MAX (1u << 20)
#define OPERATOR_ID_MAX 4096
#define DEPTH_MAX 32
#define NAME_SIZE 96
#define QUEUES_MAX 1024 /* in one pipeline, including inner ones; a real pipeline has about ten */

#define UNKNOWN_BUILD                                                                            \
	"this build of MindSpore keeps its operators elsewhere than the known ones do: queues, " \
	"elements and the order of operators are not known"

/* The open calls of a thread: inlined operators fetch from each other, and finally from an operator with a queue. */
struct asking {
	const struct call *call[DEPTH_MAX];
	uint32_t op[DEPTH_MAX];
	uint32_t count;
	const struct call *fetch; /* call of the trainer, or NULL */
	uint32_t tree; /* tree of that fetch, once it is known */
};

/*
 * Reads the capacity of an operator's queue and its number, which are adjacent in memory; returns false if the values
 * are implausible.
 */
static bool read_operator(const struct minddata *md, const struct call *call, int32_t *id,
			  uint32_t *capacity)
{
	uint64_t both;

	if (!md->arguments ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__VALUE, &both))
		return false;
	*id = (int32_t)(both >> 32);
	*capacity = (uint32_t)both;
	return *id >= 0 && *id < OPERATOR_ID_MAX && *capacity < CAPACITY_MAX;
}

uint32_t minddata_queue_at(struct minddata *md, uint32_t tree, uint64_t handle, uint32_t from)
{
	struct minddata_tree *of = &md->trees.row[tree];
	struct pipeline *pipeline = minddata_pipeline(md, tree);
	struct pipeline_queue queue = { .from = from, .to = INDEX_NONE };
	const struct minddata_before nothing = { 0, 0 };

	for (uint32_t i = 0; i < of->handles.count; i++)
		if (of->handles.row[i] == handle)
			return i;
	if (from == INDEX_NONE || of->handles.count == QUEUES_MAX)
		return INDEX_NONE;
	if (!MODEL_PUSH(&of->handles, handle) || !MODEL_PUSH(&of->popped, 0) ||
	    !MODEL_PUSH(&of->in, nothing) || !MODEL_PUSH(&of->out, nothing) ||
	    !MODEL_PUSH(&pipeline->queues, queue)) {
		md->no_memory = true;
		return INDEX_NONE;
	}
	return of->handles.count - 1;
}

/* The earliest pop reports the number of earlier ones. */
static void note_popped(const struct minddata *md, const struct call *call,
			struct minddata_before *before)
{
	uint64_t count;

	if ((before->start_ns && call->start_ns >= before->start_ns) ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__COUNT, &count))
		return;
	*before = (struct minddata_before){ call->start_ns, count };
}

void minddata_note_pushed(struct minddata *md, uint32_t tree, uint32_t queue, uint64_t ts_ns,
			  uint64_t count)
{
	struct minddata_before *before = &md->trees.row[tree].in.row[queue];

	if (!before->start_ns || ts_ns < before->start_ns)
		*before = (struct minddata_before){ ts_ns, count };
	if (count == 0)
		minddata_pipeline(md, tree)->queues.row[queue].from_start = true;
}

/*
 * Sets the sizes at first. Elements pushed and not popped were in the queue, or one is a push that waited for room
 * when recording began; one more pop than pushes is a pop that waited then. Builds that count elsewhere give
 * impossible numbers.
 */
static void tell_first_sizes(struct minddata *md, uint32_t tree)
{
	const struct minddata_tree *of = &md->trees.row[tree];

	for (uint32_t i = 0; i < of->handles.count; i++) {
		const struct minddata_before *in = &of->in.row[i], *out = &of->out.row[i];
		struct pipeline_queue *queue = &minddata_pipeline(md, tree)->queues.row[i];

		if (!in->start_ns || !out->start_ns || in->count + 1 < out->count ||
		    in->count > out->count + queue->capacity + 1)
			continue;
		queue->first_taken = in->count < out->count;
		queue->first_size = queue->first_taken ? 0 : (uint32_t)(in->count - out->count);
		queue->first_known = true;
	}
}

/* Is the queue operation of a call complete? It is so, too, for a call of which only the entry was recorded. */
static bool is_done(const struct call *call)
{
	return !(call->flags & (MODEL_CALL_OPEN | MODEL_CALL_LEFT));
}

static int add_push(struct minddata *md, const struct call *call)
{
	uint32_t tree = md->tree_of[call->thread];
	struct pipeline_queue_event event = { .start_ns = call->start_ns,
					      .end_ns = call->end_ns,
					      .thread = call->thread,
					      .change = 1,
					      .size = -1 };
	uint64_t handle, flags, before;

	if (tree == INDEX_NONE || !is_done(call) || !md->arguments ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__HANDLE, &handle) ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__VALUE, &flags))
		return 0;
	event.queue = minddata_queue_at(md, tree, handle, md->operator_of[call->thread]);
	if (event.queue == INDEX_NONE)
		return 0;
	event.mark = (uint32_t)flags;
	if (framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__COUNT, &before))
		minddata_note_pushed(md, tree, event.queue, call->start_ns, before);
	return MODEL_PUSH(&minddata_pipeline(md, tree)->queue_events, event) ? 0 : -ENOMEM;
}

/*
 * Adds a batch for the device, or the number of batches that wait for it: only if one of the pipeline's threads made
 * the call.
 */
static int add_device_event(struct minddata *md, const struct call *call)
{
	uint32_t tree = md->tree_of[call->thread];
	bool send = md->what[call->function] == MD_SEND;
	struct pipeline_queue_event event = { .start_ns = call->start_ns,
					      .end_ns = call->end_ns,
					      .thread = call->thread,
					      .change = send,
					      .size = -1,
					      .mark = MD_ROW_DATA };
	struct pipeline_queue *queue;
	uint64_t handle, size;

	if (tree == INDEX_NONE || call->flags & (MODEL_CALL_NOT_RETURNED | MODEL_CALL_ERROR) ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__HANDLE, &handle))
		return 0;
	if (!send && framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__COUNT, &size) &&
	    size <= INT32_MAX)
		event.size = (int32_t)size;
	event.queue = minddata_queue_at(md, tree, handle, md->operator_of[call->thread]);
	if (event.queue == INDEX_NONE)
		return 0;
	queue = &minddata_pipeline(md, tree)->queues.row[event.queue];
	queue->to_device = true;
	md->trees.row[tree].popped.row[event.queue] = 1;
	return MODEL_PUSH(&minddata_pipeline(md, tree)->queue_events, event) ? 0 : -ENOMEM;
}

static int add_work(struct minddata *md, const struct call *call)
{
	uint32_t tree = md->tree_of[call->thread];
	struct pipeline_work work = { .start_ns = call->start_ns,
				      .end_ns = call->end_ns,
				      .thread = call->thread };

	if (tree == INDEX_NONE || call->flags & MODEL_CALL_NOT_RETURNED)
		return 0;
	work.op = md->operator_of[call->thread];
	return MODEL_PUSH(&minddata_pipeline(md, tree)->works, work) ? 0 : -ENOMEM;
}

/*
 * Pushes are known before pops: the queue identifies the trainer's tree; of the trees at the same address, which may
 * be reused, the latest one launched by then is used.
 */
static uint32_t tree_of_queue(const struct minddata *md, uint32_t process, uint64_t handle,
			      uint64_t ts_ns)
{
	uint32_t latest = INDEX_NONE;

	for (uint32_t t = 0; t < md->trees.count; t++) {
		const struct minddata_tree *tree = &md->trees.row[t];

		if (tree->process != process || tree->from_ns > ts_ns ||
		    (latest != INDEX_NONE && md->trees.row[latest].from_ns > tree->from_ns))
			continue;
		for (uint32_t i = 0; i < tree->handles.count; i++)
			if (tree->handles.row[i] == handle)
				latest = t;
	}
	return latest;
}

/* Makes a type for an operator without threads, from "mindspore::dataset::EpochCtrlOp::GetNextRow". */
static uint32_t add_inlined(struct minddata *md, struct pipeline *pipeline, int32_t id,
			    const struct call *call)
{
	const char *name = model_text(md->model, md->model->functions.row[call->function].name);
	const char *end = strstr(name, "Op::GetNextRow"), *begin = end;
	char type[NAME_SIZE], full[NAME_SIZE + 16];
	uint32_t op = pipeline_operator_find(pipeline, id);

	if (op != INDEX_NONE)
		return op;
	while (begin && begin > name && begin[-1] != ':')
		begin--;
	snprintf(type, sizeof(type), "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
	snprintf(full, sizeof(full), "%s(ID:%d)", type, id);
	op = pipeline_operator_add(md->model, pipeline, id, full, type);
	if (op != INDEX_NONE)
		pipeline->operators.row[op].in_trainer = md->tree_of[call->thread] == INDEX_NONE;
	return op;
}

/*
 * Returns the operator that fetches: the innermost inlined operator that is open, or else the thread's own, or else
 * the trainer.
 */
static uint32_t asker(const struct minddata *md, const struct asking *asking, uint32_t thread)
{
	return asking->count ? asking->op[asking->count - 1] : md->operator_of[thread];
}

/* Is it the operator that feeds the device? Its thread fetches like a trainer. */
static bool sends(const struct minddata *md, uint32_t tree, uint32_t thread, uint32_t op)
{
	const struct pipeline *pipeline = &md->pipelines->list.row[md->trees.row[tree].pipeline];

	return md->operator_of[thread] == op &&
	       strcmp(model_text(md->model, pipeline->operators.row[op].type), "DataQueue") == 0;
}

static bool add_asked(struct pipeline *pipeline, const struct call *call)
{
	struct pipeline_fetch fetch = { .start_ns = call->start_ns,
					.end_ns = call->end_ns,
					.thread = call->thread,
					.open = call->flags & MODEL_CALL_NOT_RETURNED };

	return MODEL_PUSH(&pipeline->fetches, fetch);
}

static int add_pop(struct minddata *md, struct asking *asking, const struct call *call)
{
	uint32_t process = md->model->threads.row[call->thread].process;
	uint32_t tree = md->tree_of[call->thread], capacity, child, to;
	struct pipeline_queue_event event = { .start_ns = call->start_ns,
					      .end_ns = call->end_ns,
					      .thread = call->thread,
					      .change = -1,
					      .size = -1 };
	struct pipeline *pipeline;
	uint64_t handle;
	int32_t id;

	if (!md->arguments ||
	    !framework_argument(md->model, call, PROFBPF__FUNCTION__ROLE__HANDLE, &handle))
		return 0;
	if (tree == INDEX_NONE)
		tree = tree_of_queue(md, process, handle, call->start_ns);
	if (tree == INDEX_NONE)
		return 0;
	if (asking->fetch)
		asking->tree = tree;
	pipeline = minddata_pipeline(md, tree);
	if (!read_operator(md, call, &id, &capacity) || !capacity)
		return pipeline_note(md->model, pipeline, UNKNOWN_BUILD) ? 0 : -ENOMEM;
	child = pipeline_operator_find(pipeline, id);
	event.queue = minddata_queue_at(md, tree, handle, child);
	if (child == INDEX_NONE || event.queue == INDEX_NONE)
		return 0;
	note_popped(md, call, &md->trees.row[tree].out.row[event.queue]);
	to = asker(md, asking, call->thread);
	md->trees.row[tree].popped.row[event.queue] = 1;
	pipeline->queues.row[event.queue].from = child;
	pipeline->queues.row[event.queue].to = to;
	pipeline->queues.row[event.queue].capacity = capacity;
	if (to != INDEX_NONE && !pipeline_edge_add(pipeline, child, to))
		return -ENOMEM;
	if (to != INDEX_NONE && sends(md, tree, call->thread, to) && !add_asked(pipeline, call))
		return -ENOMEM;
	if (!is_done(call))
		return 0;
	return MODEL_PUSH(&pipeline->queue_events, event) ? 0 : -ENOMEM;
}

static bool encloses(const struct call *outer, const struct call *inner)
{
	return outer->depth < inner->depth && outer->start_ns <= inner->start_ns &&
	       inner->end_ns <= outer->end_ns;
}

/* Finds the tree of a fetch, from the calls inside it: a call of an inlined operator may precede that of the queue. */
static uint32_t tree_of_fetch(const struct minddata *md, const struct call *calls, uint32_t count)
{
	const struct model *model = md->model;
	uint64_t handle;

	for (uint32_t i = 1; i < count && encloses(&calls[0], &calls[i]); i++) {
		if (md->what[calls[i].function] == MD_NEXT &&
		    framework_argument(model, &calls[i], PROFBPF__FUNCTION__ROLE__HANDLE, &handle))
			return tree_of_queue(md, model->threads.row[calls[i].thread].process,
					     handle, calls[i].start_ns);
	}
	return INDEX_NONE;
}

/* A fetch without calls inside belongs to the latest pipeline that its process had by then. */
static uint32_t latest_tree(const struct minddata *md, uint32_t process, uint64_t ts_ns)
{
	for (uint32_t t = md->trees.count; t-- > 0;)
		if (md->trees.row[t].process == process && md->trees.row[t].from_ns <= ts_ns)
			return t;
	return INDEX_NONE;
}

static int add_fetch(struct minddata *md, struct asking *asking, const struct call *calls,
		     uint32_t count)
{
	struct pipeline_fetch fetch = { .start_ns = calls->start_ns,
					.end_ns = calls->end_ns,
					.thread = calls->thread };
	uint32_t process = md->model->threads.row[calls->thread].process;

	asking->count = 0;
	asking->fetch = calls;
	asking->tree = tree_of_fetch(md, calls, count);
	if (asking->tree == INDEX_NONE)
		asking->tree = latest_tree(md, process, calls->start_ns);
	if (asking->tree == INDEX_NONE)
		return 0;
	fetch.open = calls->flags & MODEL_CALL_NOT_RETURNED;
	return MODEL_PUSH(&minddata_pipeline(md, asking->tree)->fetches, fetch) ? 0 : -ENOMEM;
}

static int enter_inlined(struct minddata *md, struct asking *asking, const struct call *call)
{
	uint32_t tree = md->tree_of[call->thread], op, capacity, outer;
	struct pipeline *pipeline;
	int32_t id;

	if (tree == INDEX_NONE && asking->fetch)
		tree = asking->tree;
	if (tree == INDEX_NONE || asking->count == DEPTH_MAX ||
	    !read_operator(md, call, &id, &capacity))
		return 0;
	pipeline = minddata_pipeline(md, tree);
	op = add_inlined(md, pipeline, id, call);
	if (op == INDEX_NONE)
		return -ENOMEM;
	outer = asker(md, asking, call->thread);
	if (outer != INDEX_NONE && outer != op && !pipeline_edge_add(pipeline, op, outer))
		return -ENOMEM;
	asking->call[asking->count] = call;
	asking->op[asking->count++] = op;
	return 0;
}

static void set_python(struct minddata *md, const struct call *call)
{
	uint32_t tree = md->tree_of[call->thread];

	if (tree != INDEX_NONE)
		minddata_pipeline(md, tree)->operators.row[md->operator_of[call->thread]].python =
			true;
}

static int take_ask(struct minddata *md, struct asking *asking, const struct call *call,
		    uint32_t left)
{
	while (asking->count && !encloses(asking->call[asking->count - 1], call))
		asking->count--;
	if (asking->fetch && !encloses(asking->fetch, call))
		asking->fetch = NULL;
	switch (md->what[call->function]) {
	case MD_FETCH: return add_fetch(md, asking, call, left);
	case MD_INLINED: return enter_inlined(md, asking, call);
	case MD_NEXT: return add_pop(md, asking, call);
	case MD_PYTHON: set_python(md, call); return 0;
	case MD_WORK:
	case MD_SHUFFLE: return add_work(md, call);
	case MD_SEND:
	case MD_DEVICE_SIZE: return add_device_event(md, call);
	default: return 0;
	}
}

int minddata_calls(struct minddata *md)
{
	const struct model *model = md->model;
	struct asking asking = { .count = 0 };
	uint32_t thread = INDEX_NONE;
	int err = 0;

	for (uint32_t i = 0; i < model->calls.count && !err; i++)
		if (md->what[model->calls.row[i].function] == MD_PUSH)
			err = add_push(md, &model->calls.row[i]);
	if (!err)
		err = minddata_shuffle_pushes(md);
	for (uint32_t i = 0; i < model->calls.count && !err; i++) {
		const struct call *call = &model->calls.row[i];

		if (call->thread != thread)
			asking = (struct asking){ .tree = INDEX_NONE };
		thread = call->thread;
		err = take_ask(md, &asking, call, model->calls.count - i);
	}
	for (uint32_t t = 0; t < md->trees.count && !err; t++)
		tell_first_sizes(md, t);
	return md->no_memory ? -ENOMEM : err;
}
