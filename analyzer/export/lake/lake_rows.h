/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake_rows.h - the rows of a lake's tables, made from devices' tasks and steps.
 *
 * A task or a gap belongs to the step in which it begins; outside of all steps it belongs to none. Instants are
 * still in the model's clock.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_ROWS_H
#define PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/model/model.h"
#include "analyzer/store/schema.h"
#include "analyzer/view/report.h"

#define LAKE_NO_STEP UINT64_MAX

struct lake_options {
	bool has_rank;
	uint32_t rank; /* rank of the first device whose file does not state one; further ones are numbered upwards */
};

struct lake_step {
	uint32_t rank;
	uint32_t device; /* index into model->devices */
	uint64_t step;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t compute_ns; /* union of kernels, cut to the step, as the following times are */
	uint64_t communication_ns;
	uint64_t exposed_ns; /* the part of it without a kernel at the same time */
	uint64_t idle_ns; /* without any task */
	bool has_work; /* compute, exposed and idle time are known: the file has single kernels */
	uint64_t cpu_ns; /* CPU time of the device's process */
	bool has_cpu; /* cpu_ns is known */
};

struct lake_collective {
	uint32_t rank;
	uint32_t device;
	uint64_t step;
	uint64_t sequence; /* number of the collective on its communicator, in the step */
	uint32_t communicator; /* string; 0 = unknown */
	uint32_t op; /* string */
	uint64_t bytes; /* 0 = unknown */
	uint64_t start_ns;
	uint64_t end_ns;
};

struct lake_idle {
	uint32_t rank;
	uint64_t step;
	uint8_t cause; /* enum idle_cause, at the end of all waiting */
	uint32_t who; /* string; 0 = unknown */
	uint64_t ns;
};

struct lake_operator {
	uint32_t rank;
	uint64_t step;
	uint32_t name; /* string */
	uint64_t count;
	uint64_t total_ns;
};

struct lake_pipeline {
	uint32_t rank;
	uint64_t step;
	uint32_t pipeline; /* which of the process's, from 1 */
	uint32_t name; /* name of the operator: string */
	bool has_busy, has_wait; /* the next figures are known */
	uint64_t busy_ns; /* time in which its threads ran */
	uint64_t wait_ns; /* time in which consumers waited for its queue */
};

struct lake_rank {
	uint32_t rank;
	uint32_t device;
};

struct lake_rows {
	MODEL_ARRAY(struct lake_step) steps;
	MODEL_ARRAY(struct lake_collective) collectives;
	MODEL_ARRAY(struct lake_idle) idle;
	MODEL_ARRAY(struct lake_pipeline) pipeline;
	MODEL_ARRAY(struct lake_operator) operators;
	MODEL_ARRAY(struct lake_rank) ranks;
};

/* lake_rows_make - fill @rows. Returns 0 or a negative errno as write_lake(); lake_rows_free() in any case. */
int lake_rows_make(struct model *model, const struct results *results,
		   const struct lake_options *options, struct lake_rows *rows, char *error,
		   size_t error_size);
void lake_rows_free(struct lake_rows *rows);

/* The tables of a lake, up to NULL. */
extern const struct data_table *const lake_tables[];

/* The source of the tables' rows; @data must be the first member. */
struct lake_data {
	struct table_data data;
	const struct lake_rows *rows;
	uint32_t host; /* string */
};

#endif /* PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_ROWS_H */
