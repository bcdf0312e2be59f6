/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * stage.bpf.h - sends switches and wake-ups to the rings several at a time.
 *
 * A single record costs a ring's lock, a reservation and a submission, which is more than the rest of a switch. So a few
 * are collected per CPU and sent as one record. At the end of the session the daemon reads the rest from the map.
 *
 * Only for programs that run with interrupts off, so that nothing interrupts the collecting.
 */
#ifndef PROFBPF_STAGE_BPF_H
#define PROFBPF_STAGE_BPF_H

#include "profbpf.bpf.h"

#define STAGED_AGE_NS 20000000 /* older records are sent with the next one */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rec_staged);
} staged __weak_map;

/* Sends the collected records. They count as produced, whether the ring has room for them or not. */
static __always_inline void stage_send(struct rec_staged *s, __u32 count)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct source_stats *stats = source_stats(SOURCE_SCHED);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 flags = BPF_RB_NO_WAKEUP;
	long err = -1;

	if (ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= settings.wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	s->header.type = REC_STAGED;
	s->header.cpu = cpu;
	s->sent = count;
	if (ring)
		err = bpf_ringbuf_output(ring, s, sizeof(*s), flags);
	if (!stats)
		return;
	add(&stats->produced, count);
	if (err)
		add(&stats->lost[LOSS_RING_FULL], count);
}

/* Room for one record, to be filled before stage_end(). */
static __always_inline struct rec_switch *stage_begin(struct rec_staged **stage)
{
	struct rec_staged *s;
	__u32 zero = 0;

	s = bpf_map_lookup_elem(&staged, &zero);
	*stage = s;
	if (!s || s->count >= REC_STAGED_MAX)
		return NULL;
	return &s->record[s->count];
}

static __always_inline void stage_end(struct rec_staged *s, __u64 now)
{
	__u32 count = s->count + 1;

	s->count = count;
	if (count < REC_STAGED_MAX && now - s->record[0].header.ts_ns < STAGED_AGE_NS)
		return;
	s->count = 0;
	stage_send(s, count);
}

#endif /* PROFBPF_STAGE_BPF_H */
