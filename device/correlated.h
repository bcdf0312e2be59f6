/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlated.h - joins tasks to the calls that caused them, for profilers that tell of both apart,
 * with the same number.
 *
 * They come in any order, usually in the same delivery. The latest CORRELATED_CALLS calls
 * are kept, since a graph's launch causes any number of tasks; tasks that come before
 * their call wait. There is one set of them in a process. Any thread may call.
 */
#ifndef PROFBPF_DEVICE_CORRELATED_H
#define PROFBPF_DEVICE_CORRELATED_H

#include <stdbool.h>
#include <stdint.h>

#include "device/stream_writer.h"

#define CORRELATED_CALLS 262144u /* a power of two */
#define CORRELATED_WAITING 65536u
#define CORRELATED_PATIENCE 10 /* calls of correlated_settle() */

/*
 * A call of thread tid (0: nobody knows) from start_ns, CLOCK_MONOTONIC, on. Of several
 * of one number, which lie within each other, the first to begin counts.
 */
void correlated_call(uint64_t number, uint32_t tid, uint64_t start_ns, uint64_t dur_ns);

/*
 * Writes a task that is complete but for its call, now or when the call is known.
 * Counts it as begun; where it has no times, or device is below 0, as untimed.
 */
void correlated_task(struct stream_writer *writer, struct stream_task *task, int device,
		     uint64_t number);

/* Writes the tasks that waited long enough, or whose call has come; all of them if last. */
void correlated_settle(struct stream_writer *writer, bool last);

#endif /* PROFBPF_DEVICE_CORRELATED_H */
