/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeper_stacks.h - adds the user stacks to records of sleeping threads (STACK_STILL in bpf/events.h).
 *
 * No thread is stopped. Only pages that are in memory are read (lib/base/present_memory.h). If the thread has run since the record
 * was taken, its stack has only the first frame. Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H

#include "bpf/events.h"
#include "daemon/profbpfd/control/right.h"

struct unwinder_session;
struct sleepers;

/* sleepers_new - @right (NULL: no limit) must outlive it; returns NULL without memory. sleepers_free() accepts NULL. */
struct sleepers *sleepers_new(const struct right *right);
void sleepers_free(struct sleepers *sleepers);

/*
 * sleepers_walk - returns a copy of @record with user frames in place of the words of enum sleeper_word
 *
 * Unwinds by the tables of @unwinding, or by frame pointers if that is NULL. STACK_WHOLE is set if the frames reach the start of
 * the thread. The copy is valid until the next call. Returns NULL if @record has no such words.
 */
const struct rec_stack *sleepers_walk(struct sleepers *sleepers, struct unwinder_session *unwinding,
				      const struct rec_stack *record);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_SLEEPER_STACKS_H */
