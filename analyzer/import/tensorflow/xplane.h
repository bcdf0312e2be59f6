/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane.h - state between reading a profile of TensorFlow or JAX and adding it to the model; names that other
 * importers share.
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

/* Is the line of a device a sum of other lines ("XLA Modules")? */
bool xplane_line_is_sum(const char *name);

/* The enum host_scope of a host event; @operation: the file marks it as an operation of XLA. */
uint8_t xplane_scope(const char *name, bool operation);

/* Is it, by its name, a function of a runtime that launches work? */
bool xplane_is_call(const char *name);

/* The kinds of a plane's lines. */
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
	uint64_t step; /* scopes: number of the step; UINT64_MAX = not a step */
	uint32_t name;
	uint32_t type;
	uint32_t detail; /* tasks: 1 + index into model->task_details; 0 = none */
	uint32_t device; /* tasks and steps: the device */
	uint32_t line_name; /* scopes: string */
	uint8_t scope; /* scopes: enum host_scope */
};

struct xplane_device {
	uint32_t name; /* string: name of the plane */
	double peak_flops; /* 0 = unknown, as the next */
	double peak_bandwidth;
};

struct xspace {
	struct import *import;
	struct import_rows rows;
	struct plane *plane; /* the plane being read */
	struct line line;
	MODEL_ARRAY(struct xspan) tasks;
	MODEL_ARRAY(struct xspan) calls;
	MODEL_ARRAY(struct xspan) scopes; /* the host's timeline, if no trace was given */
	MODEL_ARRAY(struct xspan) steps;
	MODEL_ARRAY(struct xplane_device) devices; /* index: device of spans */
	struct map launches; /* correlation -> row of calls */
	uint8_t clock;
	int64_t move_ns;
};

/* Adds all that was read to the model. Returns 0 or -ENOMEM. */
int xplane_put_rows(struct xspace *file);

#endif /* PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_H */
