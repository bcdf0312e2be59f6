/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlated.h - joins tasks to the calls that caused them, for profilers that report both separately,
 * with the same number.
 *
 * Tasks and calls come in any order, usually in the same delivery. The latest CORRELATED_CALLS
 * calls are kept, since the launch of a graph may cause any number of tasks; tasks that come before
 * their call wait. The state is global in the process. Any thread may call.
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
 * Adds a call of thread tid (0: not known) that began at start_ns, CLOCK_MONOTONIC. If nested
 * calls have the same number, the outermost, which begins first, is used.
 */
void correlated_call(uint64_t number, uint32_t tid, uint64_t start_ns, uint64_t dur_ns);

/*
 * Writes a task that is complete except for its call, now or when the call is known.
 * Counts it as begun; without times, or if device is below 0, as untimed.
 */
void correlated_task(struct stream_writer *writer, struct stream_task *task, int device,
		     uint64_t number);

/* Writes the tasks whose call has come or that waited CORRELATED_PATIENCE times; all tasks if last. */
void correlated_settle(struct stream_writer *writer, bool last);

#endif /* PROFBPF_DEVICE_CORRELATED_H */
