/* SPDX-License-Identifier: Apache-2.0 */
/* counted_calls.h - rows of the model (model.h): calls outside of the part of the time whose rows are kept, many in one row. */
#ifndef PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H
#define PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H

#include <stdint.h>

#include "analyzer/model/calls.h"

/* flags of unsure */
#define COUNTED_INSIDE 0x01 /* they may be inside of calls that were not found: INNER and PART may be lacking */
#define COUNTED_THREAD 0x02 /* some may be of another thread with this id, of which there is a row that is the same */

/*
 * Calls of a thread that submit work or wait for it, of one function, with the same flags and the same arguments of
 * the roles that tell which stream, whether it blocks and which way it copies.
 */
struct counted_call {
	/*
	 * What they have in common, for what asks of a call (call_kind.h); other arguments are 0. start_ns is when
	 * the last one began of those before the part, 0 = there are none; end_ns and task mean nothing.
	 */
	struct call call;
	uint8_t unsure; /* what is not known of them, 0 = nothing */
	uint64_t count;
	uint64_t shortest_ns;
	uint64_t first_end_ns; /* when the first of them ended, and the last */
	uint64_t last_end_ns;
};

#endif /* PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H */
