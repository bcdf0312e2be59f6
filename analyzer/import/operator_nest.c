/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/operator_nest.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t sum_of(uint64_t one_ns, uint64_t other_ns)
{
	uint64_t ns;

	if (one_ns == UINT64_MAX || other_ns == UINT64_MAX ||
	    __builtin_add_overflow(one_ns, other_ns, &ns))
		return UINT64_MAX;
	return ns;
}

static int end_last(struct operator_nest *nest)
{
	struct nested_call *last = &nest->open.row[--nest->open.count];
	struct operator_sum *sum = &last->sum;

	sum->host_ns = (uint64_t)last->dur_ns;
	sum->host_self_ns = sum->host_ns > last->inner_ns ? sum->host_ns - last->inner_ns : 0;
	sum->total_ns = sum_of(sum->self_ns, last->inner_device_ns);
	if (nest->open.count) {
		struct nested_call *outer = &nest->open.row[nest->open.count - 1];

		outer->inner_ns += sum->host_ns;
		outer->inner_device_ns = sum_of(outer->inner_device_ns, sum->total_ns);
	}
	return nest->ended(nest->context, sum);
}

static bool is_within(const struct nested_call *outer, const struct nested_call *call)
{
	int64_t end_ns;

	return outer->pid == call->pid && outer->tid == call->tid &&
	       !__builtin_add_overflow(outer->start_ns, outer->dur_ns, &end_ns) &&
	       call->start_ns < end_ns;
}

int operator_nest_add(struct operator_nest *nest, const struct nested_call *call)
{
	int err = 0;

	while (nest->open.count && !err &&
	       !is_within(&nest->open.row[nest->open.count - 1], call))
		err = end_last(nest);
	if (err)
		return err;
	return MODEL_PUSH(&nest->open, *call) ? 0 : -ENOMEM;
}

int operator_nest_finish(struct operator_nest *nest, int err)
{
	while (nest->open.count && !err)
		err = end_last(nest);
	free(nest->open.row);
	return err;
}
