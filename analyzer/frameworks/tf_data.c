/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow's tf.data.
 *
 * Every iterator has a path that contains its name and those of all iterators above it:
 * "Iterator::Root::Prefetch::ParallelMapV2::Range" is a Range under a ParallelMapV2 under a Prefetch. A GetNext()
 * inside another one on the same thread is that of the inner operator; a thread whose outermost GetNext()s fetch from
 * operator X::Y, and that is not the trainer's, works for X. Threads that only call the user's functions fetch from no
 * iterator: tf_pool.c finds the operator they work for. tf_loaders.c finds which of a process's data sets an iterator
 * belongs to. Sources: tensorflow/core/framework/dataset.h, kernels/data/iterator_ops.cc of TensorFlow 2.21.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/tf_data.h"

#define WAIT_NS 200000 /* a pop of at least this duration waited */

#define UNKNOWN_BUILD                                                                             \
	"this build of TensorFlow keeps the paths of its iterators elsewhere than the known one " \
	"does: operators are not known"

static const struct framework_function FUNCTIONS[] = {
	{ "_ZN10tensorflow4data19DatasetBaseIterator7GetNextE", TF_GET_NEXT },
	{ "_ZN10tensorflow4data16IteratorResource7GetNextE", TF_FETCH },
	{ "_ZN10tensorflow4data16IteratorResource22SetIteratorFromDatasetE", TF_SET },
};

/* The open calls of a thread. */
struct stack {
	const struct call *call[TF_DEPTH_MAX];
	uint32_t op[TF_DEPTH_MAX]; /* INDEX_NONE for a fetch */
	uint64_t from_ns[TF_DEPTH_MAX]; /* last return from an operator below */
	uint32_t count;
	const struct call *fetch;
	bool fetch_ended; /* the operator from which it fetched had no more elements */
};

struct pipeline *tf_pipeline(const struct tf_data *tf, const struct tf_loader *loader)
{
	return &tf->pipelines->list.row[loader->pipeline];
}

uint32_t tf_operator(const struct tf_loader *loader, uint32_t path)
{
	uint32_t op = map_get(&loader->operators, path);

	return op == MAP_NONE ? INDEX_NONE : op;
}

bool tf_asynchronous(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	const char *type = model_text(model, pipeline->operators.row[op].type);

	return strncmp(type, "Parallel", 8) == 0 || strstr(type, "MapAndBatch");
}

/* Returns the loader of a call of an iterator. */
static struct tf_loader *loader_of(const struct tf_data *tf, const struct call *call)
{
	uint32_t loader = tf->loader_of[call - tf->model->calls.row];

	return loader == INDEX_NONE ? NULL : &tf->loaders.row[loader];
}

/* Returns the beginning of the last name of a path. */
static const char *last_name(const char *path)
{
	const char *name = path;

	for (const char *next; (next = strstr(name, "::"));)
		name = next + 2;
	return name;
}

/*
 * Operators that make an iterator of their input repeatedly number these iterations: "FiniteRepeat[2]". All of these
 * are one operator. Operators with several inputs number the inputs ("Zip[1]"), and each input is another operator.
 */
static bool numbers_turns(const char *name, size_t length)
{
	static const char *const TURNS[] = { "Repeat",	"FlatMap", "Interleave", "Shuffle",
					     "Rebatch", "Window",  "GroupBy" };

	for (size_t i = 0; i < sizeof(TURNS) / sizeof(TURNS[0]); i++)
		if (memmem(name, length, TURNS[i], strlen(TURNS[i])))
			return true;
	return false;
}

/*
 * In a path the iterator that fills a cache is below the one that reads it, as if it were a part of the writer's name.
 */
char *tf_plain_path(const char *path)
{
	static const char cache[] = "::MemoryCacheImpl";
	size_t length = strlen(path), used = 0;
	char *plain = malloc(2 * length + 1);

	for (size_t i = 0, name = 0; plain && i < length; i++) {
		const char *close = path[i] == '[' ? strchr(&path[i], ']') : NULL;

		if (path[i] == ':' && i + 1 < length && path[i + 1] == ':')
			name = i;
		if (close && (close[1] == ':' || close[1] == '\0') &&
		    numbers_turns(&path[name], i - name)) {
			i = (size_t)(close - path);
			continue;
		}
		if (strncmp(&path[i], cache, strlen(cache)) == 0) {
			memcpy(&plain[used], "::MemoryCache", 13);
			used += 13;
		}
		plain[used++] = path[i];
	}
	if (plain)
		plain[used] = '\0';
	return plain;
}

