/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_nest.h - self times of operators' calls that may be nested.
 *
 * Computes for each call the host time without nested calls, and the device time of the call and its nested calls
 * together.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H
#define PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H

#include <stdint.h>

#include "analyzer/model/model.h"

/* One call. The caller sets the members before inner_ns. */
struct nested_call {
	uint32_t pid;
	uint64_t tid;
	int64_t start_ns;
	int64_t dur_ns; /* 0 or more */
	struct operator_sum sum; /* names, and self_ns: device time of its own launches, UINT64_MAX = unknown */
	uint64_t inner_ns; /* host time of calls nested in it */
	uint64_t inner_device_ns; /* UINT64_MAX = unknown */
};

struct operator_nest {
	/* Called with the complete sum of each call that has ended. Returns 0 or a negative errno. */
	int (*ended)(void *context, const struct operator_sum *sum);
	void *context;
	MODEL_ARRAY(struct nested_call) open; /* private */
};

/*
 * operator_nest_add - adds a call
 *
 * The caller sorts calls by process, thread and start, outer calls first. Returns 0, -ENOMEM or the error of
 * ended().
 */
int operator_nest_add(struct operator_nest *nest, const struct nested_call *call);

/* operator_nest_finish - ends all open calls if @err is 0, and frees. Returns @err, or as operator_nest_add(). */
int operator_nest_finish(struct operator_nest *nest, int err);

#endif /* PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H */
