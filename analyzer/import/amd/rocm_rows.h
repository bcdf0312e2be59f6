/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm_rows.h - what ROCm's profilers say, in whatever file: agents, calls, tasks; then their join.
 *
 * Tasks and calls of one process belong together if they bear the same correlation id (of HIP's
 * call, in rocpd the event's stack_id); 0 is none. Files tell of several processes, in any order.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

/* A call into a runtime. Times are the file's. */
struct rocm_call {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t correlation;
	uint64_t tid;
	uint32_t pid;
	uint32_t name; /* strings of the model */
	uint32_t runtime;
};

struct rocm_task {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t dispatch_ns; /* when it was put into its queue; 0 = not told */
	uint64_t correlation;
	uint64_t agent; /* key given to rocm_agent() */
	uint64_t queue;
	uint64_t stream; /* HIP's; 0 in files that do not tell */
	uint64_t bytes;
	uint64_t tid; /* that dispatched it; 0 = not told */
	uint32_t pid; /* 0 = not told */
	uint32_t name;
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
};

/*
 * What a runtime got of memory, or gave back. A release tells neither size nor agent: it is of what was got
 * last at its address; scratch memory has none and is a queue's.
 */
struct rocm_memory {
	uint64_t start_ns; /* of the operation */
	uint64_t end_ns;
	uint64_t agent; /* key given to rocm_agent() */
	uint64_t place; /* address, or queue of scratch memory */
	uint64_t bytes;
	uint32_t pid; /* 0 = not told */
	uint32_t level; /* string: "REAL", "VIRTUAL", "SCRATCH" */
	bool release;
	bool scratch;
};

/* What a counter of the GPU gave for a task. */
struct rocm_counter {
	uint32_t task; /* row of tasks */
	uint32_t name; /* string */
	double value;
};

struct rocm_agent {
	uint64_t number; /* among those of its sort; UINT64_MAX = in the file's order */
	uint32_t name; /* 0 = unnamed */
	bool gpu;
};

/* Zeroed and then rocm_rows_begin(). */
struct rocm_rows {
	struct import *import;
	struct import_rows rows;
	const char *source; /* device.source: "rocprofv3" */
	uint8_t clock; /* Profbpf__DeviceClock of all its times */
	struct import_tracks tracks;
	struct map agent_rows; /* key -> row of agents */
	MODEL_ARRAY(struct rocm_agent) agents;
	MODEL_ARRAY(struct rocm_call) calls;
	MODEL_ARRAY(struct rocm_task) tasks;
	MODEL_ARRAY(struct rocm_memory) memory;
	MODEL_ARRAY(struct rocm_counter) counters;
};

void rocm_rows_begin(struct rocm_rows *rocm, struct import *import, const char *source,
		     uint8_t clock);
void rocm_rows_free(struct rocm_rows *rocm);

/* What the file says of an agent, GPU or not; of the same key the last counts. 0 or -ENOMEM. */
int rocm_agent(struct rocm_rows *rocm, uint64_t key, const struct rocm_agent *agent);

/* Is it known to be no GPU? */
bool rocm_is_cpu(const struct rocm_rows *rocm, uint64_t key);

/* One that makes no sense (an end before its start, a start of 0) becomes a finding. 0 or -ENOMEM. */
int rocm_call(struct rocm_rows *rocm, const struct rocm_call *call);
int rocm_task(struct rocm_rows *rocm, const struct rocm_task *task);
int rocm_memory(struct rocm_rows *rocm, const struct rocm_memory *memory);

/*
 * rocm_memory_operation - level and release of what the SDK calls an operation on memory
 *
 * "MEMORY_ALLOCATION_ALLOCATE", "..._VMEM_FREE", "SCRATCH_MEMORY_ALLOC", ...; false if it is neither an
 * allocation nor a release. memory->level is INDEX_NONE without memory.
 */
bool rocm_memory_operation(struct rocm_rows *rocm, const char *name, struct rocm_memory *memory);

/* When all is read: into the model. 0 or -ENOMEM. */
int rocm_finish(struct rocm_rows *rocm);
/* The part of it that is memory, after agents have their numbers. */
int rocm_put_memory(struct rocm_rows *rocm);
const struct rocm_agent *rocm_agent_of(const struct rocm_rows *rocm, uint64_t key);

/* Profbpf__DeviceTasks__Kind of a kernel by its name. */
uint8_t rocm_kernel_kind(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H */
