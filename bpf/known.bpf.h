/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * known.bpf.h - the facts about a thread that the scheduler's programs need at each switch and wake-up: is it a
 * target, was its identity sent, does it wait for a CPU?
 *
 * A lookup in task storage calls a helper, a lookup in an array does not. So these facts are cached in an array
 * indexed by thread id. If a thread's entry holds another thread, the program asks task storage and overwrites the
 * entry; two threads with the same index replace each other. The first word is compared as a whole, so that
 * half of it cannot be another thread's.
 */
#ifndef PROFBPF_KNOWN_BPF_H
#define PROFBPF_KNOWN_BPF_H

#include "task.bpf.h"

#define KNOWN_STEP 12345 /* odd, so that consecutive ids have different places */

/* Bits of struct known_thread.facts; above them the version of "targets", then the owner (known_owner()). */
#define KNOWN_TARGET 1u /* it is a member (profbpf.bpf.h) */
#define KNOWN_ANNOUNCED 2u
#define KNOWN_FLAGS 3u
#define KNOWN_VERSION_SHIFT 2
#define KNOWN_OWNER_SHIFT 22
#define KNOWN_BELOW_OWNER ((1ull << KNOWN_OWNER_SHIFT) - 1)

struct known_thread {
	__u64 facts;
	__u64 wait; /* the owner, and 1 + the CPU that counts it as a waiting target; 0 = it does not wait */
	struct file *epoll; /* the epoll instance that the owner of "facts" sleeps in, or NULL */
	__u64 polls; /* 1: the owner of "facts" sleeps in poll or select with several files */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as settings.known_threads; set before loading */
	__type(key, __u32);
	__type(value, struct known_thread);
} known_threads __weak_map;

/* Threads of a pool have consecutive ids and run at the same time: this keeps them on different cache lines. */
static __always_inline struct known_thread *known_thread(struct task_struct *task)
{
	__u32 place = field_of(task, pid) * KNOWN_STEP & (settings.known_threads - 1);

	return bpf_map_lookup_elem(&known_threads, &place);
}

/* The start time distinguishes threads with the same place. */
static __always_inline __u64 known_owner(struct task_struct *task)
{
	return field_of(task, start_time) << KNOWN_OWNER_SHIFT;
}

/* Does @known belong to @task, not to another thread? */
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

/* The flags of @task: KNOWN_TARGET, KNOWN_ANNOUNCED. */
static __always_inline __u32 known_facts(struct task_struct *task, struct known_thread *known)
{
	__u32 facts = known_or_asked(task, known);

	if (facts & KNOWN_TARGET && !may_look(task))
		facts &= ~KNOWN_TARGET;
	return unfollowed(facts, known->facts);
}

/* Another thread may take the place at any time: the flag is then not set for that thread. */
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
