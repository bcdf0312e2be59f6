/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/device_step_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/copy_way.h"
#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/fuzzy.h"
#include "lib/base/bisect.h"

/* A part of the recording that a mark, file or loop identifies as a step. */
struct part {
	uint64_t number;
	uint64_t start_ns;
	uint64_t end_ns;
	bool of_host; /* start_ns is when the host began the step */
	struct step_bounds bounds; /* of its tasks; end_ns 0 = no task yet */
};

struct parts {
	MODEL_ARRAY(struct part) list; /* by start */
	uint32_t thread; /* the thread whose tasks alone belong to the parts; INDEX_NONE = all threads */
};

static const struct device_task *task_at(const struct device_tasks *of, uint32_t i)
{
	return &of->model->tasks.row[of->first + i];
}

static bool is_kernel(const struct device_task *task)
{
	return device_task_counts(task) && task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL;
}

/* Does a kernel of the device have exactly this name? Otherwise the text is words to search for. */
static bool is_a_name(const struct device_tasks *of, const char *text)
{
	for (uint32_t i = 0; i < of->count; i++) {
		if (is_kernel(task_at(of, i)) &&
		    strcmp(model_text(of->model, task_at(of, i)->name), text) == 0)
			return true;
	}
	return false;
}

static bool is_point(const struct device_tasks *of, const struct device_task *task,
		     const char *text, bool whole)
{
	const char *name = model_text(of->model, task->name);

	if (!is_kernel(task))
		return false;
	return whole ? strcmp(name, text) == 0 : text_fuzzy(name, text);
}

/* The end of the last kernel that had ended when the last collective began. */
static uint64_t found_bp_end(const struct device_tasks *of, uint32_t from, uint32_t to)
{
	uint64_t bp_end_ns = 0, begin_ns = 0;

	for (uint32_t i = to; i-- > from && !begin_ns;) {
		const struct device_task *task = task_at(of, i);

		if (device_task_counts(task) &&
		    task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
			begin_ns = task->start_ns;
	}
	for (uint32_t i = from; i < to; i++) {
		const struct device_task *task = task_at(of, i);

		if (is_kernel(task) && task->end_ns <= begin_ns && task->end_ns > bp_end_ns)
			bp_end_ns = task->end_ns;
	}
	return bp_end_ns;
}

static uint64_t given_bp_end(const struct device_tasks *of, uint32_t from, uint32_t to)
{
	const char *point = of->options->bp_point;
	bool whole = is_a_name(of, point);
	uint64_t bp_end_ns = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct device_task *task = task_at(of, i);

		if (is_point(of, task, point, whole) && task->end_ns > bp_end_ns)
			bp_end_ns = task->end_ns;
	}
	return bp_end_ns;
}

static uint64_t bp_end(const struct device_tasks *of, uint32_t from, uint32_t to)
{
	return of->options->bp_point ? given_bp_end(of, from, to) : found_bp_end(of, from, to);
}

/* Sets the step's begin, passes and end from the tasks [from, to); returns false if there are none. */
static bool close_step(const struct device_tasks *of, struct step_bounds *bounds, uint32_t from,
		       uint32_t to)
{
	bool any = false;

	for (uint32_t i = from; i < to; i++) {
		const struct device_task *task = task_at(of, i);

		if (!device_task_counts(task))
			continue;
		if (!any)
			bounds->begin_ns = task->start_ns;
		any = true;
		if (!bounds->fp_start_ns && is_kernel(task))
			bounds->fp_start_ns = task->start_ns;
		if (task->end_ns > bounds->end_ns)
			bounds->end_ns = task->end_ns;
	}
	if (!bounds->fp_start_ns)
		bounds->fp_start_ns = bounds->begin_ns;
	if (any)
		bounds->bp_end_ns = bp_end(of, from, to);
	return any;
}

static bool is_feed(const struct device_tasks *of, struct work_names *names, uint32_t i)
{
	const struct device_task *task = task_at(of, i);

	return device_task_counts(task) && !is_kernel(task) &&
	       task_copy_way(names, task) == LOOP_FEED;
}

