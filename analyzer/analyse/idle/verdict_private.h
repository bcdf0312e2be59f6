/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_private.h - what the parts of the verdict (verdict.h) share. Nobody else includes it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H

#include "analyzer/analyse/idle/verdict.h"

/* For which operator of which pipeline a thread works. */
struct owner {
	uint32_t pipeline;
	uint32_t op;
	bool descendant; /* somebody of the pipeline started the thread, or talks to it */
};

struct judge {
	const struct model *model;
	const struct verdict_facts *facts;
	const struct idle_roots *roots; /* what is weighed */
	struct owner *owner; /* by thread; pipeline INDEX_NONE: none */
	uint64_t window_ns;
	uint64_t idle_ns;
	uint64_t ns[VERDICT_STATES];
	bool helped; /* threads share the job's work with those that are looked at */
	uint32_t fetcher; /* thread that fetches batches in the steps judged, or INDEX_NONE */
};

/* In percent, at most 100; 0 of nothing. */
static inline double judge_share(uint64_t part_ns, uint64_t all_ns)
{
	double percent = all_ns ? 100 * (double)part_ns / (double)all_ns : 0;

	return percent < 100 ? percent : 100;
}

/* judge_find_owners - who works for which operator; false without memory. The caller frees judge->owner. */
bool judge_find_owners(struct judge *judge);

/* The operator nearest to the end of a chain, or none. */
struct owner judge_owner_of(const struct judge *judge, const struct idle_root *row);

/* Threads of the process of the one that waits, on a CPU with the program's own code? */
bool judge_is_help(const struct judge *judge, const struct idle_root *row);

/* Is its thread the one that fetches batches? */
bool judge_is_fetcher(const struct judge *judge, const struct idle_root *row);

/* enum verdict_state that a root belongs to */
uint8_t judge_state_of(const struct judge *judge, const struct idle_root *row);

/*
 * judge_heaviest_kind - the heaviest kind of cause among the rows of a state, VERDICT_STATES: of all
 *
 * @fetcher: and of the host's code of the thread that fetches, which counts as data there.
 */
struct idle_verdict judge_heaviest_kind(const struct judge *judge, uint8_t state, bool fetcher);

/* judge_find_cost - the verdict is @state: what it costs, by which cause, in which operator */
void judge_find_cost(struct judge *judge, struct verdict *verdict, uint8_t state);

/* judge_lost_too_much - are so many records lost that nothing can be said? Then @verdict has of which source. */
bool judge_lost_too_much(const struct judge *judge, struct verdict *verdict);

/* judge_know_not - the verdict is that it is unknown, for @lack (enum verdict_lack) */
void judge_know_not(struct verdict *verdict, uint8_t lack);

/* What it would take to know, where the heaviest is unknown. */
uint8_t judge_lack_of(const struct judge *judge, const struct verdict *verdict);

/* The verdict by devices' tasks (verdict_devices.c), and by what threads waited for (verdict_threads.c). */
void judge_devices(struct judge *judge, struct verdict *verdict);
void judge_threads(struct judge *judge, struct verdict *verdict);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_VERDICT_PRIVATE_H */
