/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/host_operators.h"

#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"

/* By function: does it run a kernel of MindSpore's CPU back end? */
static bool *find_functions(const struct model *model)
{
	bool *runs = calloc((size_t)model->functions.count + 1, sizeof(*runs));

	for (uint32_t i = 0; runs && i < model->functions.count; i++) {
		const struct function *function = &model->functions.row[i];

		runs[i] = function->kind == PROFBPF__FUNCTION__KIND__LAUNCH &&
			  strcmp(model_text(model, function->runtime), "mindspore") == 0;
	}
	return runs;
}

static bool is_operator(const struct model *model, const struct call *call, const bool *runs,
			const bool *chosen)
{
	return call->function < model->functions.count && runs[call->function] && call->text &&
	       !(call->flags & MODEL_CALL_NOT_RETURNED) && call->thread < model->threads.count &&
	       (!chosen || chosen[call->thread]);
}

uint32_t host_operator_process(const struct model *model, uint32_t call)
{
	uint32_t thread = model->calls.row[call].thread;

	return thread < model->threads.count ? model->threads.row[thread].process : INDEX_NONE;
}

static int by_thread(const void *a, const void *b, void *context)
{
	const struct model *model = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t p = host_operator_process(model, x), q = host_operator_process(model, y);
	const struct call *c = &model->calls.row[x], *d = &model->calls.row[y];

	if (p != q)
		return p < q ? -1 : 1;
	if (c->thread != d->thread)
		return c->thread < d->thread ? -1 : 1;
	if (c->start_ns != d->start_ns)
		return c->start_ns < d->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint32_t *host_operators(const struct model *model, const bool *chosen, uint32_t *count)
{
	bool *runs = find_functions(model);
	uint32_t *rows;

	*count = 0;
	for (uint32_t i = 0; runs && i < model->calls.count; i++)
		*count += is_operator(model, &model->calls.row[i], runs, chosen);
	rows = runs ? malloc(((size_t)*count + 1) * sizeof(*rows)) : NULL;
	*count = 0;
	for (uint32_t i = 0; rows && i < model->calls.count; i++) {
		if (is_operator(model, &model->calls.row[i], runs, chosen))
			rows[(*count)++] = i;
	}
	free(runs);
	if (rows && *count)
		qsort_r(rows, *count, sizeof(*rows), by_thread, (void *)model);
	return rows;
}
