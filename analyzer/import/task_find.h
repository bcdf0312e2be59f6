/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_find.h - the tasks of a result that are there already, for files that say more of them.
 *
 * The timeline of a result has the host's calls, but of the tasks little more than times; tables beside
 * it have types, shapes and counters. A task is the same one if it began at the same instant on the same
 * device and has the same name, or numbers of stream and task; where counters come without times, numbers
 * alone tell.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_TASK_FIND_H
#define PROFBPF_ANALYZER_IMPORT_TASK_FIND_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/* Zeroed, and then task_find_begin(). */
struct task_find {
	struct import *import;
	MODEL_ARRAY(uint32_t) by_start; /* rows of tasks */
	MODEL_ARRAY(uint8_t) found; /* by place in by_start: it was */
};

/* What a file says of which task it means. */
struct task_wanted {
	uint64_t device; /* the file's number; UINT64_MAX = it does not say */
	uint64_t start_ns;
	uint64_t stream; /* UINT64_MAX = not told, as the next */
	uint64_t task;
	uint32_t name; /* string */
};

/* task_find_begin - the tasks from import->first_task on. Returns 0 or -ENOMEM; to be freed in both cases. */
int task_find_begin(struct task_find *find, struct import *import);
void task_find_free(struct task_find *find);

/*
 * task_find - the row of a task, each at most once; INDEX_NONE = there is none
 *
 * Instants may differ by less than a microsecond: older files round them to hundredths.
 */
uint32_t task_find(struct task_find *find, const struct task_wanted *wanted);

/* Tasks by their numbers, for files without times. Zeroed, and then task_chains_make(). */
struct task_chains {
	struct map first; /* hash of device, stream and task -> place in by_start */
	MODEL_ARRAY(uint32_t) next; /* by place: the next one of the same, or INDEX_NONE */
};

/* 0 or -ENOMEM; to be freed in both cases. */
int task_chains_make(struct task_chains *chains, const struct task_find *find);
void task_chains_free(struct task_chains *chains);

/*
 * task_chains_next - the place in by_start of the first task with the numbers of @wanted, by time
 *
 * All three must be told.
 * @after: the next one after that place instead; INDEX_NONE = the first. INDEX_NONE = there is no other.
 */
uint32_t task_chains_next(const struct task_chains *chains, const struct task_find *find,
			  const struct task_wanted *wanted, uint32_t after);

/*
 * task_detail_of - what is known of a task besides, made if there is nothing yet; NULL without memory
 *
 * Valid until a row is added to model->task_details.
 */
struct task_detail *task_detail_of(struct model *model, struct device_task *task);

/* A detail of which nothing is known. */
struct task_detail task_detail_unknown(void);

/*
 * task_detail_add_metrics - @count more counters of a task
 *
 * Those of a task follow each other: what it had is moved behind all others. False without memory.
 */
bool task_detail_add_metrics(struct model *model, struct task_detail *detail,
			     const struct task_metric *metrics, uint32_t count);

#endif /* PROFBPF_ANALYZER_IMPORT_TASK_FIND_H */
