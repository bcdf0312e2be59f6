/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_batch.h - rows of one kind as the columns of one message; part of trace_builder.
 */
#ifndef PROFBPF_TESTS_UNIT_TRACE_BATCH_H
#define PROFBPF_TESTS_UNIT_TRACE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

#define TRACE_COLUMNS 16

/* Rows waiting to become one batch: each a value per column, as the message orders them. */
struct trace_batch {
	Profbpf__Packet__Kind kind;
	uint32_t key; /* CPU or device */
	uint64_t (*rows)[TRACE_COLUMNS];
	size_t count;
	size_t capacity;
};

typedef void trace_put_fn(void *context, Profbpf__Packet__Kind kind, const void *message);

/* Encode the columns (deltas where the format wants them) and hand the message to @put. */
void trace_batch_put(const struct trace_batch *batch, trace_put_fn *put, void *context);

/* Ends the test for want of memory if @pointer is NULL; else returns it. */
void *trace_must(void *pointer);

#endif /* PROFBPF_TESTS_UNIT_TRACE_BATCH_H */
