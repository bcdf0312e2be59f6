/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mindinsight_device.h - the work of a device in the files of MindSpore's profiler, for MindInsight.
 *
 * One set of files per device with tasks, numbered by rank if all ranks differ, else from 0. Formats: MindInsight 2.3.1's
 * analysers and MindSpore's profiler/parser. MindInsight knows AI cores, AI CPUs, communication and the host's
 * CPU; kernels without a known unit are written as those of AI cores. Copies and events are in none of
 * its files.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_DEVICE_H
#define PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

struct mindinsight_device {
	const struct model *model;
	const struct results *results;
	uint32_t device; /* index into model->devices */
	uint32_t number; /* number in the files' names */
	const uint32_t *order; /* its rows of task_order() */
	uint32_t count;
	const struct device_step_trace *steps; /* NULL = not known */
	uint32_t ranks; /* ranks of the job: devices with tasks, or more if their largest rank is beyond that */
	uint32_t stages; /* pipeline stages, if the ranks of each stage are consecutive, as MindInsight assumes; 0 = none */
};

/* Does it run on AI cores, as MindInsight sees it? */
bool mindinsight_is_aicore(const struct model *model, const struct device_task *task);

/* Each function writes one file and returns 0 or a negative errno. */
int mindinsight_aicore_types(FILE *out, const struct mindinsight_device *of);
int mindinsight_aicore_details(FILE *out, const struct mindinsight_device *of);
int mindinsight_framework(FILE *out, const struct mindinsight_device *of);
int mindinsight_flops(FILE *out, const struct mindinsight_device *of);
int mindinsight_flops_summary(FILE *out, const struct mindinsight_device *of);
int mindinsight_flops_scopes(FILE *out, const struct mindinsight_device *of); /* needs scopes */
int mindinsight_aicpu(FILE *out, const struct mindinsight_device *of);
int mindinsight_step_trace(FILE *out, const struct mindinsight_device *of);
int mindinsight_points(FILE *out, const struct mindinsight_device *of);
int mindinsight_timeline(FILE *out, const struct mindinsight_device *of);
int mindinsight_timeline_summary(FILE *out, const struct mindinsight_device *of);
int mindinsight_cluster(FILE *out, const struct mindinsight_device *of); /* needs steps */
int mindinsight_hccl(FILE *out, const struct mindinsight_device *of); /* needs steps, too */
int mindinsight_memory_summary(FILE *out, const struct mindinsight_device *of);
int mindinsight_memory_details(FILE *out, const struct mindinsight_device *of);

/* Does a device file have the cost of communication, or the device's memory? */
bool mindinsight_has_communication(const struct mindinsight_device *of);
bool mindinsight_has_memory(const struct mindinsight_device *of);

/* Does a device file have the number of operations of operators in scopes? */
bool mindinsight_has_scopes(const struct mindinsight_device *of);

struct mindinsight_devices {
	uint32_t count; /* devices with tasks */
	uint32_t only; /* number of the only device; 0 if there are none or several */
};

/*
 * mindinsight_write_devices - writes all files of all devices with tasks into @folder, and fills @written
 *
 * Returns 0 or a negative errno with @error.
 */
int mindinsight_write_devices(const struct model *model, const struct results *results,
			      const char *folder, struct mindinsight_devices *written, char *error,
			      size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_LAYOUTS_MINDINSIGHT_MINDINSIGHT_DEVICE_H */
