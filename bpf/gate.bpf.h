/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gate.bpf.h - the maps in which sessions mark their targets for the gate (gate/gate.bpf.c), shared by a daemon's sessions.
 *
 * A session that is not at the gate has empty maps of its own.
 */
#ifndef PROFBPF_GATE_BPF_H
#define PROFBPF_GATE_BPF_H

/* By the low bits of the process id. Set for each process that is or was a target of a session, until the session ends. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TARGET_MARKS);
	__type(key, __u32);
	__type(value, struct gate_marks);
} gate_marks __weak SEC(".maps");

/* The number of targets of all sessions that wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* as many as CPUs; set before loading */
	__type(key, __u32);
	__type(value, struct waiting_count);
} gate_waiting __weak SEC(".maps");

#endif /* PROFBPF_GATE_BPF_H */
