/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_model.h - models built row by row, for tests of joins and analyses.
 *
 * Running out of memory aborts the test. The test calls small_index() after the last row.
 */
#ifndef PROFBPF_TESTS_UNIT_SMALL_MODEL_H
#define PROFBPF_TESTS_UNIT_SMALL_MODEL_H

#include <stdint.h>

#include "analyzer/model/model.h"

/* Returns an empty model of an x86-64 trace from @start_ns to @end_ns. The caller frees it with model_free(). */
struct model *small_model(uint64_t start_ns, uint64_t end_ns);

uint32_t small_process(struct model *model, uint32_t pid, const char *name, bool target);

/* A thread that existed before the trace. */
uint32_t small_thread(struct model *model, uint32_t process, uint32_t tid, const char *name);

uint32_t small_function(struct model *model, const char *family, const char *name,
			Profbpf__Function__Kind kind);

/* Returns the call's row number, which stays valid only if calls are added in order of (thread, start). */
uint32_t small_call(struct model *model, uint32_t thread, uint32_t function, uint64_t start_ns,
		    uint64_t end_ns);

/* Spans are added in order of time for one thread after another. */
struct span *small_span(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
			enum thread_state state);

/* A sleep in a system call (x86-64 number), ended by @waker (INDEX_NONE: @flags say how it ended). */
void small_sleep(struct model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
		 int16_t syscall, uint32_t waker, uint8_t flags);

uint32_t small_device(struct model *model, uint32_t process, const char *name, uint8_t clock);

/* A kernel on stream 1, with device times only. */
struct device_task *small_task(struct model *model, uint32_t device, uint64_t start_ns,
			       uint64_t end_ns);

void small_index(struct model *model);

#endif /* PROFBPF_TESTS_UNIT_SMALL_MODEL_H */
