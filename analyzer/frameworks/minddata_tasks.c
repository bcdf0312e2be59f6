/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tree and the operator of each of MindData's threads.
 *
 * A tree's Tasks form a group, whose address each Task contains, as does the launch of the tree. A later tree may
 * reuse an address: then a thread belongs to the last one that was launched before the thread began. If groups are
 * unknown, a thread belongs to the last tree that its process launched before the thread began.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/minddata.h"
#include "lib/base/bisect.h"

#define OPERATOR_ID_MAX 4096
#define NAME_SIZE 96
#define LAUNCH_CALLS_MAX 1000

/* The content of a thread's Task. */
struct task {
	uint32_t thread;
	int32_t id;
	uint64_t ts_ns; /* when the thread began */
	uint64_t group; /* of its tree; 0 = unknown */
	const char *name; /* "MapOp(ID:2)", "MapOp::WorkerEntry" */
};

static int by_process_and_start(const void *a, const void *b)
{
	const struct minddata_launch *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int find_launches(struct minddata *md)
{
	const struct model *model = md->model;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		struct minddata_launch launch = {
			.process = model->threads.row[call->thread].process,
			.start_ns = call->start_ns,
		};

		if (md->what[call->function] != MD_LAUNCH)
			continue;
		framework_argument(model, call, PROFBPF__FUNCTION__ROLE__CORRELATION,
				   &launch.group);
		if (!MODEL_PUSH(&md->launches, launch))
			return -ENOMEM;
	}
	if (md->launches.count)
		qsort(md->launches.row, md->launches.count, sizeof(*md->launches.row),
		      by_process_and_start);
	return 0;
}

/* Returns the number of launches of a process up to an instant, from *@first on. */
static uint32_t launches_until(const struct minddata *md, uint32_t process, uint64_t ts_ns,
			       uint32_t *first)
{
	struct minddata_launch wanted = { .process = process, .start_ns = ts_ns };
	uint32_t next = BISECT(i, 0, md->launches.count,
			       by_process_and_start(&md->launches.row[i], &wanted) <= 0);

	*first = next;
	while (*first > 0 && md->launches.row[*first - 1].process == process)
		--*first;
	return next - *first;
}

/* Returns the index of the tree; adds it if it is new. INDEX_NONE without memory. */
static uint32_t tree_at(struct minddata *md, const struct minddata_tree *wanted)
{
	struct minddata_tree tree = *wanted;

	for (uint32_t i = md->trees.count; i-- > 0;)
		if (md->trees.row[i].process == tree.process &&
		    md->trees.row[i].group == tree.group &&
		    md->trees.row[i].generation == tree.generation)
			return i;
	tree.pipeline = md->pipelines->list.count;
	if (!pipeline_add(md->pipelines, FRAMEWORK_MINDDATA.name, tree.process) ||
	    !MODEL_PUSH(&md->trees, tree))
		return INDEX_NONE;
	return md->trees.count - 1;
}

/* Returns the only tree of a process, or INDEX_NONE. */
static uint32_t only_tree(const struct minddata *md, uint32_t process)
{
	uint32_t only = INDEX_NONE;

	for (uint32_t i = 0; i < md->trees.count; i++) {
		if (md->trees.row[i].process != process)
			continue;
		if (only != INDEX_NONE)
			return INDEX_NONE;
		only = i;
	}
	return only;
}

/* Returns the tree of this group (0 = unknown) for a thread that began at an instant. */
static uint32_t tree_of_group(struct minddata *md, uint32_t process, uint64_t group, uint64_t ts_ns)
{
	struct minddata_tree tree = { .process = process, .group = group };
	uint32_t first, count = launches_until(md, process, ts_ns, &first);
	uint32_t only = group || count ? INDEX_NONE : only_tree(md, process);

	if (only != INDEX_NONE)
		return only;
	for (uint32_t i = first; i < first + count; i++) {
		if (group && md->launches.row[i].group != group)
			continue;
		tree.generation++;
		tree.from_ns = md->launches.row[i].start_ns;
	}
	return tree_at(md, &tree);
}

