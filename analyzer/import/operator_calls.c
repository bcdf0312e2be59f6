/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/operator_calls.h"

#include <errno.h>

static void add_time(uint64_t *sum, uint64_t ns)
{
	if (*sum == UINT64_MAX || ns == UINT64_MAX || __builtin_add_overflow(*sum, ns, sum))
		*sum = UINT64_MAX;
}

static void add_call(struct operator_sum *sum, const struct operator_sum *call)
{
	sum->count++;
	add_time(&sum->total_ns, call->total_ns);
	add_time(&sum->self_ns, call->self_ns);
	add_time(&sum->host_ns, call->host_ns);
	add_time(&sum->host_self_ns, call->host_self_ns);
	if (sum->total_ns == UINT64_MAX) {
		sum->min_ns = sum->max_ns = UINT64_MAX;
		return;
	}
	sum->min_ns = call->total_ns < sum->min_ns ? call->total_ns : sum->min_ns;
	sum->max_ns = call->total_ns > sum->max_ns ? call->total_ns : sum->max_ns;
}

int operator_calls_add(struct operator_calls *calls, const struct operator_sum *call)
{
	struct model *model = calls->import->model;
	uint64_t key = (uint64_t)call->name << 32 | call->shapes;
	uint32_t row = map_get(&calls->sums, key);
	struct operator_sum first = *call;

	if (call->name == INDEX_NONE || call->type == INDEX_NONE || call->core == INDEX_NONE ||
	    call->shapes == INDEX_NONE)
		return -ENOMEM;
	if (row != MAP_NONE) {
		add_call(&model->operator_sums.row[row], call);
		return 0;
	}
	first.count = 1;
	first.min_ns = first.max_ns = call->total_ns;
	first.device = calls->device;
	first.file = calls->import->file;
	return MODEL_PUSH(&model->operator_sums, first) &&
			       map_put(&calls->sums, key, model->operator_sums.count - 1)
		       ? 0
		       : -ENOMEM;
}

void operator_calls_free(struct operator_calls *calls)
{
	map_free(&calls->sums);
}
