/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timelines.h - the states of each target thread over time, from switches and
 * wake-ups.
 *
 * A thread is on a CPU from a switch in to the next switch out; ready from its
 * wake-up (or from being preempted) to the next switch in; asleep in between. The
 * state is STATE_UNKNOWN where the records do not show it: before the first record
 * of a thread whose state at the session's start is unknown, and from the last
 * consistent instant on where records contradict each other because some were lost.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H

#include "analyzer/model/model.h"

/*
 * timelines_build - fills model->spans and model->timelines
 *
 * Needs a loaded, sorted and indexed model. Every thread gets a timeline; it has no
 * spans if the thread is not a target or scheduling was not recorded. A timeline
 * reaches from the session's start (or the thread's first record, if it was born
 * later) to the thread's end or the session's.
 *
 * A ready thread's wait is cut into one span for each thread that ran on the CPU it
 * finally got, as far back as the records of that CPU reach without a break;
 * span.other of the first span, which covers the time before that, is the thread
 * that ran at its end.
 *
 * Returns 0 or -ENOMEM. Work is O(n log n) in the number of switches and wake-ups.
 */
int timelines_build(struct model *model);

/* timelines_recorded - were switches recorded at all in this trace? */
bool timelines_recorded(const struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_TIMELINES_H */
