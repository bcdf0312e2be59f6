/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pytorch.h - state between reading a Kineto trace and adding it to the model; private to pytorch*.c.
 *
 * The base of the file's instants is at its end: rows are made after the whole file is read.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_PYTORCH_PYTORCH_H
#define PROFBPF_ANALYZER_IMPORT_PYTORCH_PYTORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/pass_arrows.h"
#include "analyzer/import/task_find.h"

/* What many calls or tasks have in common. Unused members are 0. */
struct pytorch_common {
	uint64_t place; /* process of a call, device of a task */
	uint64_t track; /* thread of a call, stream of a task */
	const char *runtime; /* of a call; static text */
	uint32_t name; /* strings, from here */
	uint32_t group; /* ranks of a collective, "[0, 1]" */
	uint32_t collective; /* "allreduce" */
	uint32_t type; /* data type, "Float" */
	uint32_t members; /* size of its group; 0 = unknown */
	uint16_t kind; /* of a task */
	uint16_t metric_count; /* of a task */
};

/* Calls and tasks stay until the whole file is read, in files if they are many. Times in the file's clock. */

/* A call of a runtime. */
struct host_call {
	uint64_t correlation;
	int64_t start_ns;
	int64_t dur_ns;
	uint32_t common; /* index into commons */
};

struct pytorch_operator {
	uint64_t number; /* "External id"; 0 = none, not stored */
	uint32_t name; /* strings, from here */
	uint32_t shapes; /* as msprof writes them: "8,16;;2" */
	uint32_t types;
};

/* A host slice: an operator, a function of Python, a module, a range. */
struct pytorch_scope {
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t tid;
	uint64_t number; /* operators: "External id"; 0 = unknown */
	uint32_t pid;
	uint32_t name; /* strings */
	uint32_t shapes; /* operators only */
	uint8_t scope; /* enum host_scope */
};

struct gpu_task {
	uint64_t correlation;
	uint64_t external; /* number of its operator; 0 = unknown */
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t bytes;
	uint32_t common; /* index into commons */
	uint32_t first_metric; /* first row of metrics: figures of its launch */
};

/* A step or a memory record; its start and, of a step, its duration are in the file's clock. */
struct pytorch_mark {
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t number;
	uint32_t pid;
};

struct pytorch_memory {
	struct memory_record record;
	int64_t start_ns;
	uint32_t pid;
};

#define PYTORCH_RECENT 1024

struct pytorch {
	struct import *import;
	struct import_rows rows;
	struct recent_details details;
	int64_t base_ns; /* baseTimeNanoseconds */
	MODEL_ARRAY(struct pytorch_common) commons;
	struct map common_map; /* hash -> commons */
	uint32_t recent_commons[PYTORCH_RECENT]; /* 1 + index into commons, by the hash; 0 = none */
	MODEL_ARRAY(struct host_call) calls;
	MODEL_ARRAY(struct gpu_task) tasks;
	MODEL_ARRAY(struct task_metric) metrics;
	MODEL_ARRAY(struct pytorch_mark) marks;
	MODEL_ARRAY(struct pytorch_memory) memory;
	MODEL_ARRAY(struct pytorch_operator) operators;
	MODEL_ARRAY(struct pytorch_scope) scopes;
	struct pass_arrow_ends arrows;
	bool has_rank;
	uint32_t rank;
	MODEL_ARRAY(uint32_t) pipelines; /* strings: ranks of pipeline groups, "[0,4]" */
	struct import_tracks tracks;
	struct map device_names; /* the file's device number -> string */
};

/* Converts an interval of the file's clock to instants of the model; returns false if it is impossible. */
bool pytorch_instants(const struct pytorch *file, int64_t start_ns, int64_t dur_ns, uint64_t *from,
		      uint64_t *to);

struct json_value;

/*
 * pytorch_collective - sets group, type and size (the larger of both messages) of a collective's kernel
 *
 * @told: name, elements in and out, type of elements, size of the group, in this order; @ranks: of the group.
 * Strings of @common are INDEX_NONE if out of memory.
 */
void pytorch_collective(struct pytorch *file, const struct json_value *told, const struct json_value *ranks,
			struct pytorch_common *common, struct gpu_task *task);

/*
 * pytorch_launch_figures - adds grid and block (products of their lists) and the further figures as metrics of the
 * task
 *
 * @told: grid, block, registers, shared memory, blocks and warps per SM, occupancy; @keys: their names, with the
 * prefix "args.". Returns 0 or -ENOMEM.
 */
int pytorch_launch_figures(struct pytorch *file, const struct json_value *told,
			   const char *const *keys, struct pytorch_common *common, struct gpu_task *task);

/* pytorch_common_of - the index of an equal row of commons, made on first use. INDEX_NONE: out of memory. */
uint32_t pytorch_common_of(struct pytorch *file, const struct pytorch_common *common);

/*
 * Adds the host's timeline as calls, if there is no trace, and the operators' times as sums; devices from
 * @first_device on are the file's. Returns 0 or -ENOMEM.
 */
int pytorch_put_scopes(struct pytorch *file, uint32_t first_device);

/* Adds all that was read to the model. Returns 0 or -ENOMEM. */
int pytorch_put_rows(struct pytorch *file);

#endif /* PROFBPF_ANALYZER_IMPORT_PYTORCH_PYTORCH_H */