/*
 * Returns the row of the operator with a path; adds it and all operators above it if necessary. INDEX_NONE without
 * memory.
 */
static uint32_t operator_of(struct tf_data *tf, struct tf_loader *loader, const char *path,
			    size_t length, int depth)
{
	struct pipeline *pipeline = tf_pipeline(tf, loader);
	char *copy = strndup(path, length), *parent_end;
	uint32_t id = copy ? model_string(tf->model, copy) : INDEX_NONE, op, parent,
		 none = INDEX_NONE;
	const char *name = copy ? last_name(copy) : NULL;

	op = id == INDEX_NONE ? INDEX_NONE : tf_operator(loader, id);
	if (op != INDEX_NONE || id == INDEX_NONE)
		goto done;
	op = pipeline_operator_add(tf->model, pipeline, (int32_t)pipeline->operators.count, copy,
				   name);
	if (op == INDEX_NONE || !map_put(&loader->operators, id, op) ||
	    !MODEL_PUSH(&loader->queues, none)) {
		op = INDEX_NONE;
		goto done;
	}
	pipeline->operators.row[op].counts_outputs = true;
	parent_end = name > copy + strlen(TF_PATH_START) ? copy + (name - copy) - 2 : NULL;
	if (parent_end && depth < TF_DEPTH_MAX) {
		parent = operator_of(tf, loader, copy, (size_t)(parent_end - copy), depth + 1);
		if (parent == INDEX_NONE ||
		    !pipeline_edge_add(tf_pipeline(tf, loader), op, parent))
			op = INDEX_NONE;
	}
done:
	free(copy);
	return op;
}

/* Returns the operator with an iterator's path (string id). */
static uint32_t operator_at(struct tf_data *tf, struct tf_loader *loader, uint32_t path)
{
	uint32_t op = tf_operator(loader, path);
	char *plain = op == INDEX_NONE ? tf_plain_path(model_text(tf->model, path)) : NULL;

	if (!plain)
		return op;
	op = operator_of(tf, loader, plain, strlen(plain), 0);
	free(plain);
	if (op != INDEX_NONE && tf_operator(loader, path) == INDEX_NONE &&
	    !map_put(&loader->operators, path, op))
		return INDEX_NONE;
	return op;
}

static uint32_t parent_of(const struct pipeline *pipeline, uint32_t op)
{
	for (uint32_t i = 0; i < pipeline->edges.count; i++)
		if (pipeline->edges.row[i].from == op)
			return pipeline->edges.row[i].to;
	return INDEX_NONE;
}

static bool is_buffer(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	return strncmp(model_text(model, pipeline->operators.row[op].type), "Prefetch", 8) == 0;
}

static uint32_t queue_of(struct tf_data *tf, struct tf_loader *loader, uint32_t op)
{
	struct pipeline *pipeline = tf_pipeline(tf, loader);
	struct pipeline_queue queue = { .from = op, .to = parent_of(pipeline, op) };

	if (op >= loader->queues.count || !is_buffer(tf->model, pipeline, op))
		return INDEX_NONE;
	if (loader->queues.row[op] != INDEX_NONE)
		return loader->queues.row[op];
	queue.name = pipeline->operators.row[op].type;
	if (!MODEL_PUSH(&pipeline->queues, queue))
		return INDEX_NONE;
	return loader->queues.row[op] = pipeline->queues.count - 1;
}

static int add_queue_event(struct tf_data *tf, struct tf_loader *loader, uint32_t op,
			   const struct call *call, int32_t change)
{
	struct pipeline_queue_event event = { .start_ns = change < 0 ? call->start_ns
								     : call->end_ns,
					      .end_ns = call->end_ns,
					      .thread = call->thread,
					      .change = change,
					      .size = -1 };

	event.queue = queue_of(tf, loader, op);
	if (event.queue == INDEX_NONE)
		return 0;
	return MODEL_PUSH(&tf_pipeline(tf, loader)->queue_events, event) ? 0 : -ENOMEM;
}

