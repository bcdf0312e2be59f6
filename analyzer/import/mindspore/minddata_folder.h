/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minddata_folder.h - what MindSpore's own data profiler wrote: one set of files per rank.
 *
 * minddata_cpu_utilization_N.json, pipeline_profiling_N.json and dataset_iterator_profiling_N.txt
 * or device_queue_profiling_N.txt, and what the device says of its reads, of MindSpore 2.0 to 2.10 and of `analyzer export --to
 * mindinsight`. Instants are CLOCK_MONOTONIC milliseconds.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_MINDSPORE_MINDDATA_FOLDER_H
#define PROFBPF_ANALYZER_IMPORT_MINDSPORE_MINDDATA_FOLDER_H

#include <stdio.h>

#include <yajl/yajl_tree.h>

#include "analyzer/import/importer.h"

struct minddata_rank {
	struct import *import;
	const char *folder;
	unsigned int number;
	uint32_t process; /* that stands for the trainer */
	uint32_t first; /* its rows of imported_operators */
	uint32_t count;
	uint64_t *stamps; /* ns: when figures were read; owned */
	size_t stamp_count;
};

/* minddata_read - a whole JSON file; NULL with import->error. Free with yajl_tree_free(). */
yajl_val minddata_read(struct minddata_rank *rank, const char *name);

/*
 * minddata_open - a file of lines in the rank's folder
 * minddata_close - @err, or what went wrong in reading it; @file may be NULL
 *
 * Return 0, with *@file, or a negative errno with import->error.
 */
int minddata_open(struct minddata_rank *rank, const char *name, FILE **file);
int minddata_close(struct minddata_rank *rank, const char *name, FILE *file, int err);

/* Element of an array of numbers, 0 beyond its end or if it is none. */
double minddata_number(yajl_val array, size_t index);

/*
 * Each takes in one file. Return 0 or a negative errno with import->error; the operators come
 * first, the CPU's figures, which have the instants, before the samples of queues.
 */
int minddata_take_operators(struct minddata_rank *rank, yajl_val pipeline);
int minddata_take_cpu(struct minddata_rank *rank, yajl_val cpu);
int minddata_take_queues(struct minddata_rank *rank, yajl_val pipeline);
int minddata_take_batches(struct minddata_rank *rank, const char *name);

/*
 * minddata_take_reads - what the device says of taking batches out of its queue
 *
 * minddata_aicpu_N.txt (Ascend: "GetNext_dequeue_wait START END SIZE" in microseconds) or
 * minddata_getnext_profiling_N.txt (GPU: "GetNext START END SIZE" in nanoseconds), by the device's clock. Kept to be written
 * again; @power: of ten, from its unit to nanoseconds. How many reads, how long they took and how many found the queue empty become facts.
 */
int minddata_take_reads(struct minddata_rank *rank, const char *name, int power);

#endif /* PROFBPF_ANALYZER_IMPORT_MINDSPORE_MINDDATA_FOLDER_H */
