/* SPDX-License-Identifier: Apache-2.0 */
/* Matches collectives of several ranks: the rank that came last, and the wait of the others. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/analyse/fuzzy.h"
#include "analyzer/analyse/cluster/rank_clocks.h"
#include "analyzer/analyse/cluster/rank_jobs.h"

/* A collective on one device: the n-th of its name there. */
struct part {
	uint32_t task;
	uint32_t nth;
	uint32_t group; /* string: communication group, 0 = unknown */
	uint32_t job; /* of its device (rank_jobs.h) */
};

struct matching {
	const struct model *model;
	struct part *parts;
	uint32_t count;
	uint32_t *ranks; /* per device: row of results->ranks */
	uint32_t *jobs; /* per device */
	struct rank_clock *clocks; /* per device */
	struct communication_results *results;
};

static bool is_of_two(const char *name)
{
	return text_fuzzy(name, "send") || text_fuzzy(name, "recv") || text_fuzzy(name, "receive");
}

static bool belongs(const struct matching *of, const struct analysis_options *options,
		    const struct analysis_window *window, const struct device_task *task)
{
	return task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION &&
	       !(task->flags & MODEL_TASK_UNTIMED) && task->device < of->model->devices.count &&
	       analysis_has(task->start_ns, window) &&
	       analysis_wants_process(of->model, options,
				      of->model->devices.row[task->device].process) &&
	       !is_of_two(model_text(of->model, task->name));
}

