/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* api_maps.bpf.h - the daemon's descriptions of probed functions and of the instructions where calls end. */
#ifndef PROFBPF_API_MAPS_BPF_H
#define PROFBPF_API_MAPS_BPF_H

#include "own_stack.bpf.h"

#define SLOT_NONE (~0ull)
#define NO_PROBE (~0u)

struct probe_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBES_IN_CHUNK);
	/* Sizes instead of types: the compiler emits no BTF for types that an inner map points to. */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct probe_conf));
};

/* By probe, in chunks; the daemon adds as many chunks as the functions need. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, MAX_PROBES / PROBES_IN_CHUNK);
	__type(key, __u32);
	__array(values, struct probe_chunk);
} probes SEC(".maps");

static __always_inline const struct probe_conf *conf_of(struct conf_place *at, __u32 probe)
{
	void *chunk;

	at->chunk = probe / PROBES_IN_CHUNK;
	at->place = probe & (PROBES_IN_CHUNK - 1);
	chunk = bpf_map_lookup_elem(&probes, &at->chunk);
	return chunk ? bpf_map_lookup_elem(chunk, &at->place) : NULL;
}

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
 * How often each exit was reached: the daemon finds those that cost too much. Threads that count at the
 * same time may lose counts, so this figure is not shown to users.
 */
volatile __u32 exit_hits[EXITS_MAX] = {};

#endif /* PROFBPF_API_MAPS_BPF_H */
