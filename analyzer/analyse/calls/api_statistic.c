/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/api_statistic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/calls/function_rows.h"
#include "analyzer/join/launch/call_kind.h"

/* The calls of one API of a process. */
struct sum {
	struct api_statistic_row row;
	uint32_t runtime; /* string */
	double mean; /* microseconds */
};

struct summing {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	uint32_t *api; /* by function: the first function with its runtime and name */
	struct function_rows rows; /* rows of these functions, in sums */
	MODEL_ARRAY(struct sum) sums;
	bool no_memory;
};

const char *api_level(const struct model *model, const struct function *function)
{
	static const struct {
		const char *runtime;
		const char *level;
	} LEVELS[] = {
		{ "acl", "AscendCL" }, { "cann_runtime", "Runtime" }, { "runtime", "Runtime" },
		{ "node", "Node" },    { "model", "Model" },	      { "hccl", "Communication" },
	};
	const char *runtime = model_text(model, function->runtime);

	for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
		if (strcasecmp(LEVELS[i].runtime, runtime) == 0)
			return LEVELS[i].level;
	}
	return runtime;
}

/* Functions with the same runtime and name in several files are one API. */
static uint32_t *find_apis(const struct model *model)
{
	uint32_t *api = calloc((size_t)model->functions.count + 1, sizeof(*api));
	struct map known = { 0 };
	bool ok = api != NULL;

	for (uint32_t i = 0; ok && i < model->functions.count; i++) {
		const struct function *function = &model->functions.row[i];
		uint64_t key = (uint64_t)function->runtime << 32 | function->name;

		api[i] = map_get(&known, key);
		if (api[i] != MAP_NONE)
			continue;
		api[i] = i;
		ok = map_put(&known, key, i);
	}
	map_free(&known);
	if (!ok) {
		free(api);
		api = NULL;
	}
	return api;
}

static bool wanted(const struct summing *of, const struct call *call)
{
	return call_is_runtime(of->model, call) && !(call->flags & MODEL_CALL_NOT_RETURNED) &&
	       analysis_has(call->start_ns, &of->window) &&
	       call->thread < of->model->threads.count &&
	       analysis_wants_process(of->model, of->options,
				      of->model->threads.row[call->thread].process);
}

/* Returns NULL if the call is not selected, or without memory. */
static struct sum *sum_of(struct summing *of, const struct call *call)
{
	const struct model *model = of->model;
	const struct function *function;
	uint32_t process, api, index;
	struct sum new;

	if (!wanted(of, call))
		return NULL;
	process = model->threads.row[call->thread].process;
	api = of->api[call->function];
	index = function_rows_get(&of->rows, api, process);
	if (index != INDEX_NONE)
		return &of->sums.row[index];
	function = &model->functions.row[api];
	new = (struct sum){ .runtime = function->runtime,
			    .row = { .level = api_level(model, function),
				     .name = function->name,
				     .process = process,
				     .file = INDEX_NONE,
				     .min_ns = UINT64_MAX } };
	index = of->sums.count;
	if (!function_rows_put(&of->rows, api, process, index) || !MODEL_PUSH(&of->sums, new)) {
		of->no_memory = true;
		return NULL;
	}
	return &of->sums.row[index];
}

/* Computes means first, then the calls' squared differences from them. */
static void sum_up(struct summing *of)
{
	const struct model *model = of->model;

	for (uint32_t i = 0; i < model->calls.count && !of->no_memory; i++) {
		struct sum *sum = sum_of(of, &model->calls.row[i]);
		uint64_t ns = sum ? model_call_ns(model, &model->calls.row[i]) : 0;

		if (!sum)
			continue;
		sum->row.count++;
		sum->row.total_ns += ns;
		sum->row.min_ns = ns < sum->row.min_ns ? ns : sum->row.min_ns;
		sum->row.max_ns = ns > sum->row.max_ns ? ns : sum->row.max_ns;
	}
	for (uint32_t i = 0; i < of->sums.count; i++)
		of->sums.row[i].mean = (double)of->sums.row[i].row.total_ns /
				       (double)of->sums.row[i].row.count;
	for (uint32_t i = 0; i < model->calls.count && !of->no_memory; i++) {
		struct sum *sum = sum_of(of, &model->calls.row[i]);
		double difference;

		if (!sum)
			continue;
		difference = ((double)model_call_ns(model, &model->calls.row[i]) - sum->mean) / 1000;
		sum->row.variance += difference * difference / (double)sum->row.count;
	}
}

/* The order of rows with equal totals. */
static int by_api(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->row.process != y->row.process)
		return x->row.process < y->row.process ? -1 : 1;
	if (x->runtime != y->runtime)
		return x->runtime < y->runtime ? -1 : 1;
	return x->row.name < y->row.name ? -1 : x->row.name > y->row.name;
}

static int by_total(const void *a, const void *b)
{
	const struct api_statistic_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void add_files(const struct model *model, struct api_statistic_results *results)
{
	for (uint32_t i = 0; i < model->api_statistics.count; i++) {
		const struct api_statistic *from = &model->api_statistics.row[i];

		results->rows[results->count++] =
			(struct api_statistic_row){ .level = model_text(model, from->level),
						    .name = from->name,
						    .process = INDEX_NONE,
						    .file = from->file,
						    .count = from->count,
						    .total_ns = from->total_ns,
						    .min_ns = from->min_ns,
						    .max_ns = from->max_ns,
						    .variance = from->variance };
	}
}

static bool hand_over(struct summing *of, struct api_statistic_results *results)
{
	uint32_t count = of->sums.count;

	results->rows = calloc((size_t)count + of->model->api_statistics.count + 1,
			       sizeof(*results->rows));
	if (!results->rows)
		return false;
	if (count)
		qsort(of->sums.row, count, sizeof(*of->sums.row), by_api);
	for (uint32_t i = 0; i < count; i++)
		results->rows[results->count++] = of->sums.row[i].row;
	add_files(of->model, results);
	if (results->count)
		qsort(results->rows, results->count, sizeof(*results->rows), by_total);
	return true;
}

int api_statistic_analyse(const struct model *model, const struct analysis_options *options,
			  struct api_statistic_results *results)
{
	struct summing of = { .model = model,
			      .options = options,
			      .window = analysis_window(model, options),
			      .api = find_apis(model) };
	bool ok = of.api && function_rows_init(&of.rows, model->functions.count);

	*results = (struct api_statistic_results){ 0 };
	if (ok)
		sum_up(&of);
	ok = ok && !of.no_memory && hand_over(&of, results);
	free(of.api);
	function_rows_free(&of.rows);
	free(of.sums.row);
	return ok ? 0 : -ENOMEM;
}

void api_statistic_free(struct api_statistic_results *results)
{
	free(results->rows);
	*results = (struct api_statistic_results){ 0 };
}