static int by_name(const struct part *x, const struct part *y, const struct device_task *tasks)
{
	if (tasks[x->task].name != tasks[y->task].name)
		return tasks[x->task].name < tasks[y->task].name ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/* By name, group, job, device and time. */
static int by_device(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	const struct part *x = a, *y = b;
	int order = by_name(x, y, tasks);

	if (order)
		return order;
	if (tasks[x->task].device != tasks[y->task].device)
		return tasks[x->task].device < tasks[y->task].device ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* By name, group, job, number and device. */
static int by_number(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	const struct part *x = a, *y = b;
	int order = by_name(x, y, tasks);

	if (order)
		return order;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return tasks[x->task].device < tasks[y->task].device ? -1 : 1;
}

static uint32_t group_of(const struct model *model, uint32_t task)
{
	uint32_t detail = model->tasks.row[task].detail;

	return detail && detail <= model->task_details.count
		       ? model->task_details.row[detail - 1].group
		       : 0;
}

static const struct device_task *task_of(const struct matching *of, uint32_t part)
{
	return &of->model->tasks.row[of->parts[part].task];
}

/* Finds the jobs to which the devices belong; parts are sorted by device. Returns false without memory. */
static bool find_jobs(struct matching *of)
{
	struct rank_part *parts = calloc((size_t)of->count + 1, sizeof(*parts));
	uint32_t kind = 0;
	int err = -ENOMEM;

	for (uint32_t i = 0; i < of->count && parts; i++) {
		const struct device_task *task = task_of(of, i);

		kind += i && by_name(&of->parts[i - 1], &of->parts[i], of->model->tasks.row);
		parts[i] = (struct rank_part){ task->end_ns, task->device, kind,
					       rank_clocks_is_rooted(
						       model_text(of->model, task->name)) };
	}
	if (parts)
		err = rank_jobs_find(of->model, parts, of->count, of->jobs);
	for (uint32_t i = 0; i < of->count && !err; i++)
		of->parts[i].job = of->jobs[task_of(of, i)->device];
	free(parts);
	return !err;
}

/* Numbers the parts of a name on each device; returns false if the devices' counts differ, or there is one device. */
static bool number_name(struct matching *of, uint32_t first, uint32_t end)
{
	uint32_t usual = 0, nth = 0, devices = 0;

	for (uint32_t i = first; i < end; i++) {
		bool last = i + 1 == end || task_of(of, i + 1)->device != task_of(of, i)->device;

		of->parts[i].nth = nth++;
		if (!last)
			continue;
		if (devices++ && nth != usual)
			return false;
		usual = nth;
		nth = 0;
	}
	return devices > 1;
}

/* Keeps only names that several devices have, all equally often. */
static void number_parts(struct matching *of)
{
	uint32_t kept = 0;

	for (uint32_t first = 0, end; first < of->count; first = end) {
		for (end = first; end < of->count && !by_name(&of->parts[first], &of->parts[end],
							      of->model->tasks.row);)
			end++;
		if (!number_name(of, first, end)) {
			of->results->unmatched += end - first;
			continue;
		}
		for (uint32_t i = first; i < end; i++)
			of->parts[kept++] = of->parts[i];
	}
	of->count = kept;
}

static int64_t began(const struct matching *of, uint32_t part)
{
	const struct device_task *task = task_of(of, part);

	return rank_clock_time(&of->clocks[task->device], task->start_ns);
}

static int64_t ended(const struct matching *of, uint32_t part)
{
	const struct device_task *task = task_of(of, part);

	return rank_clock_time(&of->clocks[task->device], task->end_ns);
}

/* Returns the largest clock error of parts [first, end), if one of their clocks was corrected; else 0. */
static uint64_t error_of(const struct matching *of, uint32_t first, uint32_t end)
{
	uint64_t error_ns = 0;
	bool moved = false;

	for (uint32_t i = first; i < end; i++) {
		const struct rank_clock *clock = &of->clocks[task_of(of, i)->device];

		moved |= clock->moved;
		if (clock->error_ns > error_ns)
			error_ns = clock->error_ns;
	}
	return moved ? error_ns : 0;
}

/* Adds a collective: parts [first, end), one per device. */
static void add_collective(struct matching *of, uint32_t first, uint32_t end)
{
	struct communication_results *results = of->results;
	struct collective_skew skew = { .name = task_of(of, first)->name, .ranks = end - first };
	int64_t first_ns = INT64_MAX, last_ns = 0, end_ns = INT64_MIN;
	bool certain;

	for (uint32_t i = first; i < end; i++) {
		if (began(of, i) < first_ns)
			first_ns = began(of, i);
		if (ended(of, i) > end_ns)
			end_ns = ended(of, i);
		if (i == first || began(of, i) > last_ns) {
			last_ns = began(of, i);
			skew.straggler = task_of(of, i)->device;
		}
	}
	skew.start_ns = first_ns > 0 ? (uint64_t)first_ns : 0;
	skew.skew_ns = (uint64_t)(last_ns - first_ns);
	skew.duration_ns = (uint64_t)(end_ns - first_ns);
	/* Within the error of the clocks no rank is known to be late. */
	certain = skew.skew_ns > error_of(of, first, end);
	for (uint32_t i = first; i < end; i++) {
		struct rank_usage *rank = &results->ranks[of->ranks[task_of(of, i)->device]];

		rank->collectives++;
		rank->wait_ns += (uint64_t)(last_ns - began(of, i));
		if (task_of(of, i)->device != skew.straggler || !certain)
			continue;
		rank->last++;
		rank->late_ns += skew.skew_ns;
	}
	results->skews[results->skew_count++] = skew;
}

static int by_skew(const void *a, const void *b)
{
	const struct collective_skew *x = a, *y = b;

	if (x->skew_ns != y->skew_ns)
		return x->skew_ns > y->skew_ns ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_ranks(struct matching *of)
{
	struct communication_results *results = of->results;

	for (uint32_t i = 0; i < of->count; i++)
		of->ranks[task_of(of, i)->device] = 1;
	for (uint32_t i = 0; i < of->model->devices.count; i++) {
		if (!of->ranks[i])
			continue;
		of->ranks[i] = results->rank_count;
		results->ranks[results->rank_count].job = of->jobs[i];
		results->ranks[results->rank_count++].device = i;
	}
}

static bool same_collective(const struct matching *of, uint32_t x, uint32_t y)
{
	return of->parts[x].nth == of->parts[y].nth &&
	       !by_name(&of->parts[x], &of->parts[y], of->model->tasks.row);
}

/* Finds the offsets of the ranks' clocks; parts are sorted by collective. Returns false without memory. */
static bool set_clocks(struct matching *of)
{
	struct communication_results *results = of->results;
	struct rank_end *ends = calloc((size_t)of->count + 1, sizeof(*ends));
	uint32_t collective = 0;
	int err = ends ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < of->count && ends; i++) {
		const struct device_task *task = task_of(of, i);

		collective += i && !same_collective(of, i - 1, i);
		ends[i] = (struct rank_end){ task->end_ns, task->device, collective,
					     rank_clocks_is_rooted(
						     model_text(of->model, task->name)) };
	}
	if (!err)
		err = rank_clocks_find(ends, of->count, of->model->devices.count, of->clocks);
	free(ends);
	for (uint32_t i = 0; i < results->rank_count && !err; i++) {
		const struct rank_clock *clock = &of->clocks[results->ranks[i].device];

		results->ranks[i].clock = *clock;
		results->clocks_moved |= clock->moved;
		if (clock->error_ns > results->clock_error_ns)
			results->clock_error_ns = clock->error_ns;
	}
	return !err;
}

static bool match(struct matching *of)
{
	struct communication_results *results = of->results;

	qsort_r(of->parts, of->count, sizeof(*of->parts), by_device, of->model->tasks.row);
	if (!find_jobs(of))
		return false;
	qsort_r(of->parts, of->count, sizeof(*of->parts), by_device, of->model->tasks.row);
	number_parts(of);
	add_ranks(of);
	qsort_r(of->parts, of->count, sizeof(*of->parts), by_number, of->model->tasks.row);
	if (!set_clocks(of))
		return false;
	for (uint32_t first = 0, end; first < of->count; first = end) {
		for (end = first; end < of->count && same_collective(of, first, end);)
			end++;
		add_collective(of, first, end);
	}
	if (results->skew_count)
		qsort(results->skews, results->skew_count, sizeof(*results->skews), by_skew);
	return true;
}

int communication_ranks(const struct model *model, const struct analysis_options *options,
			struct communication_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	struct matching of = { .model = model, .results = results };
	size_t tasks = (size_t)model->tasks.count + 1, devices = (size_t)model->devices.count + 1;
	bool ok;

	if (model->devices.count < 2)
		return 0;
	of.parts = calloc(tasks, sizeof(*of.parts));
	of.ranks = calloc(devices, sizeof(*of.ranks));
	of.jobs = calloc(devices, sizeof(*of.jobs));
	of.clocks = calloc(devices, sizeof(*of.clocks));
	results->ranks = calloc(devices, sizeof(*results->ranks));
	for (uint32_t i = 0; of.parts && i < model->tasks.count; i++) {
		if (belongs(&of, options, &window, &model->tasks.row[i]))
			of.parts[of.count++] = (struct part){ i, 0, group_of(model, i), 0 };
	}
	results->skews = calloc((size_t)of.count + 1, sizeof(*results->skews));
	ok = of.parts && of.ranks && of.jobs && of.clocks && results->ranks && results->skews && match(&of);
	free(of.parts);
	free(of.clocks);
	free(of.jobs);
	free(of.ranks);
	return ok ? 0 : -ENOMEM;
}
