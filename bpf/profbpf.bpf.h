/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * profbpf.bpf.h - shared by all BPF programs of a session: its settings, its maps, and the functions that write a
 * record.
 *
 * Each session loads its own instance of the linked object, with its own rings and targets. The maps are weak, so
 * that each file can define them and the linker keeps one.
 */
#ifndef PROFBPF_BPF_H
#define PROFBPF_BPF_H

/* The programs define this type themselves, because not every kernel that they are built on has it. */
#define bpf_task_work bpf_task_work___of_building_machine
#include "vmlinux.h"
#undef bpf_task_work
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "events.h"
#include "session_maps.h"

#define __weak_map __weak SEC(".maps")

/* Set by the daemon before loading. */
const volatile struct session_settings settings __weak = {};

#include "compat.bpf.h"
#include "gate.bpf.h"

/* One ring per possible CPU, inserted by the daemon. */
struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring_map);
} rings __weak_map;

/*
 * In an ordinary user's session a process is inserted with the value 0 before the daemon checks that it is the
 * user's, and gets 1 when the session goes live. From the insertion on, it is removed for good when it executes a
 * program that the user may not look into (task.bpf.c).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);	/* tgid */
	__type(value, __u32);
} targets __weak_map;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SOURCES);
	__type(key, __u32);
	__type(value, struct source_stats);
} stats __weak_map;

/* The state of a thread, for every thread that a program has seen. */
struct thread_state {
	__u64 last_run_ns;	/* figures of the last account record */
	__u64 exit_ns; /* 0 = has not exited; only used without hooks on switches */
	__u64 ioctl_start_ns;	/* 0 = not inside a traced ioctl */
	__u32 ioctl_cmd;
	__u32 ioctl_rdev;
	__u32 ioctl_fd;
	__u32 ioctl_before;	/* it was under way when the session began */
	__u32 announced;	/* its identity was sent */
	__u32 target; /* for is_known_target() */
	__u64 last_rss; /* first thread of a process: resident pages in its last record */
	__u64 last_cgroup;
	__u64 fault_ns; /* start of the first sleep in the latest page fault with a sleep; 0 = never */
	__u64 fault_count; /* the thread's number of faults at that time */
};

DEFINE_THREAD_MAP(thread_states, struct thread_state, 32768);

/* Set by the daemon when a session ends: nothing new is recorded; the links are removed later. */
volatile __u32 capture_stopped __weak = 0;

/* Set by the daemon later: events that were under way when the session ended are not recorded either. */
volatile __u32 capture_closed __weak = 0;

/* Set by the daemon while it measures the cost of a probe on itself. */
volatile __u32 calibrating __weak = 0;

#include "owner.bpf.h"

/*
 * The address of a thread's control block. AArch64: as saved when the thread last left its CPU, if the thread has set it
 * itself, as the first thread of a program does; 0 before.
 */
static __always_inline __u64 thread_pointer_of(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(task, thread.fsbase);
#else
	return BPF_CORE_READ(task, thread.uw.tp_value);
#endif
}

static __always_inline bool is_listed(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid) != NULL;
}

/* Is the process in "targets", as named by the user or followed? The right to look into it is a separate check. */
static __always_inline bool is_member(__u32 tgid)
{
	__u32 *live;

	if (capture_stopped)
		return false;
	if (settings.system_wide)
		return tgid != settings.daemon_tgid || calibrating;
	live = bpf_map_lookup_elem(&targets, &tgid);
	return settings.owner_uid == NO_OWNER ? live != NULL : live && *live;
}

/* Does the current thread, of process @tgid, belong to a target? */
static __always_inline bool is_target(__u32 tgid)
{
	return is_member(tgid) && may_look(current_task());
}

/* Does @task, any thread, belong to a target? */
static __always_inline bool is_target_thread(struct task_struct *task)
{
	return is_member(field_of(task, tgid)) && may_look(task);
}

/*
 * Set for each process that is or was in "targets", by the low bits of its id: most other processes are excluded without
 * a helper call. Bytes, because two may be set at the same time. Defined in task.bpf.c only: if each file defined
 * it, the linked object would keep the space of each definition, and every session would have it.
 */
extern volatile __u8 target_marks[TARGET_MARKS];