static int give_thread(struct tf_data *tf, struct tf_loader *loader, uint32_t thread, uint32_t op)
{
	struct pipeline_thread row = { .thread = thread, .op = op, .role = PIPELINE_WORKER };

	if (tf->works_for[thread].op != INDEX_NONE)
		return 0;
	tf->works_for[thread] = (struct tf_place){ (uint32_t)(loader - tf->loaders.row), op };
	tf_pipeline(tf, loader)->operators.row[op].workers++;
	return MODEL_PUSH(&tf_pipeline(tf, loader)->threads, row) ? 0 : -ENOMEM;
}

/* An operator returned an element, or that there are no more. */
static int answered(struct tf_data *tf, struct tf_loader *loader, struct stack *stack, uint32_t op,
		    const struct call *call)
{
	struct pipeline *pipeline = tf_pipeline(tf, loader);
	struct pipeline_output output = { .ts_ns = call->end_ns, .op = op, .count = 1 };
	uint32_t parent = parent_of(pipeline, op);
	uint64_t ended = 0;
	int err = 0;

	if (call->flags & MODEL_CALL_NOT_RETURNED)
		return 0;
	framework_argument(tf->model, call, PROFBPF__FUNCTION__ROLE__VALUE, &ended);
	if (stack->fetch && !stack->count)
		stack->fetch_ended |= ended != 0;
	if (!stack->fetch && !stack->count && parent != INDEX_NONE)
		err = give_thread(tf, loader, call->thread, parent);
	else if (stack->fetch && !pipeline->operators.row[op].in_trainer)
		pipeline->operators.row[op].in_trainer = true;
	if (err || ended)
		return err;
	if (!MODEL_PUSH(&pipeline->outputs, output))
		return -ENOMEM;
	err = add_queue_event(tf, loader, op, call, -1);
	if (!err && parent != INDEX_NONE && !stack->fetch)
		err = add_queue_event(tf, loader, parent, call, 1);
	return err;
}

/* Time in operators below belongs to these: the rest of a call is one or more pieces of work. */
static int add_piece(struct tf_data *tf, struct stack *stack, uint32_t at, uint64_t end_ns)
{
	const struct call *call = stack->call[at];
	struct pipeline_work work = { .start_ns = stack->from_ns[at],
				      .end_ns = end_ns,
				      .op = stack->op[at],
				      .thread = call->thread };
	struct tf_loader *loader = loader_of(tf, call);

	if (!loader || work.op == INDEX_NONE || work.start_ns >= end_ns ||
	    is_buffer(tf->model, tf_pipeline(tf, loader), work.op))
		return 0;
	return MODEL_PUSH(&tf_pipeline(tf, loader)->works, work) ? 0 : -ENOMEM;
}

static int pop(struct tf_data *tf, struct stack *stack)
{
	int err = add_piece(tf, stack, stack->count - 1, stack->call[stack->count - 1]->end_ns);
	const struct call *call = stack->call[--stack->count];
	uint32_t op = stack->op[stack->count];
	struct tf_loader *loader = loader_of(tf, call);
	struct pipeline_fetch fetch = { .start_ns = call->start_ns,
					.end_ns = call->end_ns,
					.thread = call->thread,
					.open = call->flags & MODEL_CALL_NOT_RETURNED };

	if (!loader || err)
		return err;
	if (op != INDEX_NONE) {
		if (stack->count)
			stack->from_ns[stack->count - 1] = call->end_ns;
		/* A fetch is not an operator: the operator below it is the outermost one. */
		if (stack->fetch && stack->count == 1) {
			stack->count = 0;
			err = answered(tf, loader, stack, op, call);
			stack->count = 1;
			return err;
		}
		return answered(tf, loader, stack, op, call);
	}
	fetch.end_of_data = stack->fetch_ended;
	stack->fetch = NULL;
	return MODEL_PUSH(&tf_pipeline(tf, loader)->fetches, fetch) ? 0 : -ENOMEM;
}

