/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeper_stacks.h - records of threads that sleep (STACK_STILL of bpf/events.h), with their user stacks.
 *
 * Nothing is stopped: only memory that is there is read (host/present_memory.h), and of a thread that has run meanwhile
 * no more is told than where it went on before. Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H

#include "bpf/events.h"
#include "daemon/profbpfd/control/right.h"

struct unwinder_session;
struct sleepers;

/* sleepers_new - @right (NULL: no limit) stays the caller's; NULL without memory. For sleepers_free(), which takes NULL, too. */
struct sleepers *sleepers_new(const struct right *right);
void sleepers_free(struct sleepers *sleepers);

/*
 * sleepers_walk - @record with frames in place of its enum sleeper_word, and STACK_WHOLE where they reach to the thread's start
 *
 * By the tables of @unwinding (NULL: by frame pointers). Valid until the next call; NULL: it is no such record.
 */
const struct rec_stack *sleepers_walk(struct sleepers *sleepers, struct unwinder_session *unwinding,
				      const struct rec_stack *record);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H */
