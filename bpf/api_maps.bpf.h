/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* api_maps.bpf.h - what the daemon tells of each probed function and of each place where calls end. */
#ifndef PROFBPF_API_MAPS_BPF_H
#define PROFBPF_API_MAPS_BPF_H

#include "own_stack.bpf.h"

#define SLOT_NONE (~0ull)
#define NO_PROBE (~0u)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, __u32);
	__type(value, struct probe_conf);
} probes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EXITS_MAX);
	__type(key, __u32);
	__type(value, struct exit_conf);
} exit_confs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tail_target);
	__type(value, __u32);
} tail_targets SEC(".maps");

/*
 * How often each exit was reached, for the daemon to see which cost too much. Threads that count at
 * the same time may count one for two: it is no figure for users.
 */
volatile __u32 exit_hits[EXITS_MAX] = {};

#endif /* PROFBPF_API_MAPS_BPF_H */
