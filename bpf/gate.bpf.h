/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gate.bpf.h - what the gate (gate/gate.bpf.c) asks, and sessions tell it: maps that all of a daemon share.
 *
 * A session that has no place at the gate has them for itself, with nothing in them.
 */
#ifndef PROFBPF_GATE_BPF_H
#define PROFBPF_GATE_BPF_H

/* By process id: several have the same. Set for whoever is or was a session's target, until the session is over. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TARGET_MARKS);
	__type(key, __u32);
	__type(value, struct gate_marks);
} gate_marks __weak SEC(".maps");

/* How many targets, of all sessions, wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as many as CPUs; set before loading */
	__type(key, __u32);
	__type(value, struct waiting_count);
} gate_waiting __weak SEC(".maps");

#endif /* PROFBPF_GATE_BPF_H */
