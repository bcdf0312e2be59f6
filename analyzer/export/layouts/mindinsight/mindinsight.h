/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mindinsight.h - the files of MindSpore's profilers, for MindInsight: data pipelines and devices.
 *
 * Devices are in mindinsight_device.h; this header is about pipelines, in the files of the MindData profiler.
 * There is one set of files per pipeline, numbered as in the report's section pipeline, starting with the number of the
 * device if there is one; MindInsight calls that number the device. Formats: MindSpore 2.10,
 * minddata/dataset/engine/perf and mindspore/profiler/analysis (parser and viewers of MindData); MindInsight 2.3.1. Figures
 * that MindSpore rounds to whole percents or milliseconds are written as exactly as MindInsight can read them.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_H
#define PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

/* Mean times of a batch in milliseconds, the first one left out; -1 = unknown. */
struct mindinsight_times {
	double pipeline; /* wait for the batch */
	double push; /* sending it to the device */
	double batch; /* from one batch to the next; the sum of the two above if batches go to a device */
};

/* One pipeline. Operators are numbered consecutively; the last one, which delivers batches, is 0. */
struct mindinsight {
	const struct model *model;
	const struct results *results;
	const struct pipeline_usage *usage;
	const struct bottleneck *bottleneck; /* NULL = not judged */
	uint32_t count; /* operators */
	uint32_t *op; /* index into the pipeline's operators, by number */
	uint32_t *id; /* the reverse */
	uint32_t *parent; /* number of each number's parent, or INDEX_NONE */
	struct pipeline_series series;
	uint32_t host_queue; /* queue from which batches are fetched, or INDEX_NONE */
	bool device; /* batches are sent to a device */
	uint32_t sample_ms; /* between two samples of a queue's size */
};

/* Writers return 0 or a negative errno. */

/* Does operator @id have a queue with a known size? Then *@queue is its index. */
bool mindinsight_queue(const struct mindinsight *mi, uint32_t id, uint32_t *queue);
/* "Map" */
const char *mindinsight_type(const struct mindinsight *mi, uint32_t id);
uint32_t mindinsight_workers(const struct mindinsight *mi, uint32_t id);
/*
 * Sizes of its queue each sample_ms from its first to its last push or pop, *@count of
 * them, to be freed; NULL = unknown, or without memory.
 */
uint32_t *mindinsight_sizes(const struct mindinsight *mi, uint32_t id, uint32_t *count);
struct mindinsight_times mindinsight_times(const struct mindinsight *mi);

/* Writes a text as one cell of a CSV file. */
void mindinsight_cell(FILE *out, const char *text);

/* minddata_cpu_utilization_N.json */
int mindinsight_cpu(FILE *out, const struct mindinsight *mi);
/* pipeline_profiling_N.json and minddata_pipeline_raw_N.csv */
int mindinsight_pipeline(FILE *out, const struct mindinsight *mi);
int mindinsight_raw(FILE *out, const struct mindinsight *mi);
/* dataset_iterator_profiling_N.txt or, with mi->device, device_queue_profiling_N.txt */
int mindinsight_steps(FILE *out, const struct mindinsight *mi);
/* minddata_aicpu_N.txt: the device's reads, from a device file */
bool mindinsight_has_reads(const struct mindinsight *mi);
int mindinsight_reads(FILE *out, const struct mindinsight *mi);
/* minddata_pipeline_summary_N.json and .csv */
int mindinsight_summary_json(FILE *out, const struct mindinsight *mi);
int mindinsight_summary_csv(FILE *out, const struct mindinsight *mi);

/*
 * mindinsight_write_host_cpu - tables of operators on the host's CPUs into @folder, of each process that ran some
 *
 * Numbered from @first on; *@written: how many processes. Returns 0 or a negative errno with @error.
 */
int mindinsight_write_host_cpu(const struct model *model, const struct results *results,
			       const char *folder, uint32_t first, uint32_t *written, char *error,
			       size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_H */
