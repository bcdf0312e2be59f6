/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_calls.h - files that tell each call of an operator, but not when it was, as sums by name and shapes.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H
#define PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/* Those of one device. Zeroed but for what is named here. */
struct operator_calls {
	struct import *import;
	uint32_t device; /* row; INDEX_NONE = unknown */
	struct map sums; /* strings of name and shapes -> row of model->operator_sums */
};

/* A call of which no time is known. */
#define OPERATOR_CALL_UNKNOWN                                                                     \
	{                                                                                        \
		.count = 1, .total_ns = UINT64_MAX, .min_ns = UINT64_MAX, .max_ns = UINT64_MAX,   \
		.self_ns = UINT64_MAX, .host_ns = UINT64_MAX, .host_self_ns = UINT64_MAX          \
	}

/*
 * operator_calls_add - one more call: strings and times of @call, whose total is its own
 *
 * What is unknown of one call is unknown of the sum. The first call of a name and shapes tells type and core.
 * Returns 0 or -ENOMEM.
 */
int operator_calls_add(struct operator_calls *calls, const struct operator_sum *call);

void operator_calls_free(struct operator_calls *calls);

#endif /* PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H */
