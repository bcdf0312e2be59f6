/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_digest.h - sums of calls that are not kept (model/counted_calls.h). Only the loader includes it.
 *
 * Whether a call is inside another call of its family is known when the outer call is read: a file has a thread's
 * calls by their ends, so inner calls wait for the calls around them. If a thread is moved to another CPU meanwhile,
 * the calls around them are in another CPU's batches, in any order; if the depths of the calls around a call are not
 * consecutive, the call stays unsure.
 */
#ifndef PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H
#define PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

/* Equal calls of a thread that wait for the calls around them. */
struct waiting_call {
	struct counted_call row;
	uint64_t first_start_ns;
	uint8_t depth;
	uint8_t next; /* depth of the next call around them */
};

struct digest_thread {
	uint32_t tid;
	MODEL_ARRAY(struct waiting_call) waiting;
};

#define DIGEST_RECENT 256 /* a power of 2 */
#define DIGEST_SEEN 256 /* the same */

struct call_digest {
	struct model *model;
	bool wanted;
	struct map row_map; /* hash of the common values of calls -> model->counted_calls */
	uint32_t recent[DIGEST_RECENT]; /* 1 + row of recently counted calls, by thread and function */
	struct map thread_map; /* tid -> threads */
	MODEL_ARRAY(struct digest_thread) threads;
	uint32_t seen[DIGEST_SEEN]; /* indices into threads of recent thread ids, by the last bits of the id */
};

/*
 * digest_call - count a call, in the order of the file, as soon as survey.from_ns of the model is known
 *
 * Every call is to be passed, including @kept calls, which are not counted. Returns false without memory.
 */
bool digest_call(struct call_digest *digest, const struct call *call, bool kept);

/* digest_finish - after the threads are known: set the thread index of each row. Returns false without memory. */
bool digest_finish(struct call_digest *digest);

void digest_free(struct call_digest *digest);

#endif /* PROFBPF_ANALYZER_LOAD_CALL_DIGEST_H */
