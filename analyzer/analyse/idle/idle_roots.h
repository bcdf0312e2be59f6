/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_roots.h - why devices were idle, by who was at the end of all waiting.
 *
 * The causes of idle.h tell what the thread that submitted the next task did: often it waited for
 * another one. root_walk.h follows that to its end. Stretches with the same cause, who, place and object are
 * one row; rows add up to the idle time, to the nanosecond.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H

#include <stdint.h>

#include "analyzer/analyse/idle/root_times.h"
#include "analyzer/analyse/idle/root_walk.h"

/* One thread of a row's chain. */
struct idle_hop {
	uint32_t thread; /* INDEX_NONE: not known */
	uint8_t cause; /* enum idle_cause: what it was in; of the last one the row's */
	uint64_t ns; /* of the row's: what came this way */
};

struct idle_root {
	/*
	 * start_ns and end_ns are those of its longest stretch; thread the one at which the walk ended
	 * there. Threads of one name and process that had a CPU are one, the first of them; so are threads
	 * that came after each other in the same role (same_role.h). Where samples tell what
	 * ran, the place is the function that was seen most.
	 */
	struct root root;
	uint64_t ns;
	uint64_t gaps; /* in how many gaps */
	double percent; /* of total_ns */
	uint64_t samples; /* that the place was chosen of */
	const char *
		word; /* what it did, by half of them or more: "garbage collection"; NULL: nothing special */
	const char *word_remedy; /* what helps against that, if word is not NULL */
	struct idle_hop *hops; /* the way that most of it came, from the thread that submitted to the end */
	uint32_t hop_count;
	uint32_t number; /* while they are summed up */
};

/* A way from the thread that submitted, or waited: the way before, and one hop more. */
struct root_way {
	uint32_t before; /* index into ways, or INDEX_NONE */
	uint32_t depth; /* from 1 */
	struct root_hop hop;
};

struct idle_roots {
	uint64_t total_ns;
	uint64_t steps; /* taken by the walks */
	struct function_words *words; /* that rows point into */
	struct idle_root *row; /* largest first */
	uint32_t count;
	struct idle_hop *hops; /* that rows point into */
	uint32_t hop_count;
	struct root_way *ways; /* that stretches of times came; with the threads themselves, also those of one role */
	uint32_t way_count;
	uint64_t cause_ns[IDLE_CAUSES];
	uint64_t first_ns[IDLE_CAUSES]; /* by what the thread was in with which the walks began */
	uint64_t gaps; /* in which any of it was found */
	struct root_times times; /* when each row held things up */
};

/* Sums up roots as they are found, in a window. NULL without memory; @tools must outlive it. */
struct root_sums;
struct root_sums *root_sums_new(const struct model *model, const struct idle_tools *tools,
				uint64_t from_ns, uint64_t to_ns);
void root_sums_free(struct root_sums *sums);

/* Add the next gap, of which idle_rules_apply() made @pieces. Returns 0 or -ENOMEM. */
int root_sums_add(struct root_sums *sums, const struct device_gap *gap,
		  const struct idle_pieces *pieces);

/*
 * root_sums_add_thread - add what a thread did in a stretch of time
 *
 * What it did on a CPU itself goes to @own, all else to @sums.
 */
int root_sums_add_thread(struct root_sums *sums, struct root_sums *own, uint32_t thread,
			 uint64_t from_ns, uint64_t to_ns);

/* The rows. Returns 0 or -ENOMEM; in both cases idle_roots_free() is to be called. */
int root_sums_finish(struct root_sums *sums, struct idle_roots *roots);
void idle_roots_free(struct idle_roots *roots);

#define IDLE_WORD_RECLAIM "reclaiming memory" /* function_words.txt */

/*
 * idle_roots_name_shortage - waits in page faults of a process that reclaims memory itself, too, have that word and remedy
 *
 * By the rows of what @running ran, which must live as long as @roots; it may be the same.
 */
void idle_roots_name_shortage(const struct model *model, struct idle_roots *roots,
			      const struct idle_roots *running);

/* "circle", "depth", "untraced", ...; NULL for ROOT_END_FOUND. Static text. */
const char *root_end_name(uint8_t end);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H */
