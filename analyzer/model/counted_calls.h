/* SPDX-License-Identifier: Apache-2.0 */
/* counted_calls.h - rows of the model (model.h): calls outside of the analysed part of the time, summed up in few rows. */
#ifndef PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H
#define PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H

#include <stdint.h>

#include "analyzer/model/calls.h"

/* flags of unsure */
#define COUNTED_INSIDE 0x01 /* they may be inside of calls that were not found: INNER and PART may be lacking */
#define COUNTED_THREAD 0x02 /* some calls may belong to another thread with the same id, which has an equal row */

/*
 * Calls of a thread and function that submit work or wait for it, with the same flags and the same arguments for stream,
 * blocking and direction of copy.
 */
struct counted_call {
	/*
	 * The common values of these calls, for the functions of call_kind.h; other arguments are 0. start_ns is the
	 * start of the last call before the part, 0 = there is none; end_ns and task are unused.
	 */
	struct call call;
	uint8_t unsure; /* COUNTED_* flags: what is uncertain about them; 0 = nothing */
	uint64_t count;
	uint64_t shortest_ns;
	uint64_t first_end_ns; /* when the first of them ended, and the last */
	uint64_t last_end_ns;
};

#endif /* PROFBPF_ANALYZER_MODEL_COUNTED_CALLS_H */
