/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/calls/api_statistic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/launch/call_kind.h"

struct member {
	uint64_t ns;
	uint32_t function;
	uint32_t process;
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

/* Functions of several files, or lives of a process, may be the same API. */
static int by_api(const void *a, const void *b, void *context)
{
	const struct model *model = context;
	const struct member *x = a, *y = b;
	const struct function *f = &model->functions.row[x->function];
	const struct function *g = &model->functions.row[y->function];

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (f->runtime != g->runtime)
		return f->runtime < g->runtime ? -1 : 1;
	return f->name < g->name ? -1 : f->name > g->name;
}

static uint32_t collect(const struct model *model, const struct analysis_options *options,
			struct member *members)
{
	struct analysis_window window = analysis_window(model, options);
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint32_t process;

		if (!call_is_runtime(model, call) || call->flags & MODEL_CALL_NOT_RETURNED ||
		    call->start_ns < window.from_ns || call->start_ns >= window.to_ns ||
		    call->thread >= model->threads.count)
			continue;
		process = model->threads.row[call->thread].process;
		if (analysis_wants_process(model, options, process))
			members[count++] = (struct member){ model_call_ns(model, call),
							    call->function, process };
	}
	return count;
}

/* The calls of one API: mean first, then what they differ from it. */
static struct api_statistic_row sum_up(const struct model *model, const struct member *members,
				       uint32_t count)
{
	const struct function *function = &model->functions.row[members[0].function];
	struct api_statistic_row row = { .level = api_level(model, function),
					 .name = function->name,
					 .process = members[0].process,
					 .file = INDEX_NONE,
					 .count = count,
					 .min_ns = members[0].ns };
	double mean;

	for (uint32_t i = 0; i < count; i++) {
		row.total_ns += members[i].ns;
		if (members[i].ns < row.min_ns)
			row.min_ns = members[i].ns;
		if (members[i].ns > row.max_ns)
			row.max_ns = members[i].ns;
	}
	mean = (double)row.total_ns / count;
	for (uint32_t i = 0; i < count; i++) {
		double difference = ((double)members[i].ns - mean) / 1000;

		row.variance += difference * difference / count;
	}
	return row;
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

int api_statistic_analyse(const struct model *model, const struct analysis_options *options,
			  struct api_statistic_results *results)
{
	struct member *members = calloc((size_t)model->calls.count + 1, sizeof(*members));
	uint32_t count, different = 0;

	*results = (struct api_statistic_results){ 0 };
	if (!members)
		return -ENOMEM;
	count = collect(model, options, members);
	qsort_r(members, count, sizeof(*members), by_api, (void *)model);
	for (uint32_t i = 0; i < count; i++)
		different += i == 0 || by_api(&members[i - 1], &members[i], (void *)model);
	results->rows =
		calloc((size_t)different + model->api_statistics.count + 1, sizeof(*results->rows));
	for (uint32_t first = 0, end; results->rows && first < count; first = end) {
		for (end = first;
		     end < count && !by_api(&members[first], &members[end], (void *)model);)
			end++;
		results->rows[results->count++] = sum_up(model, members + first, end - first);
	}
	free(members);
	if (!results->rows)
		return -ENOMEM;
	add_files(model, results);
	if (results->count)
		qsort(results->rows, results->count, sizeof(*results->rows), by_total);
	return 0;
}

void api_statistic_free(struct api_statistic_results *results)
{
	free(results->rows);
	*results = (struct api_statistic_results){ 0 };
}
