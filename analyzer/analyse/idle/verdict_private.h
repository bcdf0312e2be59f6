/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_private.h - shared by the parts of the verdict (verdict.h). No other file includes it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H

#include "analyzer/analyse/idle/verdict.h"

/* The pipeline and operator for which a thread works. */
struct owner {
	uint32_t pipeline;
	uint32_t op;
	bool descendant; /* a thread of the pipeline started this one, or communicates with it */
};

struct judge {
	const struct model *model;
	const struct verdict_facts *facts;
	const struct idle_roots *roots; /* the roots that are judged */
	struct owner *owner; /* by thread; pipeline INDEX_NONE: none */
	uint64_t window_ns;
	uint64_t idle_ns;
	uint64_t ns[VERDICT_STATES];
	bool helped; /* other threads share the job's work with the examined ones */
	uint32_t fetcher; /* the thread that fetches batches in the judged steps, or INDEX_NONE */
};

/* In percent, at most 100; 0 if @all_ns is 0. */
static inline double judge_share(uint64_t part_ns, uint64_t all_ns)
{
	double percent = all_ns ? 100 * (double)part_ns / (double)all_ns : 0;

	return percent < 100 ? percent : 100;
}

/* judge_find_owners - fills judge->owner, which the caller frees; false without memory */
bool judge_find_owners(struct judge *judge);

/* Returns the operator nearest to the root on a row's chain, or none. */
struct owner judge_owner_of(const struct judge *judge, const struct idle_root *row);

/* Is the root a thread of the waiting thread's process, on a CPU in the program's own code? */
bool judge_is_help(const struct judge *judge, const struct idle_root *row);

/* Is the root's thread the one that fetches batches? */
bool judge_is_fetcher(const struct judge *judge, const struct idle_root *row);

/* Returns the enum verdict_state of a root. */
uint8_t judge_state_of(const struct judge *judge, const struct idle_root *row);

/*
 * judge_heaviest_kind - returns the heaviest kind of cause among the rows of a state (VERDICT_STATES: of all rows)
 *
 * @fetcher: includes host_code of the thread that fetches, which counts as data then.
 */
struct idle_verdict judge_heaviest_kind(const struct judge *judge, uint8_t state, bool fetcher);

/* judge_find_cost - the verdict is @state: fills in its cost, cause and operator */
void judge_find_cost(struct judge *judge, struct verdict *verdict, uint8_t state);

/*
 * judge_restarts - do workers that are started anew for each epoch cost at least half of @percent of the judged time of
 * all jobs? Then that is the verdict, with the cost in percent of the one pipeline's time.
 */
bool judge_restarts(const struct judge *judge, struct verdict *verdict, double percent);

/* judge_lost_too_much - are too many records lost for a verdict? Then fills in the source. */
bool judge_lost_too_much(const struct judge *judge, struct verdict *verdict);

/* judge_know_not - the verdict is unknown, because of @lack (enum verdict_lack) */
void judge_know_not(struct verdict *verdict, uint8_t lack);

/* Returns what is missing if the heaviest state is unknown. */
uint8_t judge_lack_of(const struct judge *judge, const struct verdict *verdict);

/* The verdict by devices' tasks (verdict_devices.c), and by the waits of threads (verdict_threads.c). */
void judge_devices(struct judge *judge, struct verdict *verdict);
void judge_threads(struct judge *judge, struct verdict *verdict);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H */