/* Is it the group of a tree that was launched, or of a tree that existed at first? */
static bool is_group(const struct minddata *md, uint32_t process, uint64_t group)
{
	const struct model *model = md->model;

	for (uint32_t i = 0; group && i < md->launches.count; i++)
		if (md->launches.row[i].process == process && md->launches.row[i].group == group)
			return true;
	for (uint32_t i = 0; group && i < model->thread_roles.count; i++)
		if (model->threads.row[model->thread_roles.row[i].thread].process == process &&
		    model->thread_roles.row[i].tree == group)
			return true;
	return false;
}

static uint8_t role_of(const char *name)
{
	if (strstr(name, "::WorkerEntry"))
		return PIPELINE_WORKER;
	return strstr(name, "::Collector") ? PIPELINE_COLLECTOR : PIPELINE_MAIN;
}

/* "MapOp(ID:2)" and "MapOp::WorkerEntry" have the type "Map". */
static void type_of(const char *name, char *type, size_t size)
{
	size_t length = strcspn(name, "(:");

	if (length > 2 && strncmp(name + length - 2, "Op", 2) == 0)
		length -= 2;
	snprintf(type, size, "%.*s", (int)length, name);
}

/* The name of an operator's main thread is better than that of a worker of its base class. */
static int name_operator(struct minddata *md, struct pipeline *pipeline, uint32_t op,
			 const struct task *task)
{
	struct pipeline_operator *row = &pipeline->operators.row[op];
	char type[NAME_SIZE], name[NAME_SIZE + 16];
	uint32_t type_id, name_id;

	if (!strstr(task->name, "(ID:"))
		return 0;
	type_of(task->name, type, sizeof(type));
	snprintf(name, sizeof(name), "%s(ID:%d)", type, row->id);
	type_id = model_string(md->model, type);
	name_id = model_string(md->model, name);
	if (type_id == INDEX_NONE || name_id == INDEX_NONE)
		return -ENOMEM;
	row->type = type_id;
	row->name = name_id;
	return 0;
}

static int add_operator(struct minddata *md, struct pipeline *pipeline, const struct task *task,
			uint32_t *op)
{
	char type[NAME_SIZE], name[NAME_SIZE + 16];

	*op = pipeline_operator_find(pipeline, task->id);
	if (*op != INDEX_NONE)
		return name_operator(md, pipeline, *op, task);
	type_of(task->name, type, sizeof(type));
	snprintf(name, sizeof(name), "%s(ID:%d)", type, task->id);
	*op = pipeline_operator_add(md->model, pipeline, task->id, name, type);
	if (*op == INDEX_NONE)
		return -ENOMEM;
	pipeline->operators.row[*op].counts_outputs = md->arguments;
	return 0;
}

/* Is this a Task's name? Any other text was read from the wrong address. */
static bool plausible(const struct task *task)
{
	size_t length = strnlen(task->name, NAME_SIZE);

	if (task->id < 0 || task->id >= OPERATOR_ID_MAX || length == 0 || length == NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (task->name[i] < ' ' || task->name[i] > '~')
			return false;
	return true;
}

static int add_task(struct minddata *md, const struct task *task)
{
	const struct thread *thread = &md->model->threads.row[task->thread];
	struct pipeline_thread row = { .thread = task->thread, .role = role_of(task->name) };
	uint64_t began_ns = thread->start_ns ? thread->start_ns : task->ts_ns;
	struct pipeline *pipeline;
	uint32_t tree;
	int err;

	if (!plausible(task) || md->tree_of[task->thread] != INDEX_NONE)
		return 0;
	tree = tree_of_group(md, thread->process, task->group, began_ns);
	if (tree == INDEX_NONE)
		return -ENOMEM;
	pipeline = minddata_pipeline(md, tree);
	err = add_operator(md, pipeline, task, &row.op);
	if (err)
		return err;
	if (row.role == PIPELINE_WORKER)
		pipeline->operators.row[row.op].workers++;
	md->tree_of[task->thread] = tree;
	md->operator_of[task->thread] = row.op;
	return MODEL_PUSH(&pipeline->threads, row) ? 0 : -ENOMEM;
}

static int add_recorded(struct minddata *md)
{
	const struct model *model = md->model;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		struct task task = { .thread = call->thread, .ts_ns = call->start_ns };
		uint64_t id;
		int err;

		if (md->what[call->function] != MD_TASK ||
		    !framework_argument(model, call, PROFBPF__FUNCTION__ROLE__VALUE, &id))
			continue;
		task.id = (int32_t)id;
		task.name = model_text(model, call->text);
		if (!framework_argument(model, call, PROFBPF__FUNCTION__ROLE__CORRELATION,
					&task.group) ||
		    !is_group(md, model->threads.row[call->thread].process, task.group))
			task.group = 0;
		err = add_task(md, &task);
		if (err)
			return err;
	}
	return 0;
}