/* The index of the first of the copies to the device directly before a task; they belong to its step. */
static uint32_t with_feeds(const struct device_tasks *of, struct work_names *names, uint32_t begin,
			   uint32_t not_before)
{
	uint32_t first = begin;

	/* A step that begins with copies already has its usual number of them. */
	if (is_feed(of, names, begin))
		return begin;
	while (begin-- > not_before) {
		if (is_feed(of, names, begin))
			first = begin;
		else if (device_task_counts(task_at(of, begin)))
			break;
	}
	return first;
}

int device_step_cut(const struct device_tasks *of, const uint32_t *begins, uint32_t count,
		    struct step_finding *finding)
{
	struct work_names names;
	uint32_t begin;
	int err = 0;

	if (!work_names_init(&names, of->model))
		return -ENOMEM;
	begin = count ? with_feeds(of, &names, begins[0], 0) : 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		uint32_t next = i + 1 < count
					? with_feeds(of, &names, begins[i + 1], begins[i] + 1)
					: of->count;
		struct step_bounds bounds = { .number = i };

		/* If @begins[i] is a kernel, the forward pass begins with it, not with the first kernel of the step. */
		if (is_kernel(task_at(of, begins[i])))
			bounds.fp_start_ns = task_at(of, begins[i])->start_ns;
		if (close_step(of, &bounds, begin, next) && !MODEL_PUSH(&finding->steps, bounds))
			err = -ENOMEM;
		begin = next;
	}
	work_names_free(&names);
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct step_bounds *x = a, *y = b;

	if (x->fp_start_ns != y->fp_start_ns)
		return x->fp_start_ns < y->fp_start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static void sort_steps(struct step_finding *finding)
{
	if (finding->steps.count)
		qsort(finding->steps.row, finding->steps.count, sizeof(*finding->steps.row),
		      by_start);
}

/* Each kernel that matches the point begins a step, which lasts until the next such kernel. */
static int find_by_points(const struct device_tasks *of, struct step_finding *finding)
{
	const char *point = of->options->fp_point;
	bool whole = is_a_name(of, point);
	MODEL_ARRAY(uint32_t) begins = { 0 };
	int err = 0;

	finding->source = STEPS_POINTS;
	finding->confidence = 100;
	for (uint32_t i = 0; i < of->count && !err; i++) {
		if (!is_point(of, task_at(of, i), point, whole))
			continue;
		finding->fp_name = task_at(of, i)->name;
		if (!MODEL_PUSH(&begins, i))
			err = -ENOMEM;
	}
	if (!err)
		err = device_step_cut(of, begins.row, begins.count, finding);
	free(begins.row);
	return err;
}

static int find_in_file(const struct device_tasks *of, struct step_finding *finding)
{
	const struct model *model = of->model;

	finding->source = STEPS_FILE;
	finding->confidence = 100;
	for (uint32_t i = 0; i < model->device_steps.count; i++) {
		const struct device_step *step = &model->device_steps.row[i];
		struct step_bounds bounds = { .number = step->number,
					      .begin_ns = step->fp_start_ns,
					      .fp_start_ns = step->fp_start_ns,
					      .bp_end_ns = step->bp_end_ns,
					      .end_ns = step->end_ns,
					      .first_reduce = step->first_reduce,
					      .reduce_count = step->reduce_count };

		if (step->device != of->device || step->end_ns < step->fp_start_ns)
			continue;
		if (!MODEL_PUSH(&finding->steps, bounds))
			return -ENOMEM;
	}
	sort_steps(finding);
	return 0;
}

