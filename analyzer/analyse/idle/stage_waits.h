/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_waits.h - how long the threads of one operator of a data pipeline held up the job, and why.
 *
 * For pipelines of unknown frameworks: their bottleneck is at the root of the waits (idle_roots.h).
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/frameworks/pipeline_model.h"

struct stage_wait {
	uint64_t ns; /* of all roots at threads of the operator */
	double percent; /* of the time that the verdict is about */
	uint8_t cause; /* enum idle_cause: the heaviest cause of these roots, if ns is not 0 */
	const struct idle_root *placed; /* the largest row with a known place: of this cause, else of any; or NULL */
};

/*
 * stage_wait_find - returns the wait for operator @op; all 0 if there are no roots
 *
 * @verdict may be NULL. The result points into its rows.
 */
struct stage_wait stage_wait_find(const struct verdict *verdict, const struct pipeline *pipeline,
				  uint32_t op);

/* An operator of a pipeline. */
struct stage {
	const struct pipeline *pipeline; /* NULL: there is none */
	uint32_t op;
	struct stage_wait wait;
};

/*
 * stage_worst_find - returns the operator, in pipelines of unknown frameworks, that holds up its main thread longest
 *
 * None if the verdict is not about threads, or if the wait is less than STAGE_PERCENT of the time. Points into @steps.
 */
#define STAGE_PERCENT 10
struct stage stage_worst_find(const struct verdict *verdict, const struct step_results *steps);

/* What the sleeps of an operator's threads have in common. */
enum stage_habit {
	STAGE_SLEEPS, /* nothing */
	STAGE_TAKES_TURNS, /* its workers wait for each other, for STAGE_TURNS_PERCENT of their sleep or longer */
	STAGE_SLEEPS_FOR_TIMER, /* the placed thread sleeps in an event loop (epoll) until its next timer is due */
	STAGE_SLEEPS_AGAIN, /* most sleeps of the placed thread until a time follow another one, with nobody woken in between */
};

/*
 * stage_habit_find - tells how the threads of @stage sleep
 *
 * Workers are the threads of the job's process, or, if the operator consists of processes, these processes. Workers
 * that take turns at a lock do not sleep at the same time, so more of them do not help. A thread that sleeps again
 * and again may poll for what others make. Where lightweight threads share threads (goroutines, Rust's async tasks), one
 * thread sleeps in epoll until the next timer, and wakes the others from their pool: that is not a lock.
 */
#define STAGE_TURNS_PERCENT 33
enum stage_habit stage_habit_find(const struct model *model, const struct stage *stage);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_STAGE_WAITS_H */
