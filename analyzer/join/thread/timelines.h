/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - what each target thread did, from switches and wake-ups.
 *
 * A thread is on a CPU from a switch in to the next switch out; ready from its
 * wake-up (or from being preempted) to the next switch in; asleep in between.
 * What the records leave open is STATE_UNKNOWN: before the first record of a
 * thread of which nothing was known at the session's start, and from the last
 * consistent instant on where records contradict each other because some were lost.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H

#include "analyzer/model/model.h"

/*
 * timelines_build - fill model->spans and model->timelines
 *
 * Needs a loaded, sorted and indexed model. Every thread gets a timeline; those of
 * threads that are not targets, and all when scheduling was not recorded, have no
 * spans. A timeline reaches from the session's start (or the thread's first record,
 * if it was born later) to the thread's end or the session's.
 *
 * A ready thread's wait is cut into one span for each thread that ran on the CPU
 * it finally got, as far back as the records of that CPU reach without a break;
 * span.other of the part before is the one that ran at its end.
 *
 * Returns 0 or -ENOMEM. Work is O(n log n) in the number of switches and wake-ups.
 */
int timelines_build(struct model *model);

/* timelines_recorded - were switches recorded at all in this trace? */
bool timelines_recorded(const struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H */