static int by_part(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool of_device(const struct device_tasks *of, const struct step_mark *mark)
{
	const struct device *device = &of->model->devices.row[of->device];
	uint32_t process = device->process;

	if (mark->device != INDEX_NONE)
		return mark->device == of->device;
	/* Ranks in containers may have the same process number, and a device's process may be unknown. */
	if (mark->file && device->file && mark->file != device->file)
		return false;
	return mark->process == INDEX_NONE || process == INDEX_NONE || mark->process == process;
}

static bool add_marks(const struct device_tasks *of, struct parts *parts)
{
	const struct model *model = of->model;

	for (uint32_t i = 0; i < model->step_marks.count; i++) {
		const struct step_mark *mark = &model->step_marks.row[i];
		struct part part = { .number = mark->number,
				     .start_ns = mark->start_ns,
				     .end_ns = mark->end_ns,
				     .of_host = mark->device == INDEX_NONE };

		if (of_device(of, mark) && !MODEL_PUSH(&parts->list, part))
			return false;
	}
	return true;
}

/* The loop of the device's process with most turns, of marks or of calls. */
static const struct host_loop *loop_of(const struct device_tasks *of, bool marks)
{
	uint32_t process = of->model->devices.row[of->device].process;
	const struct host_loop *best = NULL;

	for (uint32_t i = 0; i < of->loops->loops.count; i++) {
		const struct host_loop *loop = &of->loops->loops.row[i];

		if ((process == INDEX_NONE ? of->loops->loops.count == 1
					   : loop->process == process) &&
		    (loop->evidence == LOOP_BY_MARKS) == marks &&
		    (!best || loop->count > best->count))
			best = loop;
	}
	return best;
}

static bool add_turns(const struct device_tasks *of, struct parts *parts, bool marks)
{
	const struct host_loop *loop = loop_of(of, marks);

	for (uint32_t i = 0; loop && i < loop->count; i++) {
		const struct host_turn *turn = &of->loops->turns.row[loop->first + i];
		struct part part = { .number = turn->number,
				     .start_ns = turn->start_ns,
				     .end_ns = turn->end_ns,
				     .of_host = true };

		/* The device work of its last call may continue after the turn. */
		if (i + 1 == loop->count)
			part.end_ns = UINT64_MAX;
		if (!MODEL_PUSH(&parts->list, part))
			return false;
	}
	parts->thread = loop ? loop->thread : INDEX_NONE;
	return true;
}

static bool add_host_marks(const struct device_tasks *of, struct parts *parts)
{
	return add_turns(of, parts, true);
}

static bool add_loop(const struct device_tasks *of, struct parts *parts)
{
	return add_turns(of, parts, false);
}

/* The fetches of the device's process that are its steps. If its process is not known, those of all processes. */
static const struct pipeline_steps *fetches_of(const struct device_tasks *of)
{
	uint32_t process = of->model->devices.row[of->device].process;
	const struct pipeline_steps *best = NULL;

	for (uint32_t i = 0; of->trainer && i < of->trainer->count; i++) {
		const struct pipeline_steps *steps = &of->trainer->pipelines[i];

		if ((process == INDEX_NONE || process == steps->usage->pipeline->process) &&
		    steps_precede(steps, best))
			best = steps;
	}
	return best;
}

static bool add_fetches(const struct device_tasks *of, struct parts *parts)
{
	const struct pipeline_steps *steps = fetches_of(of);

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		struct part part = { .number = steps->rows[i].index,
				     .of_host = true,
				     .start_ns = steps->rows[i].start_ns,
				     .end_ns =
					     steps->rows[i].start_ns + steps->rows[i].duration_ns };

		if (!MODEL_PUSH(&parts->list, part))
			return false;
	}
	return true;
}

/* Returns the last part that begins at or before an instant, if it contains the instant; else NULL. */
static struct part *part_at(const struct parts *parts, uint64_t ns)
{
	uint32_t next = BISECT(i, 0, parts->list.count, parts->list.row[i].start_ns <= ns);

	return next && ns < parts->list.row[next - 1].end_ns ? &parts->list.row[next - 1] : NULL;
}

/* Assigns tasks to the part in which they were enqueued; if that is unknown, to the part in which they started. */
static void place_tasks(const struct device_tasks *of, const struct parts *parts)
{
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = task_at(of, i);
		struct part *part;

		if (!device_task_counts(task) ||
		    (parts->thread != INDEX_NONE && task->thread != parts->thread))
			continue;
		part = part_at(parts, task->enqueue_ns ? task->enqueue_ns : task->start_ns);
		if (!part)
			continue;
		if (task->end_ns > part->bounds.end_ns)
			part->bounds.end_ns = task->end_ns;
		if (!part->bounds.begin_ns || task->start_ns < part->bounds.begin_ns)
			part->bounds.begin_ns = task->start_ns;
		if (is_kernel(task) &&
		    (!part->bounds.fp_start_ns || task->start_ns < part->bounds.fp_start_ns))
			part->bounds.fp_start_ns = task->start_ns;
	}
}

/* Makes steps of the parts in which kernels were enqueued. */
static int close_parts(const struct device_tasks *of, struct parts *parts,
		       struct step_finding *finding)
{
	uint32_t row = 0;

