/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_walk.h - the states of a thread between two instants, step by step.
 *
 * A step ends when the thread's scheduling state, its outermost runtime call or its ioctl changes.
 * Steps follow each other without holes: an unknown state is a step as well, so that the lengths of
 * the steps add up to the whole.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_WALK_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct walk_step {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread; /* the walked thread, or its creator for the time before it existed */
	uint32_t span; /* index into model->spans; INDEX_NONE = state unknown */
	uint32_t call; /* outermost runtime call (no marker, no stage) or INDEX_NONE */
	uint32_t ioctl; /* index into model->ioctls or INDEX_NONE */
};

/*
 * A walker holds the outermost calls of each thread. It reads the model, which must not change
 * meanwhile, except for its strings.
 */
struct walker;

/* NULL without memory. */
struct walker *walker_new(const struct model *model);
void walker_free(struct walker *walker);

/* The state of a walk. Filled by walk_start(), private otherwise. */
struct walk {
	const struct walker *walker;
	uint32_t wanted; /* the thread passed to walk_start() */
	uint32_t thread; /* thread in whose rows the positions below are */
	uint64_t now_ns;
	uint64_t to_ns;
	uint64_t limit_ns; /* end of the time in which thread stands for wanted */
	uint32_t span;
	uint32_t call;
	uint32_t ioctl;
};

/* walk_start - start a walk over @thread (INDEX_NONE: all is unknown) from @from_ns to @to_ns */
void walk_start(struct walk *walk, const struct walker *walker, uint32_t thread, uint64_t from_ns,
		uint64_t to_ns);

/* walk_next - store the next step; returns false at the end. Steps are not empty and do not overlap. */
bool walk_next(struct walk *walk, struct walk_step *step);

/* The outermost runtime call that a thread is in at an instant, or INDEX_NONE. */
uint32_t walker_call_at(const struct walker *walker, uint32_t thread, uint64_t ts_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_WALK_H */
