/* SPDX-License-Identifier: Apache-2.0 */
/* stack_rows.h - rows of the model (model.h): stack samples, of threads on a CPU and of sleeps, and the code that they name. */
#ifndef PROFBPF_ANALYZER_MODEL_STACK_ROWS_H
#define PROFBPF_ANALYZER_MODEL_STACK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/* A file with code that frames lie in. */
struct code_file {
	uint32_t path; /* in the target's view */
	uint32_t build_id; /* hexadecimal, 0 = none */
	uint64_t size; /* bytes and CLOCK_REALTIME of the last change; 0 = unknown */
	int64_t mtime_ns;
};

/* A place in code. Names are filled in by join/symbols; 0 = unknown. */
struct code_frame {
	uint64_t offset; /* in the file */
	uint32_t file; /* index into code_files or INDEX_NONE */
	uint32_t name; /* function */
	uint32_t source; /* source file, 0 = unknown */
	uint32_t line; /* 0 = unknown */
	uint8_t kind; /* Profbpf__Stacks__Kind */
};

/* stack_frames[first .. first + depth), innermost frame first. */
struct code_stack {
	uint32_t first;
	uint32_t depth;
};

/* flags of samples */
#define MODEL_SAMPLE_BLOCK PROFBPF__STACK_SAMPLES__FLAG__ASLEEP
#define MODEL_SAMPLE_PYTHON PROFBPF__STACK_SAMPLES__FLAG__PYTHON
#define MODEL_SAMPLE_LOCK PROFBPF__STACK_SAMPLES__FLAG__HAD_LOCK
#define MODEL_SAMPLE_WAIT PROFBPF__STACK_SAMPLES__FLAG__WAITED_FOR_LOCK
#define MODEL_SAMPLE_SHORT PROFBPF__STACK_SAMPLES__FLAG__SHORT
#define MODEL_SAMPLE_NO_LOCK PROFBPF__STACK_SAMPLES__FLAG__HAD_NO_LOCK
#define MODEL_SAMPLE_WHOLE PROFBPF__STACK_SAMPLES__FLAG__WHOLE
#define MODEL_SAMPLE_STILL PROFBPF__STACK_SAMPLES__FLAG__STILL

/* A look at a thread: on a CPU, asleep, or at its Python frames, as flags say. */
struct stack_sample {
	uint64_t ts_ns;
	uint64_t dur_ns;
	uint32_t thread;
	uint32_t stack; /* index into code_stacks or INDEX_NONE */
	uint32_t
		waker; /* MODEL_SAMPLE_WAIT: thread that ended it, INDEX_NONE = a timeout or unknown */
	uint32_t times; /* on a CPU: so many it counts for; more than 1 where fewer than wanted were taken */
	uint16_t cpu;
	uint8_t flags;
};

/* A process that runs CPython. */
struct python_interpreter {
	uint64_t ts_ns;
	uint32_t process; /* index into processes */
	uint32_t version; /* major << 8 | minor */
	uint64_t lock_first,
		lock_last; /* the addresses on which its threads sleep while they wait for its lock; 0 = unknown */
	bool lock_known; /* waits for its lock are recognised */
	uint8_t build; /* PROFBPF__PYTHONS__BUILD__*: stacks are only read for known builds */
};

#endif /* PROFBPF_ANALYZER_MODEL_STACK_ROWS_H */
