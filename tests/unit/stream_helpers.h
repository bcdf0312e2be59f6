/* SPDX-License-Identifier: Apache-2.0 */
/* stream_helpers.h - functions shared by the tests of device streams. */
#ifndef PROFBPF_TESTS_STREAM_HELPERS_H
#define PROFBPF_TESTS_STREAM_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_stream.h"
#include "device/stream_writer.h"

#define SLOTS 64u

static char error[256];

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline struct device_stream *open_stream(pid_t pid)
{
	struct device_stream *stream = NULL;
	int result = device_stream_open(pid, NULL, 0, &stream, error, sizeof(error));

	if (result < 0)
		fail_msg("device_stream_open: %d %s", result, error);
	device_stream_renew(stream, now_ns());
	return stream;
}

/* Accepts and ends one task, whose values are derived from its number. */
static inline uint64_t put(struct stream_writer *writer, uint32_t name)
{
	uint64_t number = stream_writer_begin(writer);
	struct stream_task task = {
		.queued_ns = number * 10,
		.submit_ns = number * 10 + 1,
		.start_ns = number * 10 + 2,
		.end_ns = number * 10 + 3,
		.enqueue_ns = number * 10 + 4,
		.enqueue_dur_ns = number * 10 + 5,
		.stream = number * 10 + 6,
		.bytes = number * 10 + 7,
		.correlation = number,
		.tid = stream_writer_tid(writer),
		.name = name,
		.kind = STREAM_KERNEL,
		.status = -(int32_t)(number % 100),
	};

	stream_writer_put(writer, &task);
	return number;
}

/* Checks that all fields belong to the same task. */
static inline void assert_whole(const struct stream_task *task)
{
	uint64_t n = task->correlation * 10;

	assert_int_equal(task->queued_ns, n);
	assert_int_equal(task->submit_ns, n + 1);
	assert_int_equal(task->start_ns, n + 2);
	assert_int_equal(task->end_ns, n + 3);
	assert_int_equal(task->enqueue_ns, n + 4);
	assert_int_equal(task->enqueue_dur_ns, n + 5);
	assert_int_equal(task->stream, n + 6);
	assert_int_equal(task->bytes, n + 7);
	assert_int_equal(task->kind, STREAM_KERNEL);
	assert_int_equal(task->status, -(int32_t)(task->correlation % 100));
}

static inline struct device_stream_counts counts_of(const struct device_stream *stream)
{
	struct device_stream_counts counts;

	device_stream_count(stream, &counts);
	assert_int_equal(counts.produced, counts.delivered + counts.lost + counts.pending);
	return counts;
}

#endif /* PROFBPF_TESTS_STREAM_HELPERS_H */
