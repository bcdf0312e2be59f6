/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_json.h - state between reading an Ascend timeline and adding it to the model; private to ascend_json*.c.
 *
 * The names of processes may come after their events: rows are made after the whole file is read.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_JSON_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/ascend/ascend_counters.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/pass_arrows.h"

enum role { ROLE_NONE, ROLE_HARDWARE, ROLE_CANN, ROLE_COMMUNICATION };

/* The kind of a thread, from its name; TRACK_STEPS + number of the model. */
enum track { TRACK_OPERATIONS = 1, TRACK_STEPS };

struct event {
	int64_t start_ns;
	int64_t dur_ns;
	uint64_t connection; /* 0 = none */
	uint64_t stream;
	uint64_t task; /* hardware and parts of collectives; UINT64_MAX = unknown */
	uint64_t tid;
	uint64_t pid;
	uint64_t bytes;
	uint32_t name;
	uint32_t type;
	uint8_t scope; /* enum host_scope, for torch_npu's events of the host */
};

/* A row of a step trace: a step or, within it, a reduction. */
struct step_row {
	uint64_t number;
	uint64_t tid;
	uint64_t pid;
	int64_t start_ns;
	int64_t end_ns;
	int64_t fp_start_ns; /* 0 = unknown */
	int64_t bp_end_ns;
	bool taken; /* reductions: assigned to a step */
};

struct timeline_file {
	struct import *import;
	struct import_rows rows;
	struct map roles; /* pid -> enum role; complete after reading */
	struct map tracks; /* hash of pid and tid -> enum track */
	struct map operations; /* connections of collectives */
	struct map parts; /* stream << 32 | task of their parts */
	struct map launches; /* connection -> row of events */
	struct map flows; /* connection -> row of flow_starts */
	MODEL_ARRAY(struct event) events;
	MODEL_ARRAY(struct event) flow_starts; /* instants inside of calls */
	MODEL_ARRAY(struct step_row) steps;
	MODEL_ARRAY(struct step_row) reduces;
	struct pass_arrow_ends arrows;
	struct ascend_counters counters;
	bool has_operations;
	int64_t shift_ns; /* shift of wall-clock times against CLOCK_MONOTONIC_RAW; 0 = unknown */
	uint8_t clock;
};

static inline uint64_t track_key(uint64_t pid, uint64_t tid)
{
	return pid * 0x9e3779b97f4a7c15u ^ tid;
}

/* Returns true if the process numbers contain the device numbers. */
bool ascend_json_numbered(const struct timeline_file *file);

/* Adds all that was read to the model. Returns 0 or -ENOMEM. */
int ascend_json_put_rows(struct timeline_file *file);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_JSON_H */
