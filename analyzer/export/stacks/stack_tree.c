/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/stacks/stack_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export_filter.h"
#include "analyzer/export/stacks/launch_python.h"
#include "analyzer/view/render/utf8.h"

#define LAUNCH_DEPTH_MAX 64

struct filling {
	struct stack_tree *tree;
	struct export_window window;
	bool *chosen; /* by thread */
	bool told_whole; /* the recording tells which stacks reach the start of their thread */
	struct launch_python python; /* for a tree of device time */
};

/* Returns the index of the row with this key; @next for a new key. MAP_NONE without memory. */
static uint32_t keyed(struct map *map, uint64_t key, uint32_t next)
{
	uint32_t index = map_get(map, key);

	if (index != MAP_NONE)
		return index;
	return map_put(map, key, next) ? next : MAP_NONE;
}

static uint32_t frame_row(struct stack_tree *tree, struct tree_frame frame)
{
	uint32_t next = tree->frames.count;
	uint32_t row = keyed(&tree->by_name, (uint64_t)frame.name << 32 | frame.file, next);

	/* The first row of a name is the key of the name for rows on other lines. */
	if (row != next && row != MAP_NONE)
		row = keyed(&tree->by_line, (uint64_t)row << 32 | frame.line, next);
	else if (row == next && !map_put(&tree->by_line, (uint64_t)row << 32 | frame.line, row))
		return MAP_NONE;
	if (row == next && !MODEL_PUSH(&tree->frames, frame))
		return MAP_NONE;
	return row;
}

static uint32_t child(struct stack_tree *tree, uint32_t parent, struct tree_frame frame)
{
	struct tree_node node = { .parent = parent };
	uint32_t next = tree->nodes.count, index;

	if (parent == MAP_NONE)
		return MAP_NONE;
	node.frame = frame_row(tree, frame);
	if (node.frame == MAP_NONE)
		return MAP_NONE;
	index = keyed(&tree->children, (uint64_t)parent << 32 | node.frame, next);
	if (index == next && !MODEL_PUSH(&tree->nodes, node))
		return MAP_NONE;
	return index;
}

static struct tree_frame frame_of_code(const struct model *model, const struct code_frame *code)
{
	struct tree_frame frame = { .name = code->name };

	if (code->kind == PROFBPF__STACKS__KIND__PYTHON) {
		frame.file = code->source;
		frame.line = code->line;
	} else if (!code->name && code->file < model->code_files.count) {
		frame.file = model->code_files.row[code->file].path;
	}
	return frame;
}

static struct tree_frame frame_of_thread(const struct model *model, uint32_t thread)
{
	return (struct tree_frame){ .name = thread < model->threads.count
						    ? model->threads.row[thread].name
						    : 0 };
}

static bool add(struct stack_tree *tree, uint32_t node, uint64_t times, uint64_t ns)
{
	if (node == MAP_NONE)
		return false;
	tree->nodes.row[node].count += times;
	tree->nodes.row[node].ns += ns;
	return true;
}

/*
 * Does the recording know which stacks reach the start of their thread? Those of kernels without loops in BPF are walked by
 * frame pointers alone, which do not tell; the daemon itself walks the stacks of threads that it finds asleep.
 */
static bool tells_whole(const struct model *model)
{
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if ((model->stack_samples.row[i].flags & (MODEL_SAMPLE_WHOLE | MODEL_SAMPLE_STILL)) == MODEL_SAMPLE_WHOLE)
			return true;
	return false;
}

static bool add_sample(const struct filling *f, const struct stack_sample *sample)
{
	struct stack_tree *tree = f->tree;
	const struct model *model = tree->model;
	uint32_t node = child(tree, 0, frame_of_thread(model, sample->thread));
	const struct code_stack *stack;

	if (sample->stack >= model->code_stacks.count) {
		node = child(tree, node, (struct tree_frame){ 0 });
	} else {
		/* Otherwise the first known function would look like the thread's first. */
		if (f->told_whole && !(sample->flags & MODEL_SAMPLE_WHOLE))
			node = child(tree, node, (struct tree_frame){ 0 });
		stack = &model->code_stacks.row[sample->stack];
		for (uint32_t i = stack->depth; i > 0; i--) {
			uint32_t row = model->stack_frames.row[stack->first + i - 1];

			node = child(tree, node,
				     frame_of_code(model, &model->code_frames.row[row]));
		}
	}
	return add(tree, node, sample->times, tree->kind == STACKS_OFF_CPU ? sample->dur_ns : 0);
}

/*
 * Is the sample of this kind? Samples of only Python frames are not: they have another rate. Nor are samples of threads that
 * were found asleep: the duration of their sleep is unknown.
 */
static bool is_of_kind(const struct stack_sample *sample, enum stacks_kind kind)
{
	const uint8_t mask = MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_SHORT | MODEL_SAMPLE_STILL;
	uint8_t flags = kind == STACKS_OFF_CPU ? MODEL_SAMPLE_BLOCK : 0;

	if ((sample->flags & mask) != flags)
		return false;
	return kind != STACKS_GIL || sample->flags & MODEL_SAMPLE_LOCK;
}

