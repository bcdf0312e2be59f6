/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/probe_cost.h"

#include <errno.h>
#include <stdlib.h>

/* A call that has not ended yet, and the cost of the probes inside it. */
struct open_call {
	uint32_t index;
	uint64_t inner_ns;
};

struct open_calls {
	MODEL_ARRAY(struct open_call) stack;
};

/* The text is a string argument unless the name of the launched operation has another source. */
static uint64_t string_ns(const struct function *function, const struct call *call)
{
	return call->text && call->named <= NAMED_ARGUMENT ? function->probe_string_ns : 0;
}

static uint64_t inside_ns(const struct model *model, const struct call *call)
{
	const struct function *function = &model->functions.row[call->function];

	return function->probe_inside_ns + string_ns(function, call);
}

static uint64_t whole_ns(const struct model *model, const struct call *call)
{
	const struct function *function = &model->functions.row[call->function];

	return function->probe_whole_ns + string_ns(function, call);
}

static void close_innermost(struct model *model, struct open_calls *open)
{
	struct open_call *last = &open->stack.row[--open->stack.count];
	const struct call *call = &model->calls.row[last->index];

	model->call_costs.row[last->index] = last->inner_ns + inside_ns(model, call);
	if (open->stack.count)
		open->stack.row[open->stack.count - 1].inner_ns +=
			last->inner_ns + whole_ns(model, call);
}

static bool is_inside(const struct call *outer, const struct call *call)
{
	return outer->thread == call->thread && call->start_ns < outer->end_ns;
}

/* Calls are sorted by thread and start: enclosing calls come first. */
static bool fill_costs(struct model *model)
{
	struct open_calls open = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < model->calls.count; i++) {
		struct open_call call = { .index = i };

		while (open.stack.count &&
		       !is_inside(&model->calls.row[open.stack.row[open.stack.count - 1].index],
				  &model->calls.row[i]))
			close_innermost(model, &open);
		ok = MODEL_PUSH(&model->call_costs, (uint64_t)0) && MODEL_PUSH(&open.stack, call);
	}
	while (ok && open.stack.count)
		close_innermost(model, &open);
	free(open.stack.row);
	return ok;
}

static bool is_whole(const struct model *model, const struct analysis_options *options)
{
	struct analysis_window window = analysis_window(model, options);

	return window.from_ns <= model->info.start_ns && window.to_ns >= model->info.end_ns;
}

/* The same for a whole trace whose calls are only counted. */
static void sum_up_counted(const struct model *model, const struct analysis_options *options,
			   struct probe_cost_results *results)
{
	for (uint32_t i = 0; is_whole(model, options) && i < model->functions.count; i++) {
		const struct function *row = &model->functions.row[i];

		if (!row->probe_whole_ns)
			continue;
		results->calls += row->counted_calls;
		results->total_ns += row->counted_calls * row->probe_whole_ns +
				     row->counted_texts * row->probe_string_ns;
	}
}

static void sum_up(const struct model *model, const struct analysis_options *options,
		   struct probe_cost_results *results)
{
	struct analysis_window window = analysis_window(model, options);
	bool whole = is_whole(model, options);

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		if (!analysis_has(call->start_ns, &window) ||
		    !model->functions.row[call->function].probe_whole_ns ||
		    !analysis_wants_process(model, options,
					    model->threads.row[call->thread].process))
			continue;
		results->calls++;
		results->total_ns += whole_ns(model, call);
	}
	for (uint32_t i = 0; whole && i < model->short_calls.count; i++) {
		const struct short_calls *row = &model->short_calls.row[i];

		if (!analysis_wants_process(model, options, row->process))
			continue;
		results->calls += row->count;
		results->total_ns +=
			row->count * model->functions.row[row->function].probe_whole_ns;
	}
}

int probe_cost_analyse(struct model *model, const struct analysis_options *options,
		       struct probe_cost_results *results)
{
	*results = (struct probe_cost_results){ .known = model->info.probe_cost_count > 0 };
	if (!results->known)
		return 0;
	sum_up_counted(model, options, results);
	sum_up(model, options, results);
	results->subtracted = options->subtract_probe_cost;
	return !results->subtracted || fill_costs(model) ? 0 : -ENOMEM;
}

uint64_t probe_cost_short_ns(const struct model *model, uint32_t function, uint64_t count,
			     uint64_t total_ns)
{
	uint64_t cost;

	if (!model->call_costs.count)
		return total_ns;
	if (__builtin_mul_overflow(count, model->functions.row[function].probe_inside_ns, &cost) ||
	    cost > total_ns)
		return 0;
	return total_ns - cost;
}
