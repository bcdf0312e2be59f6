/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * known.bpf.h - what the scheduler's programs ask of a thread at each switch and
 * wake-up: is it a target, was its identity sent, does it wait for a CPU?
 *
 * A look-up of a thread's storage calls into the kernel, an array's does not: so the
 * answers are kept in a table by thread id. A thread that is not in its place is asked
 * for in its storage and takes the place; where two share one, they take turns. The
 * first word is checked as a whole, so that a half of it can't be another's.
 */
#ifndef PROFBPF_KNOWN_BPF_H
#define PROFBPF_KNOWN_BPF_H

#include "task.bpf.h"

#define KNOWN_STEP 12345 /* odd, so that as many ids in a row have as many places */

/* Bits of struct known_thread.facts; above them the version of "targets", then whose they are. */
#define KNOWN_TARGET 1u /* it is a member (profbpf.bpf.h) */
#define KNOWN_ANNOUNCED 2u
#define KNOWN_FLAGS 3u
#define KNOWN_VERSION_SHIFT 2
#define KNOWN_OWNER_SHIFT 22
#define KNOWN_BELOW_OWNER ((1ull << KNOWN_OWNER_SHIFT) - 1)

struct known_thread {
	__u64 facts;
	__u64 wait; /* whose, and 1 + the CPU in whose count of waiting targets it is; 0 = none */
	struct file *epoll; /* whose files it sleeps for, or NULL; of whom "facts" are */
	__u64 polls; /* it sleeps in poll or select for several files; of whom "facts" are */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as settings.known_threads; set before loading */
	__type(key, __u32);
	__type(value, struct known_thread);
} known_threads __weak_map;

/* Threads of a pool have ids one after the other, and run side by side: not on one cache line. */
static __always_inline struct known_thread *known_thread(struct task_struct *task)
{
	__u32 place = field_of(task, pid) * KNOWN_STEP & (settings.known_threads - 1);

	return bpf_map_lookup_elem(&known_threads, &place);
}

/* Threads of one place are told apart by when they began. */
static __always_inline __u64 known_owner(struct task_struct *task)
{
	return field_of(task, start_time) << KNOWN_OWNER_SHIFT;
}

/* Is it what is known of @task, or of another thread by now? */
static __always_inline bool known_is_of(struct task_struct *task, const struct known_thread *known)
{
	return (known->facts & ~KNOWN_BELOW_OWNER) == known_owner(task);
}

static __always_inline __u32 known_or_asked(struct task_struct *task, struct known_thread *known)
{
	__u64 asked = known_owner(task) |
		      ((__u64)targets_version << KNOWN_VERSION_SHIFT & KNOWN_BELOW_OWNER);
	__u64 facts = known->facts;
	struct thread_state *state;

	if ((facts & ~(__u64)KNOWN_FLAGS) == asked)
		return facts & KNOWN_FLAGS;
	state = thread_state(task);
	facts = asked;
	if (is_member_task(task, state))
		facts |= KNOWN_TARGET;
	if (state && state->announced)
		facts |= KNOWN_ANNOUNCED;
	known->facts = facts;
	known->epoll = NULL;
	known->polls = 0;
	return facts & KNOWN_FLAGS;
}

/* KNOWN_TARGET, KNOWN_ANNOUNCED. */
static __always_inline __u32 known_facts(struct task_struct *task, struct known_thread *known)
{
	__u32 facts = known_or_asked(task, known);

	if (facts & KNOWN_TARGET && !may_look(task))
		facts &= ~KNOWN_TARGET;
	return unfollowed(facts, known->facts);
}

/* The place may be taken by another thread at any time: of that one nothing is said. */
static __always_inline void known_announce(struct task_struct *task, struct known_thread *known,
					   __u32 facts)
{
	__u64 own = known->facts;

	if (facts & KNOWN_ANNOUNCED)
		return;
	announce(task, thread_state(task));
	if (known->facts == own && (own & ~KNOWN_BELOW_OWNER) == known_owner(task))
		known->facts = own | KNOWN_ANNOUNCED;
}

static __always_inline void known_forget(struct task_struct *task)
{
	struct known_thread *known = known_thread(task);

	if (known)
		known->facts = 0;
}

#endif /* PROFBPF_KNOWN_BPF_H */