bool tf_encloses(const struct call *outer, const struct call *inner)
{
	return outer->thread == inner->thread && outer->depth < inner->depth &&
	       outer->start_ns <= inner->start_ns && inner->end_ns <= outer->end_ns;
}

static int push(struct tf_data *tf, struct stack *stack, const struct call *call)
{
	struct tf_loader *loader = loader_of(tf, call);
	const char *path = model_text(tf->model, call->text);
	uint32_t op = INDEX_NONE;

	if (!loader || stack->count == TF_DEPTH_MAX)
		return 0;
	if (tf->what[call->function] == TF_GET_NEXT) {
		if (strncmp(path, TF_PATH_START, strlen(TF_PATH_START)) != 0)
			return pipeline_note(tf->model, tf_pipeline(tf, loader), UNKNOWN_BUILD)
				       ? 0
				       : -ENOMEM;
		op = operator_at(tf, loader, call->text);
		if (op == INDEX_NONE)
			return -ENOMEM;
	} else if (stack->count) {
		return 0; /* a fetch inside a fetch is the same fetch */
	} else {
		stack->fetch = call;
		stack->fetch_ended = false;
	}
	if (stack->count && add_piece(tf, stack, stack->count - 1, call->start_ns))
		return -ENOMEM;
	tf->asks[call->thread] = true;
	stack->call[stack->count] = call;
	stack->op[stack->count] = op;
	stack->from_ns[stack->count++] = call->start_ns;
	return 0;
}

static int walk_calls(struct tf_data *tf)
{
	const struct model *model = tf->model;
	struct stack stack = { .count = 0 };
	int err = 0;

	for (uint32_t i = 0; i <= model->calls.count && !err; i++) {
		const struct call *call = i < model->calls.count ? &model->calls.row[i] : NULL;

		if (call && tf->loader_of[i] == INDEX_NONE)
			continue;
		while (!err && stack.count &&
		       (!call || !tf_encloses(stack.call[stack.count - 1], call)))
			err = pop(tf, &stack);
		if (!err && call)
			err = push(tf, &stack, call);
	}
	return err;
}

static int finish(struct tf_data *tf)
{
	int err = tf_pool_works(tf);

	for (uint32_t l = 0; l < tf->loaders.count; l++) {
		struct pipeline *pipeline = tf_pipeline(tf, &tf->loaders.row[l]);

		/* Leaf operators read from outside. */
		for (uint32_t op = 0; op < pipeline->operators.count; op++)
			pipeline->operators.row[op].source = true;
		for (uint32_t i = 0; i < pipeline->edges.count; i++)
			pipeline->operators.row[pipeline->edges.row[i].to].source = false;
		pipeline_sort(pipeline);
		pipeline_count_sizes(pipeline, WAIT_NS);
	}
	return err;
}

static void release(struct tf_data *tf)
{
	for (uint32_t i = 0; i < tf->loaders.count; i++) {
		map_free(&tf->loaders.row[i].operators);
		free(tf->loaders.row[i].queues.row);
	}
	free(tf->loaders.row);
	free(tf->works_for);
	free(tf->loader_of);
	free(tf->asks);
	free(tf->what);
}

static int build(struct model *model, struct pipelines *pipelines)
{
	struct tf_data tf = { .model = model, .pipelines = pipelines };
	bool any = false;
	int err = 0;

	tf.what = framework_classify(model, "tensorflow", FUNCTIONS,
				     sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]), &any);
	tf.works_for = malloc(((size_t)model->threads.count + 1) * sizeof(*tf.works_for));
	tf.asks = calloc((size_t)model->threads.count + 1, sizeof(*tf.asks));
	if (!tf.what || !tf.works_for || !tf.asks) {
		err = -ENOMEM;
	} else if (any) {
		for (uint32_t i = 0; i < model->threads.count; i++)
			tf.works_for[i] = TF_NOWHERE;
		err = tf_loaders_find(&tf);
		if (!err)
			err = walk_calls(&tf);
		if (!err)
			err = finish(&tf);
	}
	release(&tf);
	return err;
}

const struct framework FRAMEWORK_TF_DATA = { "tf.data", build };
