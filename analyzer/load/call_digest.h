/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_digest.h - what analyses ask of calls that are not kept (model/counted_calls.h). Only the loader includes it.
 *
 * Whether a call is inside of another one of its family is seen when the outer one comes: a file has a thread's calls by their
 * ends, so inner ones wait for those around them. A thread that is moved to another CPU meanwhile has them in
 * batches of another one, in any order; what is not around a call in order and without a gap leaves it unsure.
 */
#ifndef PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H
#define PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

/* Alike calls of a thread that wait for the calls around them. */
struct waiting_call {
	struct counted_call row;
	uint64_t first_start_ns;
	uint8_t depth;
	uint8_t next; /* depth of the call around them that comes next */
};

struct digest_thread {
	uint32_t tid;
	MODEL_ARRAY(struct waiting_call) waiting;
};

#define DIGEST_RECENT 256 /* a power of 2 */

struct call_digest {
	struct model *model;
	bool wanted;
	struct map row_map; /* hash of what calls have in common -> model->counted_calls */
	uint32_t recent[DIGEST_RECENT]; /* 1 + rows that calls were counted in of late, by thread and function */
	struct map thread_map; /* tid -> threads */
	MODEL_ARRAY(struct digest_thread) threads;
	uint32_t last; /* of threads, of the call before */
};

/*
 * digest_call - take a call into account, in the order of the file, as soon as survey.from_ns of the model is known
 *
 * Every call is to be given, those too that are @kept and are not counted. False without memory.
 */
bool digest_call(struct call_digest *digest, const struct call *call, bool kept);

/* digest_finish - once the model knows threads by their ids: rows bear threads. False without memory. */
bool digest_finish(struct call_digest *digest);

void digest_free(struct call_digest *digest);

#endif /* PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H */
