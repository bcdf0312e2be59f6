/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_turns.h - finds threads that do the same work one after the other, as under a lock.
 *
 * Two threads of a process take turns if each of them ended TURNS_MIN sleeps of the other or more, in system calls for
 * locks, a part of each one's time that is worth mentioning; if they seldom run at once, as threads of a pool do that
 * hand work to each other or meet at a barrier; and if either the last of these sleeps were for the same futex, or the
 * threads have names of one pool, which differ in digits only (virtual machines wait on a futex for each thread). A main
 * thread takes no turns with its workers, and two stages of a pipeline wait for different things: for an item, and for
 * room.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_LOCK_TURNS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_LOCK_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define TURNS_MIN 3
#define TURNS_SHARE 100 /* one in so many parts of a thread's time: shorter sleeps, in all, are none to speak of */
#define TURNS_PERCENT 5 /* of all waiting: smaller roots are not searched for turns */

/* lock_turns_pool - are these threads of one process, with names that differ in digits at most? */
bool lock_turns_pool(const struct model *model, uint32_t a, uint32_t b);

/* lock_turns_between - does a thread, for which another one waits at a lock, take turns with that one? */
bool lock_turns_between(const struct model *model, uint32_t holder, uint32_t waiter);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_LOCK_TURNS_H */
