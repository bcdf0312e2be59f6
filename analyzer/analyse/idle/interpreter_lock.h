/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter_lock.h - sleeps for the lock of a CPython interpreter (GIL), and its holders.
 *
 * For each Python process the trace has the addresses at which threads sleep while they wait for the lock (Pythons of
 * proto/trace.proto): a condition variable, on which they sleep in slices of 5 ms; another one, on
 * which the last holder waits until another thread has taken the lock; and the mutexes of both.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_INTERPRETER_LOCK_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_INTERPRETER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct interpreter_locks;

/* interpreter_locks_new - NULL without memory; @model must outlive it */
struct interpreter_locks *interpreter_locks_new(const struct model *model);
void interpreter_locks_free(struct interpreter_locks *locks);

/* interpreter_locks_any - is the lock of any interpreter known? */
bool interpreter_locks_any(const struct interpreter_locks *locks);

/* interpreter_lock_is - is @object (index into sleep_objects, or INDEX_NONE) part of the thread's interpreter lock? */
bool interpreter_lock_is(const struct interpreter_locks *locks, uint32_t thread, uint32_t object);

/*
 * interpreter_lock_seen - returns another thread of @thread's process that samples saw with the lock
 *
 * The last one in [from_ns, to_ns); INDEX_NONE if there is none.
 */
uint32_t interpreter_lock_seen(const struct interpreter_locks *locks, uint32_t thread,
			       uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_INTERPRETER_LOCK_H */
