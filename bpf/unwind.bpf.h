/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * unwind.bpf.h - from a frame of a user stack to its caller's, by the tables of unwind.h.
 *
 * For code without a table, such as JIT code or assembler, the walk assumes a frame pointer; it accepts only a word
 * that is a return address into code of the process.
 */
#ifndef PROFBPF_UNWIND_BPF_H
#define PROFBPF_UNWIND_BPF_H

#include "profbpf.bpf.h"
#include "unwind.h"

struct unwind_shard_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	/* Sizes instead of types: the compiler emits no BTF for types that an inner map points to. */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_shard));
};

/* The daemon's tables, shared by all sessions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SHARDS);
	__type(key, __u32);
	__array(values, struct unwind_shard_map);
} unwind_shards __weak_map;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RULES);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules __weak_map;

/* The mappings of the session's targets, by tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes __weak_map;

/* Keeps the mask that the verifier needs: the compiler knows the bound and would drop it. */
#define BOUNDED(value, mask)                     \
	({                                       \
		__u32 bounded__ = (value);       \
		asm volatile("" : "+r"(bounded__)); \
		bounded__ & (mask);              \
	})

static __always_inline const struct unwind_shard *unwind_shard(__u32 word)
{
	__u32 number = word / UNWIND_SHARD_WORDS, zero = 0;
	void *map = bpf_map_lookup_elem(&unwind_shards, &number);

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

static __always_inline __u32 unwind_word(const struct unwind_shard *shard, __u32 word)
{
	return shard->word[BOUNDED(word, UNWIND_SHARD_WORDS - 1)];
}

/*
 * Returns 1 if @a < @b, both below 2^63, else 0, without a branch: the verifier would follow every path of a search
 * with branches. The asm hides the comparison from the compiler, which would turn it into a mask by a shift that recent
 * verifiers treat as a branch.
 */
static __always_inline __u64 below(__u64 a, __u64 b)
{
	__u64 bit = (a - b) >> 63;

	asm volatile("" : "+r"(bit));
	return bit;
}

/* The index of the last mapping that begins at or below @address; the first mapping if there is none. */
static __always_inline __u32 unwind_mapping(const struct unwind_process *process, __u64 address)
{
	__u64 place = 0;

	for (__u32 step = UNWIND_MAPPINGS / 2; step; step /= 2) {
		const struct unwind_mapping *mapping =
			&process->mapping[BOUNDED(place + step, UNWIND_MAPPINGS - 1)];

		place += step * below(mapping->start / 2, address / 2 + 1);
	}
	return place;
}

/* The last of the page's @count rows, from word @first on, whose address is not above @address; the first row always qualifies. */
static __always_inline __u32 unwind_row(const struct unwind_shard *shard, __u32 first, __u64 count, __u64 address)
{
	__u64 place = 0;

	for (__u32 step = UNWIND_PAGE_ROWS_MAX / 2; step; step /= 2) {
		__u64 next = place + step;
		__u64 row = UNWIND_ROW_ADDRESS(unwind_word(shard, first + next));

		place += step * (below(next, count) & below(row, address + 1));
	}
	return unwind_word(shard, first + place);
}

/* The rule at @address, which is in @mapping; NULL: none */
static __always_inline const struct unwind_rule *unwind_rule(const struct unwind_mapping *mapping, __u64 address)
{
	__u64 offset = address - mapping->base, page = offset >> UNWIND_PAGE_SHIFT;
	const struct unwind_shard *shard;
	__u32 rows, count, rule;

	if (address < mapping->start || address >= mapping->end || page >= mapping->pages)
		return NULL;
	shard = unwind_shard(mapping->list);
	if (!shard)
		return NULL;
	rows = unwind_word(shard, mapping->list + 2 * (__u32)page);
	count = unwind_word(shard, mapping->list + 2 * (__u32)page + 1);
	shard = unwind_shard(rows);
	/* A page that the daemon has not made yet: it writes the number of the first row last, and word 0 is never used. */
	if (!shard || !rows || !count)
		return NULL;
	rule = UNWIND_ROW_RULE(unwind_row(shard, rows, count, offset & 0xffff));
	return bpf_map_lookup_elem(&unwind_rules, &rule);
}

#endif /* PROFBPF_UNWIND_BPF_H */
