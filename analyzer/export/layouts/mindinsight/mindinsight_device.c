/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "analyzer/export/timeline/task_order.h"

struct device_file {
	const char *name; /* with the number */
	int (*write)(FILE *out, const struct mindinsight_device *of);
};

bool mindinsight_is_aicore(const struct model *model, const struct device_task *task)
{
	enum operator_core core = task_core(model, task);

	return core == CORE_AICORE || core == CORE_KERNEL;
}

static int write_file(const char *folder, const struct device_file *file,
		      const struct mindinsight_device *of, char *error, size_t error_size)
{
	char name[64], path[PATH_MAX];
	FILE *out;
	int err;

	snprintf(name, sizeof(name), file->name, of->number);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
		snprintf(error, error_size, "cannot write %s: %s", name, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	out = fopen(path, "w");
	err = out ? file->write(out, of) : -errno;
	if (out && ferror(out) && !err)
		err = -EIO;
	if (out && fclose(out) != 0 && !err)
		err = -errno;
	if (err)
		snprintf(error, error_size, "cannot write %s: %s", path, strerror(-err));
	return err;
}

/* MindInsight looks for files that a kind of data does not have, and says that there is none. */
static bool has_core(const struct mindinsight_device *of, enum operator_core core)
{
	for (uint32_t i = 0; i < of->count; i++) {
		if (task_core(of->model, &of->model->tasks.row[of->order[i]]) == core)
			return true;
	}
	return false;
}

static bool has_flops(const struct mindinsight_device *of)
{
	const struct operator_list *cores = &of->results->devices->cores;

	for (uint32_t i = 0; i < cores->count; i++) {
		if (cores->rows[i].device == of->device && cores->rows[i].figures.counted_ns)
			return true;
	}
	return false;
}

static int write_cluster(const struct mindinsight_device *of, const char *folder, char *error,
			 size_t error_size)
{
	static const struct device_file LINKS = { "hccl_raw_%u.csv", mindinsight_hccl };
	char name[96];
	const struct device_file parts = { name, mindinsight_cluster };
	int err;

	snprintf(name, sizeof(name), "ascend_cluster_analyse_%s-parallel_%u_%u_%%u.csv",
		 of->stages ? "pipeline" : "data", of->stages ? of->stages : 1, of->ranks);
	err = write_file(folder, &parts, of, error, error_size);
	return err || !mindinsight_has_links(of) ? err
						 : write_file(folder, &LINKS, of, error, error_size);
}

static int write_device(const struct mindinsight_device *of, const char *folder, char *error,
			size_t error_size)
{
	static const struct device_file ALWAYS[] = {
		{ "aicore_intermediate_%u_type.csv", mindinsight_aicore_types },
		{ "aicore_intermediate_%u_detail.csv", mindinsight_aicore_details },
		{ "framework_raw_%u.csv", mindinsight_framework },
		{ "ascend_timeline_display_%u.json", mindinsight_timeline },
		{ "ascend_timeline_summary_%u.json", mindinsight_timeline_summary },
	};
	static const struct device_file FLOPS[] = {
		{ "flops_%u.txt", mindinsight_flops },
		{ "flops_summary_%u.json", mindinsight_flops_summary },
	};
	static const struct device_file STEPS[] = {
		{ "step_trace_raw_%u_detail_time.csv", mindinsight_step_trace },
		{ "step_trace_point_info_%u.json", mindinsight_points },
	};
	static const struct device_file MEMORY[] = {
		{ "memory_usage_summary_%u.json", mindinsight_memory_summary },
		{ "memory_usage_details_%u.json", mindinsight_memory_details },
	};
	static const struct device_file AICPU = { "aicpu_intermediate_%u.csv", mindinsight_aicpu };
	int err = 0;

	for (size_t i = 0; i < sizeof(ALWAYS) / sizeof(ALWAYS[0]) && !err; i++)
		err = write_file(folder, &ALWAYS[i], of, error, error_size);
	for (size_t i = 0; i < 2 && has_flops(of) && !err; i++)
		err = write_file(folder, &FLOPS[i], of, error, error_size);
	for (size_t i = 0; i < 2 && of->steps && !err; i++)
		err = write_file(folder, &STEPS[i], of, error, error_size);
	for (size_t i = 0; i < 2 && mindinsight_has_memory(of) && !err; i++)
		err = write_file(folder, &MEMORY[i], of, error, error_size);
	if (!err && of->steps && of->ranks > 1)
		err = write_cluster(of, folder, error, error_size);
	if (!err && has_core(of, CORE_AICPU))
		err = write_file(folder, &AICPU, of, error, error_size);
	return err;
}

static const struct device_step_trace *trace_of(const struct results *results, uint32_t device)
{
	const struct device_step_results *steps = results->device_steps;

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		if (steps->traces[i].device == device && steps->traces[i].count)
			return &steps->traces[i];
	}
	return NULL;
}

/* Devices with tasks, in the order of their files, and whether they are stages as MindInsight counts them. */
static void count_ranks(const struct model *model, const uint32_t *order, uint32_t tasks,
			struct mindinsight_device *of)
{
	uint32_t stages = tasks ? model->devices.row[model->tasks.row[order[0]].device].stages : 0;
	uint32_t number = 0, last = INDEX_NONE;

	for (uint32_t i = 0; i < tasks; i++) {
		of->ranks += model->tasks.row[order[i]].device != last;
		last = model->tasks.row[order[i]].device;
	}
	of->stages = stages > 1 && of->ranks % stages == 0 ? stages : 0;
	last = INDEX_NONE;
	for (uint32_t i = 0; i < tasks && of->stages; i++) {
		const struct device *device = &model->devices.row[model->tasks.row[order[i]].device];

		if (model->tasks.row[order[i]].device == last)
			continue;
		last = model->tasks.row[order[i]].device;
		if (device->stages != stages || device->stage != number++ / (of->ranks / stages))
			of->stages = 0;
	}
}

int mindinsight_write_devices(const struct model *model, const struct results *results,
			      const char *folder, uint32_t *count, char *error, size_t error_size)
{
	uint32_t tasks, end, *order = results->devices ? task_order(model, &tasks) : NULL;
	struct mindinsight_device all = { 0 };
	int err = 0;

	*count = 0;
	if (results->devices && !order) {
		snprintf(error, error_size, "cannot write %s: %s", folder, strerror(ENOMEM));
		return -ENOMEM;
	}
	if (order)
		count_ranks(model, order, tasks, &all);
	for (uint32_t i = 0; order && i < tasks && !err; i = end) {
		uint32_t device = model->tasks.row[order[i]].device;
		struct mindinsight_device of = { .model = model,
						 .results = results,
						 .device = device,
						 .number = (*count)++,
						 .order = order + i,
						 .steps = trace_of(results, device),
						 .ranks = all.ranks,
						 .stages = all.stages };

		for (end = i; end < tasks && model->tasks.row[order[end]].device == device;)
			end++;
		of.count = end - i;
		err = write_device(&of, folder, error, error_size);
	}
	free(order);
	return err;
}
