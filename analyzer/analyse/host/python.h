/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - Python functions that threads were in, and waits for the interpreter's lock (the GIL).
 *
 * Functions are samples of the interpreter's memory, about 20 a second, independent of the thread's
 * state. Waits for the lock are exact: sleeps on its addresses. A wait ends when the thread is
 * woken; a wait that ended by a timeout continues with the next sleep. The holder of a wait is the
 * thread whose wake-up ended it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_PYTHON_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_PYTHON_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* The innermost function of samples. */
struct python_function {
	uint32_t process; /* index into model->processes */
	uint32_t name; /* strings */
	uint32_t file;
	uint32_t line; /* the line of its last sample; 0 = unknown */
	uint64_t samples;
	uint64_t running; /* number of samples with the thread on a CPU */
	uint64_t locked; /* number of samples with the thread holding the lock */
};

struct python_thread {
	uint32_t thread; /* index into model->threads */
	uint64_t samples;
	uint64_t running;
	uint64_t locked;
	uint64_t waits; /* for the lock */
	uint64_t wait_ns;
	uint32_t holder; /* thread that held the lock for most of the waits' time, INDEX_NONE = unknown */
	uint64_t holder_ns;
	uint32_t function; /* function with most samples: index into functions, or INDEX_NONE */
};

struct python_process {
	uint32_t process;
	uint32_t version; /* major << 8 | minor */
	bool lock_known; /* the lock's addresses are known, so that waits for it can be recognised */
	uint8_t build; /* PROFBPF__PYTHONS__BUILD__*: functions are seen only with a known build */
	uint64_t samples;
	uint64_t waits;
	uint64_t wait_ns;
};

struct python_results {
	struct python_process *processes;
	uint32_t process_count;
	struct python_thread *threads; /* longest wait first, then most samples */
	uint32_t thread_count;
	struct python_function *functions; /* most samples first */
	uint32_t function_count;
	bool states_known; /* running is known: switches were recorded */
};

/* python_analyse - 0 or -ENOMEM; in both cases python_free() is to be called */
int python_analyse(const struct model *model, const struct analysis_options *options,
		   struct python_results *results);
void python_free(struct python_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_PYTHON_H */