	/* Avoids a pass over millions of tasks: most ways to find steps find none. */
	if (!parts->list.count)
		return 0;
	qsort(parts->list.row, parts->list.count, sizeof(*parts->list.row), by_part);
	place_tasks(of, parts);
	for (uint32_t i = 0; i < parts->list.count; i++) {
		struct part *part = &parts->list.row[i];

		part->bounds.number = part->number;
		part->bounds.host_ns = part->of_host ? part->start_ns : 0;
		if (part->bounds.fp_start_ns && !MODEL_PUSH(&finding->steps, part->bounds))
			return -ENOMEM;
	}
	sort_steps(finding);
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		struct step_bounds *bounds = &finding->steps.row[i];
		uint64_t end_ns = bounds->end_ns;
		uint32_t from;

		/* Tasks of the next step may start before the last task of this step ends. */
		if (i + 1 < finding->steps.count && finding->steps.row[i + 1].fp_start_ns < end_ns)
			end_ns = finding->steps.row[i + 1].fp_start_ns;
		while (row < of->count && task_at(of, row)->start_ns < bounds->fp_start_ns)
			row++;
		for (from = row; row < of->count && task_at(of, row)->start_ns < end_ns;)
			row++;
		bounds->bp_end_ns = bp_end(of, from, row);
	}
	return 0;
}

/* Finds steps by the step numbers in the file's tasks. */
static int find_by_numbers(const struct device_tasks *of, struct step_finding *finding)
{
	struct parts parts = { .thread = INDEX_NONE };
	int err = 0;

	finding->source = STEPS_MARKS;
	for (uint32_t i = 0; i < of->count && !err; i++) {
		const struct device_task *task = task_at(of, i);
		uint32_t detail = task->detail;
		struct part *last = parts.list.count ? &parts.list.row[parts.list.count - 1] : NULL;
		struct part part = { .start_ns = task->start_ns, .end_ns = task->end_ns };

		if (!detail || detail > of->model->task_details.count)
			continue;
		part.number = of->model->task_details.row[detail - 1].step;
		if (part.number == MODEL_ID_NONE || !is_kernel(task))
			continue;
		if (last && last->number == part.number)
			last->end_ns = task->end_ns > last->end_ns ? task->end_ns : last->end_ns;
		else if (!MODEL_PUSH(&parts.list, part))
			err = -ENOMEM;
	}
	/* By start times: each part has its own kernels, and enqueue times are unknown. */
	for (uint32_t i = 0; i + 1 < parts.list.count; i++)
		parts.list.row[i].end_ns = parts.list.row[i + 1].start_ns;
	if (!err)
		err = close_parts(of, &parts, finding);
	free(parts.list.row);
	return err;
}

static int find_by_parts(const struct device_tasks *of, struct step_finding *finding,
			 bool (*add)(const struct device_tasks *, struct parts *),
			 enum step_source source)
{
	struct parts parts = { .thread = INDEX_NONE };
	int err = add(of, &parts) ? 0 : -ENOMEM;

	finding->source = source;
	finding->confidence = 100;
	if (!err)
		err = close_parts(of, &parts, finding);
	free(parts.list.row);
	return err;
}

/* Finds steps by the loop of the host's calls, with the confidence of that loop. */
static int find_by_loop(const struct device_tasks *of, struct step_finding *finding)
{
	const struct host_loop *loop = loop_of(of, false);
	int err = find_by_parts(of, finding, add_loop, STEPS_HOST);

	if (loop) {
		finding->confidence = loop->confidence;
		finding->evidence = loop->evidence;
	}
	return err;
}

int device_step_find(const struct device_tasks *of, struct step_finding *finding)
{
	int err;

	if (of->options->fp_point)
		return find_by_points(of, finding);
	err = find_in_file(of, finding);
	if (!err && !finding->steps.count)
		err = find_by_parts(of, finding, add_marks, STEPS_MARKS);
	if (!err && !finding->steps.count)
		err = find_by_numbers(of, finding);
	if (!err && !finding->steps.count)
		err = find_by_parts(of, finding, add_host_marks, STEPS_MARKS);
	if (!err && !finding->steps.count)
		err = find_by_parts(of, finding, add_fetches, STEPS_TRAINER);
	if (!err && !finding->steps.count)
		err = find_by_loop(of, finding);
	if (!err && !finding->steps.count)
		err = device_step_infer(of, finding);
	return err;
}
