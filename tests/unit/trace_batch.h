/* SPDX-License-Identifier: Apache-2.0 */
/* trace_batch.h - turns rows of one kind into the columns of one message; part of trace_builder. */
#ifndef PROFBPF_TESTS_UNIT_TRACE_BATCH_H
#define PROFBPF_TESTS_UNIT_TRACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

#define TRACE_COLUMNS 16

/* Rows of the next batch: each has a value per column, in the message's order of columns. */
struct trace_batch {
	Profbpf__Packet__Kind kind;
	uint32_t key; /* CPU or device */
	uint64_t (*rows)[TRACE_COLUMNS];
	size_t count;
	size_t capacity;
};

typedef void trace_put_fn(void *context, Profbpf__Packet__Kind kind, const void *message);

/* Encodes the columns (as deltas where the format requires it) and passes the message to @put. */
void trace_batch_put(const struct trace_batch *batch, trace_put_fn *put, void *context);

/* Returns @pointer; if it is NULL, ends the test because memory ran out. */
void *trace_must(void *pointer);

#endif /* PROFBPF_TESTS_UNIT_TRACE_BATCH_H */
