/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof.h - the work of devices in the layout of Ascend's msprof, for tools that read it.
 *
 * A folder PROF_<number>_<time>_PROFBPF for each device with
 * mindstudio_profiler_output/{op_summary,op_statistic,communication_statistic,api_statistic,step_trace,task_time}_<time>.csv
 * and the timelines {msprof,step_trace}_<time>.json (msprof_events.h).
 * Columns are those of msprof in CANN 8 (from its documentation of each file); op_summary also has the counters of
 * the device file. Unknown values are "N/A". Times are microseconds of CLOCK_REALTIME if the trace has that clock; in
 * tables a tab follows them, as in msprof's files.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_H
#define PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_H

#include <limits.h>

#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/view/render/csv_file.h"
#include "analyzer/view/report.h"

struct msprof {
	const struct model *model;
	const struct results *results;
	char folder[PATH_MAX]; /* folder of its files */
	char stamp[16]; /* time in their names: YYYYMMDDhhmmss */
	uint32_t device; /* index into model->devices */
	bool first; /* the first device, which also gets rows that belong to no device */
};

/* Each function writes one file and returns 0 or a negative errno. */
int msprof_op_summary(const struct msprof *msprof);
int msprof_task_time(const struct msprof *msprof);
int msprof_op_statistic(const struct msprof *msprof);
int msprof_communication_statistic(const struct msprof *msprof); /* no file without collectives */
int msprof_api_statistic(const struct msprof *msprof);
int msprof_step_trace(const struct msprof *msprof);
int msprof_fusion_op(const struct msprof *msprof); /* no file without fused operators */
int msprof_prof_rule(const struct msprof *msprof); /* no file without advice from device files */
int msprof_timeline(const struct msprof *msprof); /* no file for devices beyond MSPROF_DEVICES_MAX */
int msprof_step_timeline(const struct msprof *msprof); /* nor without steps */

/* The steps of the device; NULL if they are unknown. */
const struct device_step_trace *msprof_steps(const struct msprof *msprof);

/* Are calls of @process written for this device? Calls of an unknown process go to the first device. */
bool msprof_is_process(const struct msprof *msprof, uint32_t process);

/* Open NAME_<time>.csv. */
int msprof_open(const struct msprof *msprof, struct csv_file *csv, const char *name,
		const char *header);

/* An instant on the clock that the files have. */
uint64_t msprof_real_ns(const struct msprof *msprof, uint64_t ns);

/* ... in a table; 0 is "N/A". */
void msprof_instant(const struct msprof *msprof, struct csv_file *csv, uint64_t ns);

/* msprof's name of the kind of a task: the file's own word, else one of msprof's words. Static or owned by the model. */
const char *msprof_core(const struct model *model, const struct device_task *task);

/* Is it a task of the device that has times, in the window? */
bool msprof_is_timed(const struct msprof *msprof, const struct device_task *task);

/* A text, or "N/A" if it is empty. */
void msprof_text(struct csv_file *csv, const char *text);

#endif /* PROFBPF_ANALYZER_EXPORT_LAYOUTS_MSPROF_MSPROF_H */
