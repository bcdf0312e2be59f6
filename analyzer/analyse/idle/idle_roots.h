/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_roots.h - the roots of idle time: why devices were idle, by who is at the end of each chain of waits.
 *
 * The causes of idle.h describe the thread that submitted the next task: often it waited for another thread.
 * root_walk.h follows such waits to their root. Stretches with the same cause, who, place and object form
 * one row; rows add up to the idle time, to the nanosecond.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/root_times.h"
#include "analyzer/analyse/idle/root_walk.h"

/* A thread of a row's chain. */
struct idle_hop {
	uint32_t thread; /* INDEX_NONE: not known */
	uint8_t cause; /* enum idle_cause: what it waited for; for the last hop the row's cause */
	uint64_t ns; /* the part of the row's time whose chains share this hop and those before it */
};

struct idle_root {
	/*
	 * start_ns and end_ns are those of its longest stretch; thread is the one at which the walk of that stretch
	 * ended. Threads of one name and process that had a CPU are merged under the first of them; so are threads
	 * that followed each other in the same role (same_role.h). If there are samples, the place is the
	 * function with most of them.
	 */
	struct root root;
	uint64_t ns;
	uint64_t gaps; /* number of gaps with this row */
	double percent; /* of total_ns */
	uint64_t samples; /* from which the place was chosen */
	uint64_t spins_ns; /* with IDLE_WORD_SPINS or IDLE_WORD_RANKS: the part of ns in which it did that, by its samples */
	uint64_t ranks_ns; /* the part of ns in which it waited for other ranks, by its samples, whatever its word */
	const char *word; /* its work, by its samples (root_places.h): "garbage collection"; NULL: nothing special */
	const char *word_remedy; /* the remedy, if word is not NULL */
	bool turns; /* threads take turns there, as under a lock (lock_turns.h); only for rows with a part of the time that counts */
	struct idle_hop *hops; /* the chain with most of its time, from the thread that submitted to the root */
	uint32_t hop_count;
	uint32_t processes; /* number of processes that followed each other in the role of its thread's process; 0 = not known */
	uint32_t number; /* private: the row's number while roots are summed up */
};

/* A way, the chain of hops from the thread that submitted, or waited: the preceding way, and one more hop. */
struct root_way {
	uint32_t before; /* the preceding way: index into ways, or INDEX_NONE */
	uint32_t depth; /* from 1 */
	struct root_hop hop;
};

struct idle_roots {
	uint64_t total_ns;
	uint64_t steps; /* of the walks: their cost */
	struct function_words *words; /* rows point into it */
	struct idle_root *row; /* largest first */
	uint32_t count;
	struct idle_hop *hops; /* rows point into it */
	uint32_t hop_count;
	struct root_way *ways; /* of the stretches: with the actual threads, and with the first thread of each role */
	uint32_t way_count;
	uint64_t cause_ns[IDLE_CAUSES];
	uint64_t first_ns[IDLE_CAUSES]; /* the same time by the cause of the first hop */
	uint64_t gaps; /* number of gaps in which anything was found */
	struct root_times times; /* when each row held up the job */
};

/* Sums up the roots that the walks find in a window. NULL without memory; @tools must outlive it. */
struct root_sums;
struct root_sums *root_sums_new(const struct model *model, const struct idle_tools *tools,
				uint64_t from_ns, uint64_t to_ns);
void root_sums_free(struct root_sums *sums);

/* Adds the next gap, with its @pieces from idle_rules_apply(). Returns 0 or -ENOMEM. */
int root_sums_add(struct root_sums *sums, const struct device_gap *gap,
		  const struct idle_pieces *pieces);

/*
 * root_sums_add_thread - adds the activity of a thread in a stretch of time
 *
 * The thread's own time on a CPU goes to @own, all other time to @sums; with @own NULL all time goes to @sums.
 */
int root_sums_add_thread(struct root_sums *sums, struct root_sums *own, uint32_t thread,
			 uint64_t from_ns, uint64_t to_ns);

/* Makes the rows. Returns 0 or -ENOMEM; in both cases the caller calls idle_roots_free(). */
int root_sums_finish(struct root_sums *sums, struct idle_roots *roots);
void idle_roots_free(struct idle_roots *roots);

#define IDLE_WORD_RECLAIM "reclaiming memory" /* function_words.txt */
#define IDLE_WORD_SPINS "waiting for other threads by spinning" /* the same */
#define IDLE_WORD_RANKS "waiting for other ranks in MPI, or exchanging data with them" /* the same */

/* idle_root_collects - is the row's work the garbage collection of a runtime's own threads (Java, Go, JavaScript)? */
bool idle_root_collects(const struct idle_root *row);

/*
 * idle_roots_name_shortage - gives that word and its remedy to page faults of processes that also reclaim memory
 *
 * The rows of @running show which processes do; @running must live as long as @roots and may be the same.
 */
void idle_roots_name_shortage(const struct model *model, struct idle_roots *roots,
			      const struct idle_roots *running);

/* "circle", "depth", "untraced", ...; NULL for ROOT_END_FOUND. Static text. */
const char *root_end_name(uint8_t end);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_IDLE_ROOTS_H */