/* Adds threads that ran before recording began. */
static int add_found(struct minddata *md)
{
	const struct model *model = md->model;

	for (uint32_t i = 0; i < model->thread_roles.count; i++) {
		const struct thread_role *role = &model->thread_roles.row[i];
		struct task task = {
			.thread = role->thread,
			.id = role->op,
			.ts_ns = role->ts_ns,
			.group = role->tree,
			.name = model_text(model, role->name),
		};
		int err;

		if (strcmp(model_text(model, role->framework), FRAMEWORK_MINDDATA.name) != 0)
			continue;
		err = add_task(md, &task);
		if (err)
			return err;
	}
	return 0;
}

/* Finds the operator's launch that a thread is in at an instant; its calls are sorted by start. */
static bool launching_at(const struct minddata *md, uint32_t first, uint32_t count, uint64_t ts_ns,
			 uint64_t *value)
{
	const struct call *calls = &md->model->calls.row[first];
	uint32_t next = BISECT(i, 0, count, calls[i].start_ns <= ts_ns);

	/* A process forked within a launch is only a few calls after it. */
	for (uint32_t i = next; i-- > 0 && next - i < LAUNCH_CALLS_MAX;)
		if (md->what[calls[i].function] == MD_OPERATOR_LAUNCH && calls[i].end_ns >= ts_ns)
			return framework_argument(md->model, &calls[i],
						  PROFBPF__FUNCTION__ROLE__VALUE, value);
	return false;
}

/* Returns the tree that a process was launching at an instant. */
static uint32_t tree_launched(struct minddata *md, uint32_t process, uint64_t ts_ns)
{
	uint32_t first, count = launches_until(md, process, ts_ns, &first);
	uint64_t group = count ? md->launches.row[first + count - 1].group : 0;
	bool known = false;

	for (uint32_t i = 0; i < md->trees.count; i++)
		known |= md->trees.row[i].process == process && md->trees.row[i].group == group;
	return tree_of_group(md, process, known ? group : 0, ts_ns);
}

/*
 * An operator with worker processes forks them during its launch: processes
 * that the launching thread forks then belong to the operator.
 */
static int add_forked(struct minddata *md)
{
	const struct model *model = md->model;

	for (uint32_t i = 0; i < model->threads.count; i++) {
		const struct thread *thread = &model->threads.row[i];
		struct pipeline_thread row = { .thread = i,
					       .role = PIPELINE_WORKER_PROCESS,
					       .descendant = true };
		uint32_t first, count, tree;
		uint64_t value = 0;

		if (thread->parent == INDEX_NONE || md->tree_of[i] != INDEX_NONE ||
		    model->threads.row[thread->parent].process == thread->process)
			continue;
		count = model_thread_calls(model, thread->parent, &first);
		if (!launching_at(md, first, count, thread->start_ns, &value))
			continue;
		tree = tree_launched(md, model->threads.row[thread->parent].process,
				     thread->start_ns);
		if (tree == INDEX_NONE)
			return -ENOMEM;
		row.op =
			pipeline_operator_find(minddata_pipeline(md, tree), (int32_t)(value >> 32));
		if (row.op != INDEX_NONE && !MODEL_PUSH(&minddata_pipeline(md, tree)->threads, row))
			return -ENOMEM;
	}
	return 0;
}

/* If an operator's main thread is its only one, it is its worker. */
static void settle_workers(struct minddata *md)
{
	for (uint32_t t = 0; t < md->trees.count; t++) {
		struct pipeline *pipeline = minddata_pipeline(md, t);

		for (uint32_t i = 0; i < pipeline->operators.count; i++)
			if (!pipeline->operators.row[i].workers)
				pipeline->operators.row[i].workers = 1;
	}
}

int minddata_tasks(struct minddata *md)
{
	int err = find_launches(md);

	if (!err)
		err = add_found(md);
	if (!err)
		err = add_recorded(md);
	if (!err && md->arguments)
		err = add_forked(md);
	settle_workers(md);
	return err;
}
