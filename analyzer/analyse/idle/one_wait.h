/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_wait.h - which sleeps of a thread are one wait.
 *
 * A thread that waits for a lock or for descriptors may be woken, see that there is nothing
 * for it yet, and sleep again: timeouts that are only slices of a wait (CPython's interpreter lock,
 * 5 ms each), broadcasts of condition variables, locks that somebody else took meanwhile. What ended
 * the last of these sleeps is what it waited for.
 *
 * Two sleeps are one wait if both are in the same system call, of the classes SYSCALL_LOCK and
 * SYSCALL_POLL, for the same object (of a condition variable also for its other word), the first one
 * was ended by a thread or a timer, and in between the thread was on a CPU for at most LOOK_NS, at most a
 * LOOK_PART-th of the sleep before, began neither a traced call nor an ioctl, and woke nobody but who waits
 * for the same object: a stage that hands its item on within microseconds waits for the next one after that.
 * Where only rows of a part of the time were loaded, a wait that goes on after them ends with its last sleep in them.
 * No more than that part of what a thread really did between two waits can be taken for waiting.
 * After a slice that a timer ended a thread has nothing to hand on: whom it wakes then waits for the mutex beside
 * what it sleeps on itself, up to FUTEX_BESIDE bytes away, and the same wait goes on there.
 *
 * Of the lock of a CPython interpreter (interpreter_lock.h) all sleeps that follow each other are one wait, with at
 * most LOOK_NS on a CPU in between, up to the first one on its condition variable that a thread ended: that one gave it up
 * then. Where a timer ended the last of them, it was free by then. Who had it waits until the thread has taken it, or wants
 * it back at once; else who was seen with it last in that time had it.
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

/* waits_new - find them; linear in the number of spans, but for sorting wake-ups. NULL without memory. Arguments must outlive it. */
struct waits *waits_new(const struct model *model, struct syscall_table *syscalls);
void waits_free(struct waits *waits);

/*
 * wait_end - the last sleep of the wait that a span belongs to
 *
 * @span: index into model->spans. For a sleep that stands alone itself; for a look in between the
 * wait's last sleep as well; INDEX_NONE for all else.
 */
uint32_t wait_end(const struct waits *waits, uint32_t span);

/* wait_interpreter - is the sleep that ends a wait, by a thread, one for the lock of its interpreter? */
bool wait_interpreter(const struct waits *waits, uint32_t thread, uint32_t end);

/* wait_holder - the thread that had that lock; INDEX_NONE = not known */
uint32_t wait_holder(const struct waits *waits, uint32_t end);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H */
