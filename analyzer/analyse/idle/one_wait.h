/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_wait.h - consecutive sleeps of a thread that form one wait.
 *
 * A thread that waits for a lock or for descriptors may be woken, find nothing to do yet,
 * and sleep again: after timeouts that are only slices of a wait (CPython's interpreter lock,
 * 5 ms each), broadcasts of condition variables, or if another thread took the lock first. The waker of
 * the last of these sleeps is what the thread waited for.
 *
 * Two sleeps are one wait if both are in the same system call, of the classes SYSCALL_LOCK and
 * SYSCALL_POLL, for the same object (for a condition variable also its other word), a thread or a timer ended
 * the first one, and in between the thread was on a CPU for at most LOOK_NS and at most a LOOK_PART-th of
 * the first sleep, began neither a traced call nor an ioctl, and woke no thread but those that wait
 * for the same object: a pipeline stage that hands its item on within microseconds then waits for the next item.
 * So at most that part of the work between two waits can be counted as waiting by mistake.
 * A poll of several descriptors that timed out is not recorded with the descriptor that is ready at last: its next sleep
 * is for the same object, whatever its own one is.
 * If rows of only a part of the time were loaded, a wait that continues after them ends with its last sleep in them.
 * If the recording ended during the last slice, and a timer ended the one before, the wait ends with that one.
 * After a slice that a timer ended, a thread has nothing to hand on: a thread that it wakes then waits for the mutex
 * next to its futex, up to FUTEX_BESIDE bytes away, and the same wait continues.
 *
 * Sleeps for the lock of a CPython interpreter (interpreter_lock.h) with at most LOOK_NS on a CPU in between are one
 * wait, up to the first sleep on the condition variable that a thread ended: that thread released the lock. If a timer
 * ended the last sleep, the lock was free by then. Its last holder is the thread that waits until the lock is taken
 * over, or that wants it back at once; else the thread last seen with it during that sleep.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/model/model.h"

#define LOOK_NS 50000
#define LOOK_PART 8
#define FUTEX_BESIDE 128

struct waits;

/*
 * waits_new - finds all waits, in time linear in the number of spans, apart from sorting wake-ups
 *
 * NULL without memory. The arguments must outlive the result.
 */
struct waits *waits_new(const struct model *model, struct syscall_table *syscalls);
void waits_free(struct waits *waits);

/*
 * wait_end - returns the last sleep of the wait that a span belongs to
 *
 * @span: index into model->spans. A single sleep is its own last sleep; a span between two sleeps of a wait
 * belongs to the wait; INDEX_NONE for all other spans.
 */
uint32_t wait_end(const struct waits *waits, uint32_t span);

/* wait_interpreter - is @end, the last sleep of a wait of @thread, a sleep for the lock of its interpreter? */
bool wait_interpreter(const struct waits *waits, uint32_t thread, uint32_t end);

/* wait_holder - returns the thread that held that lock; INDEX_NONE = not known */
uint32_t wait_holder(const struct waits *waits, uint32_t end);

/* wait_polled - returns the thread for whose work @thread polls in the sleep @end (polls.h); INDEX_NONE = not known */
uint32_t wait_polled(const struct waits *waits, uint32_t thread, uint32_t end);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H */
