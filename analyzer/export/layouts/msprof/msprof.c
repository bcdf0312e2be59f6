/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/layouts/msprof/msprof.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/export/export.h"
#include "analyzer/export/export_error.h"

int msprof_open(const struct msprof *msprof, struct csv_file *csv, const char *name,
		const char *header)
{
	char file[64];

	snprintf(file, sizeof(file), "%s_%s.csv", name, msprof->stamp);
	return csv_open(csv, msprof->folder, file, header);
}

/* Instants of a device file without a trace are in the file's own clock already. */
uint64_t msprof_real_ns(const struct msprof *msprof, uint64_t ns)
{
	uint64_t realtime_ns;

	if (msprof->model->devices.row[msprof->device].own_clock ||
	    clock_table_from_monotonic(msprof->model->clocks, CLOCK_KIND_REALTIME, ns,
				       &realtime_ns) != 0)
		return ns;
	return realtime_ns;
}

void msprof_instant(const struct msprof *msprof, struct csv_file *csv, uint64_t ns)
{
	uint64_t us = msprof_real_ns(msprof, ns);

	if (ns)
		csv_format(csv, "%" PRIu64 ".%03" PRIu64 "\t", us / 1000, us % 1000);
	else
		csv_text(csv, "N/A");
}

const char *msprof_core(const struct model *model, const struct device_task *task)
{
	switch (task->kind) {
	case PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION: return "COMMUNICATION";
	default:
		if (task->core)
			return model_text(model, task->core);
	}
	switch (task->kind) {
	case PROFBPF__DEVICE_TASKS__KIND__COPY: return "MEMCPY_ASYNC";
	case PROFBPF__DEVICE_TASKS__KIND__FILL: return "MEMSET_ASYNC";
	case PROFBPF__DEVICE_TASKS__KIND__SYNC: return "EVENT_RECORD";
	default: return "N/A";
	}
}

void msprof_text(struct csv_file *csv, const char *text)
{
	csv_text(csv, text && *text ? text : "N/A");
}

static int write_files(const struct msprof *msprof)
{
	static int (*const FILES[])(const struct msprof *) = {
		msprof_op_summary,    msprof_task_time,
		msprof_op_statistic,  msprof_communication_statistic,
		msprof_api_statistic, msprof_step_trace,
		msprof_fusion_op,     msprof_prof_rule,
		msprof_timeline,      msprof_step_timeline,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]) && !err; i++)
		err = FILES[i](msprof);
	return err;
}

/* Returns the earliest instant of a device's tasks. */
static uint64_t first_ns(const struct model *model, uint32_t device)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->device == device && task->start_ns && (!first || task->start_ns < first))
			first = task->start_ns;
	}
	return first;
}

/* PROF_000001_20261122052213123_PROFBPF/mindstudio_profiler_output */
static int write_device(struct msprof *msprof, const char *path, uint32_t number)
{
	uint64_t ns = msprof_real_ns(msprof, first_ns(msprof->model, msprof->device));
	time_t seconds = (time_t)(ns / 1000000000);
	char folder[sizeof(msprof->folder) - 64];
	struct tm when;

	if (!gmtime_r(&seconds, &when) ||
	    !strftime(msprof->stamp, sizeof(msprof->stamp), "%Y%m%d%H%M%S", &when))
		return -EOVERFLOW;
	if (snprintf(folder, sizeof(folder), "%s/PROF_%06u_%s%03u_PROFBPF", path, number,
		     msprof->stamp, (unsigned int)(ns / 1000000 % 1000)) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	snprintf(msprof->folder, sizeof(msprof->folder), "%s/mindstudio_profiler_output", folder);
	if (mkdir(folder, 0777) != 0 || mkdir(msprof->folder, 0777) != 0)
		return -errno;
	return write_files(msprof);
}

/* Returns -ENOENT if the trace has no device task. */
static int write_msprof(const struct model *model, const struct results *results, const char *path,
			const struct export_options *options, char *error, size_t error_size)
{
	struct msprof msprof = { .model = model, .results = results, .first = true };
	uint32_t number = 0;
	int err = 0;

	for (uint32_t i = 0; i < model->devices.count && !err; i++) {
		if (!results->devices || !results->devices->devices[i].tasks)
			continue;
		msprof.device = i;
		err = write_device(&msprof, path, ++number);
		msprof.first = false;
	}
	if (err)
		export_explain(err, path, error, error_size);
	if (err || number)
		return err;
	snprintf(error, error_size,
		 "nothing to export: no device task is known; jobs started with a device layer "
		 "report them, --device reads them from another profiler's file");
	return -ENOENT;
}

const struct exporter export_msprof = { .folder = true, .cut = true, .write = write_msprof };
