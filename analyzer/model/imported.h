/* SPDX-License-Identifier: Apache-2.0 */
/* imported.h - rows of the model (model.h): facts that only other profilers' files contain, and the parts of them that were left out. */
#ifndef PROFBPF_ANALYZER_MODEL_IMPORTED_H
#define PROFBPF_ANALYZER_MODEL_IMPORTED_H

#include <stdbool.h>
#include <stdint.h>

/* A row of a table of calls that another profiler has summed up. */
struct api_statistic {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns; /* UINT64_MAX = the file does not say, as the next */
	uint64_t max_ns;
	double variance; /* square microseconds; negative = unknown */
	uint32_t level; /* string: "AscendCL" */
	uint32_t name;
	uint32_t file; /* index into imports */
};

/* A file's statement about a device, or about the job, as a whole. */
struct device_fact {
	double value; /* if there is no text */
	uint32_t device; /* index into devices; INDEX_NONE = of none of them */
	uint32_t file; /* index into imports */
	uint32_t topic; /* string: "memory", "hbm" */
	uint32_t name; /* string: "peak" */
	uint32_t unit; /* string: "bytes", "operations/s", "%"; 0 = none */
	uint32_t text; /* string; 0 = it is the value */
};

/* A file's sums over operators of one name, or type, and shape; UINT64_MAX of ns = unknown. */
struct operator_sum {
	uint64_t count;
	uint64_t total_ns; /* device time; for a host operator the time of all work that it and its callees launched */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t self_ns; /* host operators: device time of the work that it launched itself */
	uint64_t host_ns; /* on the host */
	uint64_t host_self_ns; /* without operators that it called */
	uint32_t device; /* index into devices; INDEX_NONE = the file does not say which */
	uint32_t file; /* index into imports */
	uint32_t name; /* string; 0 = a sum by type */
	uint32_t type; /* string; 0 = unknown, as the next */
	uint32_t core; /* string: "AI_CORE" */
	uint32_t shapes; /* string: of its inputs; 0 = of whatever shape */
};

/* An arrow of PyTorch's profilers from an operator of the forward pass to the matching one of the backward pass. */
struct pass_arrow {
	uint64_t from_ns; /* start of the forward operator */
	uint64_t to_ns; /* start of the backward operator */
	uint32_t from_thread; /* index into threads, as the next */
	uint32_t to_thread;
};

/* Operators that the graph compiler fused into one; UINT64_MAX of bytes = unknown. */
struct fused_operator {
	uint64_t model_id; /* MODEL_ID_NONE = unknown */
	uint64_t input_bytes;
	uint64_t output_bytes;
	uint64_t weight_bytes;
	uint64_t workspace_bytes;
	uint64_t total_bytes;
	uint32_t model; /* string: name of the model; 0 = unknown */
	uint32_t name; /* string: of the fused operator */
	uint32_t originals; /* string: the original operators, separated by semicolons */
	uint32_t count; /* their number */
	uint32_t file; /* index into imports */
};

/* Advice of another profiler. Strings. */
struct told_advice {
	uint32_t topic; /* "Operator Processing" */
	uint32_t part; /* of the topic; 0 = none */
	uint32_t text;
	uint32_t subjects; /* the objects that it is about, separated by semicolons; 0 = none in particular */
	uint32_t count; /* their number */
	uint32_t file; /* index into imports */
	uint32_t device; /* index into devices; INDEX_NONE = of none of them */
};

/* The parts of a device's steps that a file compares ranks by; UINT64_MAX = unknown. */
struct cluster_step {
	uint64_t gap_ns; /* before the step */
	uint64_t computation_ns; /* all time that is not pure communication, including idle time */
	uint64_t communication_ns; /* alone */
	uint64_t stage_ns; /* without waiting to receive */
	uint64_t receive_ns; /* alone */
	uint64_t collective_ns; /* alone */
	uint32_t device; /* index into devices */
	uint32_t number; /* from 1 on, by rows */
};

/* A device file that was imported. Strings. */
struct imported_file {
	uint32_t path;
	uint32_t format;
	uint32_t tasks;
	uint32_t calls;
	uint32_t devices;
	uint64_t disk, number; /* st_dev and st_ino, which tell whether two paths are one file; 0 = unknown */
};

/* A part of a file that was not imported, or was changed, and how often. Strings and numbers. */
struct import_finding {
	uint32_t file; /* index into imports */
	uint32_t what;
	uint32_t example; /* of the first, 0 = none */
	bool damage; /* the file, or a file of the directory, was imported in part or not at all */
	uint64_t count;
};

/* An operator of a data pipeline in another profiler's file; the next three structures belong to an operator. */
struct imported_operator {
	uint32_t process; /* index into processes: one process for each set of files */
	int32_t id;
	int32_t parent; /* id; -1 = none */
	uint32_t type; /* string: "Map" */
	uint32_t workers;
	uint32_t capacity; /* of its queue; 0 = it has none */
};

/* How full its queue was at an instant. */
struct imported_size {
	uint64_t ts_ns;
	uint32_t op; /* index into imported_operators */
	uint32_t size;
};

/* CPU time it used between two instants. */
struct imported_cpu {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint32_t op;
};

/* A batch was fetched and, if the pipeline feeds a device, sent. */
struct imported_batch {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t send_ns; /* how long that took, from end_ns on */
	uint32_t process;
	bool sent;
};

/* A device took a batch out of its queue, by a clock of its own. */
struct imported_read {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t process; /* as of imported_batch */
	uint32_t size; /* batches in the queue; INDEX_NONE = unknown */
};

#endif /* PROFBPF_ANALYZER_MODEL_IMPORTED_H */
