/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/function_rows.h"
#include "analyzer/analyse/calls/probe_cost.h"
#include "lib/base/map.h"

/* Values of a row that are needed until its durations are sorted. */
struct group {
	uint64_t first; /* index of its first duration */
	uint32_t recorded;
	uint32_t total; /* 1 + its row of totals; 0 = not looked up yet */
	uint64_t unrecorded_ns;
};

struct collection {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	struct function_rows rows;
	struct map totals; /* family << 32 | process */
	MODEL_ARRAY(struct api_usage) usages;
	MODEL_ARRAY(struct group) groups;
	MODEL_ARRAY(struct api_total) sums;
	uint64_t *ns;
};

static uint32_t row_of(struct collection *of, uint32_t function, uint32_t process)
{
	uint32_t index = function_rows_get(&of->rows, function, process);
	struct api_usage usage = { .function = function, .process = process };
	struct group group = { 0 };

	if (index != INDEX_NONE)
		return index;
	index = of->usages.count;
	if (!function_rows_put(&of->rows, function, process, index) ||
	    !MODEL_PUSH(&of->usages, usage) || !MODEL_PUSH(&of->groups, group))
		return INDEX_NONE;
	return index;
}

/* Returns the total for the family of a row's function. NULL without memory. */
static struct api_total *total_of(struct collection *of, uint32_t row)
{
	const struct api_usage *usage = &of->usages.row[row];
	uint32_t family = of->model->functions.row[usage->function].family;
	uint64_t key = (uint64_t)family << 32 | usage->process;
	struct api_total total = { .family = family, .process = usage->process };
	uint32_t index = of->groups.row[row].total;

	if (index)
		return &of->sums.row[index - 1];
	index = map_get(&of->totals, key);
	if (index == MAP_NONE) {
		index = of->sums.count;
		if (!map_put(&of->totals, key, index) || !MODEL_PUSH(&of->sums, total))
			return NULL;
	}
	of->groups.row[row].total = index + 1;
	return &of->sums.row[index];
}

static bool wanted(const struct collection *of, const struct call *call)
{
	return call->function < of->model->functions.count &&
	       !of->model->functions.row[call->function].scope &&
	       analysis_has(call->start_ns, &of->window) &&
	       analysis_wants_process(of->model, of->options,
				      of->model->threads.row[call->thread].process);
}

static bool count_call(struct collection *of, const struct call *call)
{
	uint32_t process = of->model->threads.row[call->thread].process;
	uint32_t index = row_of(of, call->function, process);
	struct api_usage *usage;

	if (index == INDEX_NONE)
		return false;
	usage = &of->usages.row[index];
	usage->count++;
	usage->errors += (call->flags & MODEL_CALL_ERROR) != 0;
	usage->inner += (call->flags & MODEL_CALL_INNER) != 0;
	if (call->flags & MODEL_CALL_OPEN) {
		usage->open++;
		usage->open_ns += model_call_ns(of->model, call);
	} else if (call->flags & MODEL_CALL_LEFT) {
		usage->left++;
	} else if (call->flags & MODEL_CALL_ENTRY) {
		usage->end_unknown++;
	} else {
		of->groups.row[index].recorded++;
	}
	if (!(call->flags & MODEL_CALL_INNER)) {
		struct api_total *total = total_of(of, index);

		if (!total)
			return false;
		total->count++;
		total->unknown += (call->flags & MODEL_CALL_END_UNKNOWN) != 0;
		total->total_ns += model_call_ns(of->model, call);
	}
	return true;
}

/*
 * Calls below the minimum have no instants: they are counted for the whole session only. Whether
 * they were inside other calls is unknown, too, so they are left out of the runtimes' totals.
 */
static bool count_short_calls(struct collection *of)
{
	const struct trace_info *info = &of->model->info;

	if (of->window.from_ns > info->start_ns || of->window.to_ns < info->end_ns)
		return true;
	for (uint32_t i = 0; i < of->model->short_calls.count; i++) {
		const struct short_calls *from = &of->model->short_calls.row[i];
		uint64_t timed = from->count - from->unended;
		uint32_t index;

		if (!analysis_wants_process(of->model, of->options, from->process))
			continue;
		index = row_of(of, from->function, from->process);
		if (index == INDEX_NONE)
			return false;
		of->usages.row[index].count += from->count;
		of->usages.row[index].unrecorded += timed;
		of->usages.row[index].end_unknown += from->unended;
		of->groups.row[index].unrecorded_ns += probe_cost_short_ns(
			of->model, from->function, timed, from->total_ns);
	}
	return true;
}

static bool collect_durations(struct collection *of)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < of->groups.count; i++) {
		of->groups.row[i].first = all;
		all += of->groups.row[i].recorded;
		of->groups.row[i].recorded = 0;
	}
	of->ns = calloc(all + 1, sizeof(*of->ns));
	if (!of->ns)
		return false;
	for (uint32_t i = 0; i < of->model->calls.count; i++) {
		const struct call *call = &of->model->calls.row[i];
		struct group *group;

		if (call->flags & MODEL_CALL_NOT_RETURNED || !wanted(of, call))
			continue;
		group = &of->groups.row[row_of(of, call->function,
					       of->model->threads.row[call->thread].process)];
		of->ns[group->first + group->recorded++] = model_call_ns(of->model, call);
	}
	return true;
}

static int by_total(const void *a, const void *b)
{
	const struct api_usage *x = a, *y = b;
	uint64_t tx = x->durations.total_ns + x->open_ns, ty = y->durations.total_ns + y->open_ns;

	if (tx != ty)
		return tx > ty ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_sum(const void *a, const void *b)
{
	const struct api_total *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static bool analyse(struct collection *of)
{
	for (uint32_t i = 0; i < of->model->calls.count; i++) {
		if (wanted(of, &of->model->calls.row[i]) &&
		    !count_call(of, &of->model->calls.row[i]))
			return false;
	}
	if (!count_short_calls(of) || !collect_durations(of))
		return false;
	for (uint32_t i = 0; i < of->usages.count; i++) {
		const struct group *group = &of->groups.row[i];

		of->usages.row[i].durations = durations_of(of->ns + group->first, group->recorded,
							   of->usages.row[i].unrecorded,
							   group->unrecorded_ns);
	}
	if (of->usages.count)
		qsort(of->usages.row, of->usages.count, sizeof(*of->usages.row), by_total);
	if (of->sums.count)
		qsort(of->sums.row, of->sums.count, sizeof(*of->sums.row), by_sum);
	return true;
}

int api_analyse(const struct model *model, const struct analysis_options *options,
		struct api_results *results)
{
	struct collection of = {
		.model = model,
		.options = options,
		.window = analysis_window(model, options),
	};
	bool ok = function_rows_init(&of.rows, model->functions.count) && analyse(&of);

	results->rows = of.usages.row;
	results->row_count = ok ? of.usages.count : 0;
	results->totals = of.sums.row;
	results->total_count = ok ? of.sums.count : 0;
	function_rows_free(&of.rows);
	map_free(&of.totals);
	free(of.groups.row);
	free(of.ns);
	return ok ? 0 : -ENOMEM;
}

void api_free(struct api_results *results)
{
	free(results->rows);
	free(results->totals);
	*results = (struct api_results){ 0 };
}