static int add_samples(struct filling *f)
{
	const struct model *model = f->tree->model;

	f->told_whole = tells_whole(model);
	for (uint32_t i = 0; i < model->stack_samples.count; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if (!is_of_kind(sample, f->tree->kind) || !export_instant(&f->window, sample->ts_ns) || !f->chosen[sample->thread])
			continue;
		if (!add_sample(f, sample))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The calls that enclose call @index, itself included, the innermost first: earlier calls of its thread
 * that had not ended.
 */
static size_t calls_around(const struct model *model, uint32_t index, uint32_t *calls)
{
	const struct call *call = &model->calls.row[index];
	uint8_t depth = call->depth;
	size_t count = 0;

	calls[count++] = index;
	for (uint32_t i = index; i > 0 && depth > 0 && count < LAUNCH_DEPTH_MAX; i--) {
		const struct call *outer = &model->calls.row[i - 1];

		if (outer->thread != call->thread)
			break;
		if (outer->depth >= depth || outer->end_ns < call->end_ns)
			continue;
		depth = outer->depth;
		calls[count++] = i - 1;
	}
	return count;
}

static struct tree_frame frame_of_call(const struct model *model, const struct call *call)
{
	return (struct tree_frame){ .name = model->functions.row[call->function].name };
}

/* Does a device file itself contain the Python functions around these calls? */
static bool tells_python(const struct model *model, const uint32_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t scope = model->functions.row[model->calls.row[calls[i]].function].scope;

		if (scope == SCOPE_PYTHON || scope == SCOPE_LIBRARY)
			return true;
	}
	return false;
}

static uint32_t add_python(struct filling *f, const struct call *call, uint32_t node)
{
	struct launch_frame frames[LAUNCH_PYTHON_DEPTH_MAX];
	size_t count = launch_python_frames(&f->python, call, frames);

	for (size_t i = 0; i < count; i++)
		node = child(f->tree, node, (struct tree_frame){ frames[i].name, frames[i].source, frames[i].line });
	return node;
}

static bool add_task(struct filling *f, const struct device_task *task)
{
	struct stack_tree *tree = f->tree;
	const struct model *model = tree->model;
	uint32_t node = child(tree, 0, frame_of_thread(model, task->thread));
	uint32_t calls[LAUNCH_DEPTH_MAX];
	size_t count = task->call < model->calls.count ? calls_around(model, task->call, calls) : 0;

	if (count && !tells_python(model, calls, count))
		node = add_python(f, &model->calls.row[task->call], node);
	while (count > 0)
		node = child(tree, node, frame_of_call(model, &model->calls.row[calls[--count]]));
	node = child(tree, node, (struct tree_frame){ .name = task->name });
	return add(tree, node, 1, task->end_ns - task->start_ns);
}

static int add_tasks(struct filling *f, const struct export_options *options)
{
	const struct model *model = f->tree->model;
	int err = launch_python_init(&f->python, model);

	for (uint32_t i = 0; !err && i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		struct device_task cut = *task;
		bool is_cut;

		if (task->flags & MODEL_TASK_UNTIMED || task->end_ns < task->start_ns ||
		    !export_clip(&f->window, &cut.start_ns, &cut.end_ns, &is_cut))
			continue;
		if (!(task->thread < model->threads.count ? f->chosen[task->thread]
							  : !options->pid_count))
			continue;
		if (!add_task(f, &cut))
			err = -ENOMEM;
	}
	launch_python_free(&f->python);
	return err;
}

int stack_tree_init(struct stack_tree *tree, const struct model *model, enum stacks_kind kind,
		    const struct export_options *options)
{
	struct filling f = { .tree = tree };
	int err = 0;

	*tree = (struct stack_tree){ .model = model, .kind = kind };
	export_window_init(&f.window, model, options);
	f.chosen = export_threads(model, options);
	if (!f.chosen || !MODEL_PUSH(&tree->nodes, (struct tree_node){ 0 }))
		err = -ENOMEM;
	else
		err = kind == STACKS_DEVICE ? add_tasks(&f, options) : add_samples(&f);
	free(f.chosen);
	return err;
}

void stack_tree_free(struct stack_tree *tree)
{
	map_free(&tree->by_name);
	map_free(&tree->by_line);
	map_free(&tree->children);
	free(tree->frames.row);
	free(tree->nodes.row);
}

uint64_t stack_tree_weight(const struct stack_tree *tree, const struct tree_node *node)
{
	return stack_kind_sampled(tree->kind) ? node->count : node->ns;
}

size_t stack_tree_path(const struct stack_tree *tree, uint32_t index, uint32_t *frames, size_t size)
{
	size_t depth = 0, at;

	for (uint32_t i = index; i; i = tree->nodes.row[i].parent)
		depth++;
	at = depth;
	for (uint32_t i = index; i; i = tree->nodes.row[i].parent)
		if (--at < size)
			frames[at] = tree->nodes.row[i].frame;
	return depth;
}

size_t stack_tree_depth(const struct stack_tree *tree)
{
	size_t deepest = 0;

	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		size_t depth = stack_tree_path(tree, i, NULL, 0);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *stack_tree_text(const struct stack_tree *tree, const struct tree_frame *frame,
			    char *into, size_t size)
{
	const char *name = model_text(tree->model, frame->name);
	const char *file = last_part(model_text(tree->model, frame->file));
	char text[TREE_TEXT_SIZE];

	if (*name && frame->line)
		snprintf(text, sizeof(text), "%s (%s:%u)", name, file, frame->line);
	else if (*name && *file)
		snprintf(text, sizeof(text), "%s (%s)", name, file);
	else if (*name)
		snprintf(text, sizeof(text), "%s", name);
	else if (*file)
		snprintf(text, sizeof(text), "[%s]", file);
	else
		snprintf(text, sizeof(text), "[unknown]");
	return printable(text, into, size);
}
