/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_nest.h - calls of operators whose times are told, some of them within others.
 *
 * What those within one took is not its own: of each call the host's time without them is found, and on the device
 * its own and theirs together.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H
#define PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H

#include <stdint.h>

#include "analyzer/model/model.h"

/* One call. The caller sets what is before inner_ns. */
struct nested_call {
	uint32_t pid;
	uint64_t tid;
	int64_t start_ns;
	int64_t dur_ns; /* 0 or more */
	struct operator_sum sum; /* names, and self_ns: what it launched itself, UINT64_MAX = unknown */
	uint64_t inner_ns; /* of calls within it, on the host */
	uint64_t inner_device_ns; /* UINT64_MAX = unknown */
};

struct operator_nest {
	/* Is given each call's sum, complete, when it has ended. Returns 0 or a negative errno. */
	int (*ended)(void *context, const struct operator_sum *sum);
	void *context;
	MODEL_ARRAY(struct nested_call) open; /* private */
};

/*
 * operator_nest_add - one more call
 *
 * Calls come by process, thread and begin, outer ones first. Returns 0, -ENOMEM or what ended() says.
 */
int operator_nest_add(struct operator_nest *nest, const struct nested_call *call);

/* operator_nest_finish - end what has not ended if @err is 0, and free. Returns @err, or as operator_nest_add(). */
int operator_nest_finish(struct operator_nest *nest, int err);

#endif /* PROFBPF_ANALYZER_IMPORT_OPERATOR_NEST_H */
