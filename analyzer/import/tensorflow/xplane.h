/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane.h - a profile of TensorFlow or JAX between reading and the model; for xplane*.c, and words that others share.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_H
#define PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"

struct plane;

/* Profbpf__DeviceTasks__Kind by an operation's name and category. */
uint8_t xplane_task_kind(const char *name, const char *type);

/* Is it a line of a device that sums up others ("XLA Modules")? */
bool xplane_line_is_sum(const char *name);

/* enum host_scope of what a thread of the host was in; @operation: the file says that it is one of XLA's. */
uint8_t xplane_scope(const char *name, bool operation);

/* Is it a function of a runtime, of those that launch, as far as its name goes? */
bool xplane_is_call(const char *name);

/* How the lines of a plane are to be taken. */
enum line_role { LINE_OTHER, LINE_WORK, LINE_CALLS, LINE_STEPS };

struct line {
	uint64_t id;
	int64_t timestamp_ns;
	enum line_role role;
	uint32_t name; /* string */
};

struct xspan {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t correlation;
	uint64_t bytes;
	uint64_t line;
	uint64_t step; /* of scopes: UINT64_MAX = it is none */
	uint32_t name;
	uint32_t type;
	uint32_t detail; /* of tasks: 1 + index into model->task_details; 0 = none */
	uint32_t device; /* of tasks and steps */
	uint32_t line_name; /* string, of scopes */
	uint8_t scope; /* enum host_scope, of scopes */
};

struct xplane_device {
	uint32_t name; /* string: the plane's */
	double peak_flops; /* 0 = not told, as the next */
	double peak_bandwidth;
};

struct xspace {
	struct import *import;
	struct import_rows rows;
	struct plane *plane; /* being read */
	struct line line;
	MODEL_ARRAY(struct xspan) tasks;
	MODEL_ARRAY(struct xspan) calls;
	MODEL_ARRAY(struct xspan) scopes; /* the host's timeline, if no trace was given */
	MODEL_ARRAY(struct xspan) steps;
	MODEL_ARRAY(struct xplane_device) devices; /* by device of spans */
	struct map launches; /* correlation -> row of calls */
	uint8_t clock;
	int64_t move_ns;
};

/* Rows of the model from all that was read. 0 or -ENOMEM. */
int xplane_put_rows(struct xspace *file);

#endif /* PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_H */
