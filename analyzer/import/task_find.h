/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_find.h - finds tasks of a result that another file already added, for files with further details of them.
 *
 * The timeline of a result has the host's calls, but little more than times of the tasks; the tables beside it have
 * types, shapes and counters. Two tasks are the same if they start at the same instant on the same device and have
 * the same name, or the same numbers of stream and task; counters without times are matched by the numbers alone.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_TASK_FIND_H
#define PROFBPF_ANALYZER_IMPORT_TASK_FIND_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/* Initialised with zeros, then task_find_begin(). */
struct task_find {
	struct import *import;
	MODEL_ARRAY(uint32_t) by_start; /* rows of tasks */
	MODEL_ARRAY(uint8_t) found; /* by place in by_start: the task was found */
};

/* A file's description of the wanted task. */
struct task_wanted {
	uint64_t device; /* the file's number; UINT64_MAX = unknown */
	uint64_t start_ns;
	uint64_t stream; /* UINT64_MAX = unknown, as the next */
	uint64_t task;
	uint32_t name; /* string */
};

/*
 * task_find_begin - indexes the tasks from import->first_task on. Returns 0 or -ENOMEM; the caller frees @find in
 * both cases.
 */
int task_find_begin(struct task_find *find, struct import *import);
void task_find_free(struct task_find *find);

/*
 * task_find - the row of a task, each at most once; INDEX_NONE if there is none
 *
 * Start times may differ by less than a microsecond: older files round them to hundredths.
 */
uint32_t task_find(struct task_find *find, const struct task_wanted *wanted);

/* Tasks by their numbers, for files without times. Initialised with zeros, then task_chains_make(). */
struct task_chains {
	struct map first; /* hash of device, stream and task -> place in by_start */
	MODEL_ARRAY(uint32_t) next; /* by place: the next task with the same numbers, or INDEX_NONE */
};

/* Returns 0 or -ENOMEM; the caller frees @chains in both cases. */
int task_chains_make(struct task_chains *chains, const struct task_find *find);
void task_chains_free(struct task_chains *chains);

/*
 * task_chains_next - the place in by_start of the earliest task with the numbers of @wanted
 *
 * Device, stream and task must be known. @after: returns the next task after that place; INDEX_NONE = from the
 * first. Returns INDEX_NONE if there is no other.
 */
uint32_t task_chains_next(const struct task_chains *chains, const struct task_find *find,
			  const struct task_wanted *wanted, uint32_t after);

#define TASK_DETAIL_SHARED 0x80000000u /* flag of task_detail.known: several tasks have the row */
#define RECENT_DETAILS 256

/* The details that a file's tasks got last. Zeroed at the begin. */
struct recent_details {
	uint32_t row[RECENT_DETAILS]; /* 1 + index into model->task_details, by hash; 0 = none */
};

/*
 * task_detail_put - gives a task its details: the row of equal recent ones, or a new row
 *
 * Of thousands of tasks of a step most differ in nothing but name and times. Returns false if out of memory.
 */
bool task_detail_put(struct model *model, struct recent_details *recent, struct device_task *task,
		     const struct task_detail *detail);

/*
 * task_detail_of - the details of a task alone, for changes; created if there are none yet; NULL if out of memory
 *
 * Details that it shares with other tasks are copied. The pointer is valid until a row is added to
 * model->task_details.
 */
struct task_detail *task_detail_of(struct model *model, struct device_task *task);

/* A detail whose values are all unknown. */
struct task_detail task_detail_unknown(void);

/*
 * task_detail_add_metrics - adds @count counters to a task
 *
 * The counters of a task are contiguous: existing ones are moved to the end of the array. Returns false if out of
 * memory.
 */
bool task_detail_add_metrics(struct model *model, struct task_detail *detail,
			     const struct task_metric *metrics, uint32_t count);

#endif /* PROFBPF_ANALYZER_IMPORT_TASK_FIND_H */
