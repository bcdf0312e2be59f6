/* SPDX-License-Identifier: Apache-2.0 */
/* operator_calls.h - sums by name and shapes, for files that list each call of an operator without its instant. */
#ifndef PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H
#define PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/* The sums of one device. All members not set by the caller are zero. */
struct operator_calls {
	struct import *import;
	uint32_t device; /* row; INDEX_NONE = unknown */
	struct map sums; /* strings of name and shapes -> row of model->operator_sums */
};

/* A call without known times. */
#define OPERATOR_CALL_UNKNOWN                                                                     \
	{                                                                                        \
		.count = 1, .total_ns = UINT64_MAX, .min_ns = UINT64_MAX, .max_ns = UINT64_MAX,   \
		.self_ns = UINT64_MAX, .host_ns = UINT64_MAX, .host_self_ns = UINT64_MAX          \
	}

/*
 * operator_calls_add - adds one call: names, shapes and times of @call; its total is its duration
 *
 * A value that is unknown for one call is unknown for the sum. Type and core are those of the first call of a name
 * and shapes. Returns 0 or -ENOMEM.
 */
int operator_calls_add(struct operator_calls *calls, const struct operator_sum *call);

void operator_calls_free(struct operator_calls *calls);

#endif /* PROFBPF_ANALYZER_IMPORT_OPERATOR_CALLS_H */
