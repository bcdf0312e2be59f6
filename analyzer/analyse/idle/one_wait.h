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
 * No more than that part of what a thread really did between two waits can be taken for waiting.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H

#include <stdint.h>

#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/model/model.h"

#define LOOK_NS 50000
#define LOOK_PART 8

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

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_ONE_WAIT_H */
