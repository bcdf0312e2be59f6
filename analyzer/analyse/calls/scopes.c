/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/scopes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/model/step_names.h"
#include "lib/base/map.h"

/* An open scope or call; calls that are not counted have no row. */
struct open {
	const struct call *call;
	uint32_t row;
	uint64_t inner_ns;
};

struct collection {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	struct scope_results *results;
	struct map rows; /* function << 32 | process */
	MODEL_ARRAY(struct open) open;
};

const char *scope_name(uint8_t scope)
{
	static const char *const NAMES[SCOPES] = {
		[SCOPE_LIBRARY] = "library",   [SCOPE_OPERATOR] = "operator",
		[SCOPE_PYTHON] = "python",     [SCOPE_RANGE] = "range",
		[SCOPE_MODULE] = "module",     [SCOPE_OPTIMIZER] = "optimizer",
		[SCOPE_DATA] = "data loader",
	};

	return scope < SCOPES ? NAMES[scope] : NULL;
}

/* *@row is INDEX_NONE for calls that are not counted. Returns false without memory. */
static bool find_row(struct collection *of, const struct call *call, uint32_t *row)
{
	const struct model *model = of->model;
	const struct function *function = &model->functions.row[call->function];
	uint32_t process = model->threads.row[call->thread].process;
	uint64_t key = (uint64_t)call->function << 32 | process, number;
	struct scope_usage usage = { .function = call->function,
				     .process = process,
				     .min_ns = UINT64_MAX };

	*row = INDEX_NONE;
	if (!function->scope || step_name_of(model_text(model, function->name), &number) ||
	    !analysis_has(call->start_ns, &of->window) ||
	    !analysis_wants_process(model, of->options, process))
		return true;
	*row = map_get(&of->rows, key);
	if (*row != MAP_NONE)
		return true;
	*row = of->results->count;
	return map_put(&of->rows, key, *row) && MODEL_PUSH(of->results, usage);
}

static void close_scope(struct collection *of)
{
	struct open last = of->open.row[--of->open.count];
	uint64_t ns = last.call->end_ns - last.call->start_ns;
	struct scope_usage *usage;

	if (of->open.count)
		of->open.row[of->open.count - 1].inner_ns += ns;
	if (last.row == INDEX_NONE)
		return;
	usage = &of->results->row[last.row];
	usage->count++;
	usage->self_ns += ns > last.inner_ns ? ns - last.inner_ns : 0;
	usage->min_ns = ns < usage->min_ns ? ns : usage->min_ns;
	usage->max_ns = ns > usage->max_ns ? ns : usage->max_ns;
	if (--usage->open == 0)
		usage->total_ns += ns;
}

static bool add_thread(struct collection *of, uint32_t thread)
{
	const struct model *model = of->model;
	uint32_t first, count = model_thread_calls(model, thread, &first);

	for (uint32_t i = first; i < first + count; i++) {
		struct open open = { .call = &model->calls.row[i] };

		if (open.call->function >= model->functions.count ||
		    open.call->end_ns < open.call->start_ns)
			continue;
		while (of->open.count && of->open.row[of->open.count - 1].call->end_ns <=
						 open.call->start_ns)
			close_scope(of);
		if (!find_row(of, open.call, &open.row) || !MODEL_PUSH(&of->open, open))
			return false;
		if (open.row != INDEX_NONE)
			of->results->row[open.row].open++;
	}
	while (of->open.count)
		close_scope(of);
	return true;
}

static int by_total(const void *a, const void *b)
{
	const struct scope_usage *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static bool any_scope(const struct model *model)
{
	for (uint32_t i = 0; i < model->functions.count; i++)
		if (model->functions.row[i].scope)
			return true;
	return false;
}

int scopes_analyse(const struct model *model, const struct analysis_options *options,
		   struct scope_results *results)
{
	struct collection of = { .model = model,
				 .options = options,
				 .window = analysis_window(model, options),
				 .results = results };
	bool ok = true;

	*results = (struct scope_results){ 0 };
	for (uint32_t i = 0; any_scope(model) && i < model->threads.count && ok; i++)
		ok = add_thread(&of, i);
	if (ok && results->count)
		qsort(results->row, results->count, sizeof(*results->row), by_total);
	map_free(&of.rows);
	free(of.open.row);
	return ok ? 0 : -ENOMEM;
}

void scopes_free(struct scope_results *results)
{
	free(results->row);
	*results = (struct scope_results){ 0 };
}
