/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - rows of the model (model.h): accelerators, their tasks, steps, communication and memory. */
#ifndef PROFBPF_ANALYZER_MODEL_DEVICE_H
#define PROFBPF_ANALYZER_MODEL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* An accelerator of a process, or one in a file of another profiler. */
struct device {
	uint32_t id; /* as in the file */
	uint32_t process; /* the process whose runtime reported it, or INDEX_NONE */
	uint32_t name;
	uint32_t kind; /* "cpu", "gpu", ... */
	uint32_t source; /* "opencl-layer", ... */
	uint32_t file; /* 1 + index into model->imports: the file that contains it; 0 = the trace */
	uint8_t clock; /* Profbpf__DeviceClock */
	/*
	 * Its times are a counter's of its own, which its source sets against the clock that it
	 * declares: by how much they are off is not said. False: the host's clock itself, read.
	 */
	bool anchored;
	bool anchored_once; /* and that only once, so that it drifts from there */
	bool own_clock; /* of a device file read without a trace: its clock is the model's */
	/*
	 * Its file has whole pieces of work, not the kernels in them, between which the device may be idle: its busy time
	 * is unknown, its idle time is known only between its tasks.
	 */
	bool whole;
	bool has_rank;
	uint32_t rank; /* of its process in a distributed job, if has_rank */
	uint32_t stages; /* number of pipeline stages of the job; 0 = unknown */
	uint32_t stage; /* from 0: which of them its rank is in, if stages */
	double peak_flops; /* floating-point operations per second that it can do; 0 = unknown */
	double peak_bandwidth; /* bytes per second to and from its memory; 0 = unknown */
};

/* flags of device tasks */
#define MODEL_TASK_UNTIMED 0x01 /* start or end not reported: in no busy time */
#define MODEL_TASK_BY_ID 0x02 /* joined by the numbers of stream and task */
#define MODEL_TASK_NUMBERED 0x04 /* it has such numbers, and so have the calls of its stream */
#define MODEL_TASK_EDGE 0x08 /* before the first or after the last recorded call of its stream */
#define MODEL_TASK_AT_STEP 0x10 /* where its device's clock jumps: times are less sure */
#define MODEL_TASK_NEGATIVE 0x20 /* starts before its launch by the clock as it was declared */
#define MODEL_TASK_BY_ORDER 0x40 /* joined by order within its stream, before its clock was known */

/* Something a device did: a kernel, a copy, a communication operation. */
struct device_task {
	uint64_t queued_ns; /* device clock until the clock join, CLOCK_MONOTONIC after it */
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t enqueue_ns; /* CLOCK_MONOTONIC always; 0 = unknown */
	uint64_t enqueue_dur_ns;
	uint64_t stream;
	uint64_t bytes;
	uint64_t correlation;
	uint32_t device; /* index into devices */
	uint32_t thread; /* enqueuing thread or INDEX_NONE */
	uint32_t name;
	uint32_t call; /* launching call or INDEX_NONE (set by the launch join) */
	uint32_t type; /* string: the operator's, "MatMul"; 0 = unknown */
	uint32_t core; /* string: the unit that ran it, in the file's words, "AI_CORE"; 0 = unknown */
	uint32_t detail; /* 1 + index into task_details; 0 = none */
	int32_t status;
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint8_t flags;
};

#define MODEL_ID_NONE UINT64_MAX /* a number that is not in the file */

/* flags of task details: figures that are known */
#define MODEL_DETAIL_FLOPS 1
#define MODEL_DETAIL_MOVED 2
#define MODEL_DETAIL_UTILIZATION 4

