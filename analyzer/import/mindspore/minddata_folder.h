/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minddata_folder.h - files of MindSpore's data profiler: one set of files per rank.
 *
 * minddata_cpu_utilization_N.json, pipeline_profiling_N.json, dataset_iterator_profiling_N.txt or
 * device_queue_profiling_N.txt, and the device's log of its reads, of MindSpore 2.0 to 2.10 and of `analyzer export
 * --to mindinsight`. Instants are CLOCK_MONOTONIC milliseconds.
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
	uint32_t process; /* row that represents the trainer */
	uint32_t first; /* first of its rows in imported_operators */
	uint32_t count;
	uint64_t *stamps; /* ns: the sampling instants; owned */
	size_t stamp_count;
};

/* minddata_read - reads a whole JSON file; NULL with import->error. The caller frees it with yajl_tree_free(). */
yajl_val minddata_read(struct minddata_rank *rank, const char *name);

/*
 * minddata_open - opens a text file in the rank's folder
 * minddata_close - closes it; returns @err, or the error of reading it; @file may be NULL
 *
 * Return 0, with *@file, or a negative errno with import->error.
 */
int minddata_open(struct minddata_rank *rank, const char *name, FILE **file);
int minddata_close(struct minddata_rank *rank, const char *name, FILE *file, int err);

/* Element of an array of numbers; 0 beyond its end or if it is not a number. */
double minddata_number(yajl_val array, size_t index);

/*
 * Each imports one file. Returns 0 or a negative errno with import->error. The caller imports operators first, and
 * the CPU figures, which have the instants, before the samples of queues.
 */
int minddata_take_operators(struct minddata_rank *rank, yajl_val pipeline);
int minddata_take_cpu(struct minddata_rank *rank, yajl_val cpu);
int minddata_take_queues(struct minddata_rank *rank, yajl_val pipeline);
int minddata_take_batches(struct minddata_rank *rank, const char *name);

/*
 * minddata_take_reads - imports the device's log of taking batches out of its queue
 *
 * minddata_aicpu_N.txt (Ascend: "GetNext_dequeue_wait START END SIZE" in microseconds) or
 * minddata_getnext_profiling_N.txt (GPU: "GetNext START END SIZE" in nanoseconds), in the device's clock. The reads
 * are stored for exports; @power: of ten, from the file's unit to nanoseconds. The number of reads, their time, and
 * the number of reads from an empty queue become facts.
 */
int minddata_take_reads(struct minddata_rank *rank, const char *name, int power);

#endif /* PROFBPF_ANALYZER_IMPORT_MINDSPORE_MINDDATA_FOLDER_H */
