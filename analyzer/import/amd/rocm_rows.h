/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm_rows.h - collects agents, calls and tasks of ROCm's profilers, of any of their formats, and joins them.
 *
 * A task and a call of one process belong together if they have the same correlation id (of the HIP call; in rocpd
 * the event's stack_id); 0 is none. Files contain several processes, in any order.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

/* A call of a runtime. Times are the file's. */
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
	uint64_t dispatch_ns; /* when it was put into its queue; 0 = unknown */
	uint64_t correlation;
	uint64_t agent; /* key given to rocm_agent() */
	uint64_t queue;
	uint64_t stream; /* HIP's; 0 in files without it */
	uint64_t bytes;
	uint64_t tid; /* the thread that dispatched it; 0 = unknown */
	uint32_t pid; /* 0 = unknown */
	uint32_t name;
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
};

/*
 * An allocation or release of memory by a runtime. A release has neither size nor agent: it belongs to the last
 * allocation at its address; scratch memory has no address and belongs to a queue.
 */
struct rocm_memory {
	uint64_t start_ns; /* of the operation */
	uint64_t end_ns;
	uint64_t agent; /* key given to rocm_agent() */
	uint64_t place; /* address, or queue of scratch memory */
	uint64_t bytes;
	uint32_t pid; /* 0 = unknown */
	uint32_t level; /* string: "REAL", "VIRTUAL", "SCRATCH" */
	bool release;
	bool scratch;
};

/* The value of a GPU counter for a task. */
struct rocm_counter {
	uint32_t task; /* row of tasks */
	uint32_t name; /* string */
	double value;
};

struct rocm_agent {
	uint64_t number; /* number among the agents of its type; UINT64_MAX = count in the file's order */
	uint32_t name; /* 0 = unnamed */
	bool gpu;
};

/* Initialised with zeros, then rocm_rows_begin(). */
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

/* Adds an agent, GPU or not; the last one of a key is used. Returns 0 or -ENOMEM. */
int rocm_agent(struct rocm_rows *rocm, uint64_t key, const struct rocm_agent *agent);

/* Returns true if the agent is in the file and is not a GPU. */
bool rocm_is_cpu(const struct rocm_rows *rocm, uint64_t key);

/* Adds a row; impossible times (an end before the start, a start of 0) become a finding. Returns 0 or -ENOMEM. */
int rocm_call(struct rocm_rows *rocm, const struct rocm_call *call);
int rocm_task(struct rocm_rows *rocm, const struct rocm_task *task);
int rocm_memory(struct rocm_rows *rocm, const struct rocm_memory *memory);

/*
 * rocm_memory_operation - sets level and release by the SDK's name of a memory operation
 *
 * "MEMORY_ALLOCATION_ALLOCATE", "..._VMEM_FREE", "SCRATCH_MEMORY_ALLOC", ...; returns false if it is neither an
 * allocation nor a release. memory->level is INDEX_NONE if out of memory.
 */
bool rocm_memory_operation(struct rocm_rows *rocm, const char *name, struct rocm_memory *memory);

/* Adds all rows to the model, after the last file. Returns 0 or -ENOMEM. */
int rocm_finish(struct rocm_rows *rocm);
/* The part of rocm_finish() for memory, after agents have their numbers. */
int rocm_put_memory(struct rocm_rows *rocm);
const struct rocm_agent *rocm_agent_of(const struct rocm_rows *rocm, uint64_t key);

/* Profbpf__DeviceTasks__Kind of a kernel by its name. */
uint8_t rocm_kernel_kind(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCM_ROWS_H */