/* Further facts about a task that some files have; strings are the file's, 0 = unknown. */
struct task_detail {
	uint64_t task_id; /* MODEL_ID_NONE = unknown, as the next two */
	uint64_t context_id;
	uint64_t model_id;
	uint64_t step; /* the file's number of the step it belongs to; MODEL_ID_NONE = unknown */
	uint32_t blocks; /* cores it ran on; INDEX_NONE = unknown, as the next */
	uint32_t mix_blocks;
	uint32_t state; /* "static", "dynamic" */
	uint32_t hf32; /* "YES", "NO": may it compute in HF32? */
	uint32_t input_shapes;
	uint32_t input_types;
	uint32_t input_formats;
	uint32_t output_shapes;
	uint32_t output_types;
	uint32_t output_formats;
	uint32_t group; /* communication: the group of ranks */
	uint32_t collective; /* communication: the framework's name of it, "allreduce" */
	uint32_t members; /* of communication: how many take part; 0 = unknown */
	uint32_t known; /* MODEL_DETAIL_*: which of the next three are known */
	double flops; /* floating-point operations of the task, not per second */
	double moved_bytes; /* that it reads and writes */
	double utilization; /* percent of the operations that its core could have done meanwhile */
	uint32_t first_metric; /* task_metrics[first .. first + count) */
	uint32_t metric_count;
};

/* The value of a device counter for a task. Packed: there may be dozens for each of millions of tasks. */
struct task_metric {
	uint32_t name; /* string: the file's name with its unit: "aic_mac_ratio", "aicore_time(us)" */
	double value;
} __attribute__((packed, aligned(4)));

/* A step in a device file. 0 = unknown. */
struct device_step {
	uint64_t number; /* the file's number of it */
	uint64_t model_id; /* MODEL_ID_NONE = unknown */
	uint64_t fp_start_ns; /* forward pass begins; CLOCK_MONOTONIC, as task times after the join */
	uint64_t bp_end_ns; /* backward pass ended */
	uint64_t end_ns; /* of the step */
	uint32_t device; /* index into devices */
	uint32_t first_reduce; /* device_reduces[first .. first + count) */
	uint32_t reduce_count;
};

/* A collective of such a step, from the same file. */
struct device_reduce {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t stream; /* MODEL_ID_NONE = unknown */
};

/* A step as the job's own framework marks it on the host: ProfilerStep#3. */
struct step_mark {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t number;
	uint32_t process; /* index into processes, or INDEX_NONE */
	uint32_t device; /* index into devices, if it is a device that the mark is of; or INDEX_NONE */
	uint32_t file; /* 1 + index into model->imports, if it is of none of the other files' devices; or 0 */
	bool unnamed; /* found on the host, without a call or range whose name says that it is a step (step_names.h) */
};

/* The bytes that a communication operation moved over a link, or its time of waiting. */
struct link_use {
	uint64_t ns;
	uint64_t bytes;
	uint32_t device; /* index into devices */
	uint32_t operation; /* string: the operation's name, as its task has it */
	uint32_t transport; /* string: "HCCS", "RDMA", "SDMA", "LOCAL"; 0 = unknown */
	uint32_t source; /* ranks; INDEX_NONE = unknown */
	uint32_t destination;
	uint32_t count; /* transfers or waits */
	bool wait; /* it waited for other ranks; nothing was moved */
};

/* Times of a communication operation that a file states; UINT64_MAX = unknown. */
struct communication_time {
	uint64_t elapsed_ns;
	uint64_t transit_ns;
	uint64_t wait_ns;
	uint64_t synchronization_ns; /* of wait_ns: before the first transfer */
	uint64_t idle_ns;
	uint32_t device; /* index into devices, INDEX_NONE = the only device */
	uint32_t operation; /* string */
};

/* flags of memory records */
#define MODEL_MEMORY_CHANGE 1 /* bytes is known: an allocation, or negative: a release */
#define MODEL_MEMORY_ALLOCATED 2 /* allocated is known */
#define MODEL_MEMORY_RESERVED 4 /* reserved is known */
#define MODEL_MEMORY_HOST 8 /* of the host's memory, not a device's */

/* A file's record of memory at an instant. */
struct memory_record {
	uint64_t ts_ns;
	int64_t bytes;
	uint64_t address; /* 0 = unknown */
	uint64_t allocated; /* bytes in use by then, as the allocator counts */
	uint64_t reserved; /* bytes that the allocator holds */
	uint32_t device; /* the file's number of the device */
	uint32_t process; /* index into processes, or INDEX_NONE */
	uint32_t file; /* index into imports */
	uint32_t component; /* string: "PTA", "GE"; 0 = unknown */
	uint32_t flags;
};

#endif /* PROFBPF_ANALYZER_MODEL_DEVICE_H */
