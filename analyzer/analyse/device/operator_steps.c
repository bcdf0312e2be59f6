/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/operator_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/device/operators.h"
#include "lib/base/bisect.h"

/* A task in a step. There are as many as tasks: all else is looked up. */
struct member {
	uint32_t task;
	uint32_t row; /* row of the step in its trace */
	uint32_t core;
};

struct work {
	const struct model *model;
	const struct analysis_options *options;
	struct operator_step_results *results;
	struct member *members;
	uint32_t count;
	bool by_type; /* series are of types, not of operators */
};

/* Index of the step that contains an instant; INDEX_NONE = none. Steps do not overlap. */
static uint32_t step_at(const struct device_step_trace *trace, uint64_t ns)
{
	uint32_t next = BISECT(i, 0, trace->count, trace->rows[i].start_ns <= ns);

	return next && ns < trace->rows[next - 1].end_ns ? next - 1 : INDEX_NONE;
}

static const struct device_step_trace *trace_of(const struct device_step_results *steps,
						uint32_t device)
{
	for (uint32_t i = 0; i < steps->count; i++) {
		if (steps->traces[i].device == device)
			return &steps->traces[i];
	}
	return NULL;
}

static void add_task(struct work *of, const struct device_step_trace *trace, uint32_t row)
{
	const struct device_task *task = &of->model->tasks.row[row];
	const struct member member = { .task = row,
				       .row = step_at(trace, task->start_ns),
				       .core = task_core(of->model, task) };

	if (member.row == INDEX_NONE || task->flags & MODEL_TASK_UNTIMED ||
	    task->kind == PROFBPF__DEVICE_TASKS__KIND__SYNC ||
	    !operator_wanted(of->model, &of->options->operators, task))
		return;
	of->members[of->count++] = member;
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static int by_series(const struct work *of, const struct member *x, const struct member *y)
{
	const struct device_task *a = &of->model->tasks.row[x->task];
	const struct device_task *b = &of->model->tasks.row[y->task];

	if (a->device != b->device)
		return compare(a->device, b->device);
	if (x->core != y->core)
		return compare(x->core, y->core);
	if (a->kind != b->kind)
		return compare(a->kind, b->kind);
	if (a->type != b->type || of->by_type)
		return compare(a->type, b->type);
	return compare(a->name, b->name);
}

static int by_member(const void *a, const void *b, void *of)
{
	const struct member *x = a, *y = b;
	int order = by_series(of, x, y);

	if (!order)
		order = compare(x->row, y->row);
	return order ? order : compare(x->task, y->task);
}

static void add_text(uint32_t *all, uint32_t text, bool first)
{
	*all = first || *all == text ? text : OPERATOR_SEVERAL;
}

static void add_to_step(const struct work *of, const struct member *member,
			struct operator_step *step)
{
	const struct device_task *task = &of->model->tasks.row[member->task];
	const struct task_detail *detail = model_task_detail(of->model, task);
	uint64_t ns = task->end_ns - task->start_ns;
	bool first = step->count == 0;

	step->count++;
	step->total_ns += ns;
	if (ns > step->max_ns)
		step->max_ns = ns;
	add_text(&step->input_shapes, detail ? detail->input_shapes : 0, first);
	add_text(&step->output_shapes, detail ? detail->output_shapes : 0, first);
}

static void finish_series(const struct operator_step_results *results,
			  struct operator_series *series)
{
	uint32_t shapes = 0;

	for (uint32_t i = 0; i < series->count; i++) {
		const struct operator_step *step = &results->steps[series->first + i];

		series->total_ns += step->total_ns;
		if (i == 0 || step->total_ns < series->min_ns)
			series->min_ns = step->total_ns;
		if (step->total_ns > series->max_ns)
			series->max_ns = step->total_ns;
		series->shaped |= step->input_shapes && !series->of_type;
		series->changes += i && step->input_shapes != shapes;
		shapes = step->input_shapes;
	}
	series->mean_ns = (double)series->total_ns / series->count;
}

/* Adds room for the series of the sorted members, and their steps, to the results. Returns 0 or -ENOMEM. */
static int make_room(const struct work *of)
{
	struct operator_step_results *results = of->results;
	size_t series = results->count, steps = results->step_count;
	void *grown;

	for (uint32_t i = 0; i < of->count; i++) {
		const struct member *member = &of->members[i];
		bool first = i == 0 || by_series(of, member - 1, member);

		series += first;
		steps += first || member->row != member[-1].row;
	}
	if (series > UINT32_MAX || steps > UINT32_MAX)
		return -ENOMEM;
	grown = reallocarray(results->series, series + 1, sizeof(*results->series));
	if (!grown)
		return -ENOMEM;
	results->series = grown;
	grown = reallocarray(results->steps, steps + 1, sizeof(*results->steps));
	if (!grown)
		return -ENOMEM;
	results->steps = grown;
	return 0;
}

static struct operator_series series_of(const struct work *of, const struct member *member)
{
	const struct device_task *task = &of->model->tasks.row[member->task];

	return (struct operator_series){ .device = task->device,
					 .name = of->by_type ? 0 : task->name,
					 .type = task->type,
					 .kind = task->kind,
					 .core = (uint8_t)member->core,
					 .of_type = of->by_type,
					 .first = of->results->step_count };
}

static void fill_series(const struct work *of, const struct device_step_results *steps)
{
	struct operator_step_results *results = of->results;

	for (uint32_t i = 0; i < of->count; i++) {
		const struct member *member = &of->members[i];
		bool first = i == 0 || by_series(of, member - 1, member);

		if (first)
			results->series[results->count++] = series_of(of, member);
		if (first || member->row != member[-1].row) {
			const struct device_step_trace *trace =
				trace_of(steps, results->series[results->count - 1].device);

			results->steps[results->step_count++] =
				(struct operator_step){ .step = trace->rows[member->row].number };
			results->series[results->count - 1].count++;
		}
		add_to_step(of, member, &results->steps[results->step_count - 1]);
	}
}

static int make_series(struct work *of, const struct device_step_results *steps, bool by_type)
{
	uint32_t before = of->results->count;
	int err;

	of->by_type = by_type;
	qsort_r(of->members, of->count, sizeof(*of->members), by_member, of);
	err = make_room(of);
	if (err)
		return err;
	fill_series(of, steps);
	for (uint32_t i = before; i < of->results->count; i++)
		finish_series(of->results, &of->results->series[i]);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct operator_series *x = a, *y = b;

	if (x->of_type != y->of_type)
		return x->of_type ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return compare(x->first, y->first);
}

int operator_steps_analyse(const struct model *model, const struct analysis_options *options,
			   const struct device_step_results *steps,
			   struct operator_step_results *results)
{
	struct work of = { .model = model, .options = options, .results = results };
	int err;

	*results = (struct operator_step_results){ 0 };
	of.members = calloc(steps->count ? (size_t)model->tasks.count + 1 : 1, sizeof(*of.members));
	if (!of.members)
		return -ENOMEM;
	for (uint32_t i = 0; steps->count && i < model->tasks.count; i++) {
		const struct device_step_trace *trace =
			trace_of(steps, model->tasks.row[i].device);

		if (trace)
			add_task(&of, trace, i);
	}
	err = make_series(&of, steps, true);
	if (!err)
		err = make_series(&of, steps, false);
	if (!err)
		qsort(results->series, results->count, sizeof(*results->series), by_time);
	free(of.members);
	return err;
}

void operator_steps_free(struct operator_step_results *results)
{
	free(results->series);
	free(results->steps);
	*results = (struct operator_step_results){ 0 };
}