static __always_inline bool may_be_target(__u32 tgid)
{
	return settings.system_wide || target_marks[tgid & (TARGET_MARKS - 1)];
}

static __always_inline void mark_target(__u32 tgid)
{
	__u32 place = tgid & (TARGET_MARKS - 1);
	struct gate_marks *marks;

	target_marks[place] = 1;
	if (!settings.gated)
		return;
	marks = bpf_map_lookup_elem(&gate_marks, &place);
	if (marks)
		marks->slot[settings.gate_slot & (GATE_SLOTS - 1)] = 1;
}

/* The daemon increases this when it has changed "targets". */
volatile __u32 targets_version __weak = 1;

/* Not inlined: it is rare and takes stack. */
static __noinline bool ask_is_member(__u32 *known, __u32 tgid, __u32 version)
{
	*known = version | is_member(tgid);
	return *known & 1;
}

/*
 * is_member() for a thread that caches the last answer: @known is initially 0, then the version of "targets" that the
 * answer holds for and, in its lowest bit, the answer.
 */
static __always_inline bool is_known_member(__u32 *known, __u32 tgid)
{
	__u32 version = targets_version << 1;

	if (capture_stopped)
		return false;
	return (*known & ~1u) == version ? *known & 1 : ask_is_member(known, tgid, version);
}

/* is_target() for the current thread, with its cached answer */
static __always_inline bool is_known_target(__u32 *known, __u32 tgid)
{
	return is_known_member(known, tgid) && may_look(current_task());
}

static __always_inline struct source_stats *source_stats(__u32 source)
{
	return bpf_map_lookup_elem(&stats, &source);
}

/*
 * For per-CPU figures: a uprobe's program can be preempted between reading and writing, by another thread in the same
 * program.
 */
static __always_inline void add(__u64 *figure, __u64 n)
{
	__sync_fetch_and_add(figure, n);
}

static __always_inline void count_lost(__u32 source, __u32 reason, __u64 n)
{
	struct source_stats *s = source_stats(source);

	if (s && reason < LOSSES) {
		add(&s->produced, n);
		add(&s->lost[reason], n);
	}
}

/*
 * Returns @value, of which the verifier then knows nothing: else it would check the code that follows once for
 * each possible value, which takes most of a session's start. @any: a value that is unknown to the verifier.
 */
static __always_inline __u64 unfollowed(__u64 value, __u64 any)
{
	asm volatile("%[value] ^= %[any]\n"
		     "%[value] ^= %[any]"
		     : [value] "+r"(value)
		     : [any] "r"(any));
	return value;
}

/*
 * Records are reserved with emit_begin() and sent with emit_end(). Every record
 * counts as produced, whether the ring has room for it or not.
 */
struct emit {
	void *ring;
	void *record;
	bool look; /* check how full the ring is */
};

/* A ring's fill is checked once in so many records, which take a small part of the smallest ring. */
#define RECORDS_PER_LOOK 64

static __always_inline void *emit_begin(struct emit *emit, __u32 source, __u64 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct source_stats *s = source_stats(source);

	emit->record = NULL;
	emit->look = true;
	emit->ring = bpf_map_lookup_elem(&rings, &cpu);
	if (emit->ring)
		emit->record = bpf_ringbuf_reserve(emit->ring, size, 0);
	if (s) {
		emit->look = s->produced % RECORDS_PER_LOOK == 0;
		add(&s->produced, 1);
		if (!emit->record)
			add(&s->lost[LOSS_RING_FULL], 1);
	}
	return emit->record;
}

static __always_inline void header_fill(struct rec_header *h, __u16 type, __u16 flags, __u64 ts_ns)
{
	h->type = type;
	h->flags = flags;
	h->cpu = bpf_get_smp_processor_id();
	h->ts_ns = ts_ns;
}

/* The reader polls; it is only woken when a ring fills up or when it must act at once. */
static __always_inline void emit_end(struct emit *emit, bool urgent)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (urgent ||
	    (emit->look && bpf_ringbuf_query(emit->ring, BPF_RB_AVAIL_DATA) >= settings.wake_bytes))
		flags = BPF_RB_FORCE_WAKEUP;
	bpf_ringbuf_submit(emit->record, flags);
}

#endif /* PROFBPF_BPF_H */
