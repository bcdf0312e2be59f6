/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/layouts/mindinsight/mindinsight_device.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/operators.h"
#include "analyzer/export/timeline/task_order.h"

#define RANKS_MAX (1u << 24) /* larger numbers are not ranks */

struct device_file {
	const char *name; /* file name with the number */
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

/* MindInsight searches for files that this kind of data does not have, and reports that they are missing. */
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
	return err || !mindinsight_has_communication(of) ? err
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
	static const struct device_file BY_SCOPE = { "flops_scope_%u.json", mindinsight_flops_scopes };
	static const struct device_file AICPU = { "aicpu_intermediate_%u.csv", mindinsight_aicpu };
	int err = 0;

	for (size_t i = 0; i < sizeof(ALWAYS) / sizeof(ALWAYS[0]) && !err; i++)
		err = write_file(folder, &ALWAYS[i], of, error, error_size);
	for (size_t i = 0; i < 2 && has_flops(of) && !err; i++)
		err = write_file(folder, &FLOPS[i], of, error, error_size);
	if (!err && mindinsight_has_scopes(of))
		err = write_file(folder, &BY_SCOPE, of, error, error_size);
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

/* The devices with tasks, and their numbers in the file names. */
struct numbering {
	uint32_t *numbers; /* by row of devices; INDEX_NONE = device without tasks */
	bool ranks; /* the numbers are ranks, and all differ */
	uint32_t count; /* number of devices */
	uint32_t end; /* largest number + 1 */
};

static void number_by_rank(const struct model *model, struct numbering *of)
{
	of->end = 0;
	for (uint32_t i = 0; i < model->devices.count; i++) {
		uint32_t rank = model->devices.row[i].rank;

		if (of->numbers[i] == INDEX_NONE)
			continue;
		of->numbers[i] = rank;
		of->end = rank >= of->end ? rank + 1 : of->end;
	}
}

/* Is the rank of device @row unknown, or does an earlier device have the same rank? */
static bool shares_rank(const struct model *model, const struct numbering *of, uint32_t row)
{
	const struct device *devices = model->devices.row;

	for (uint32_t i = 0; i < row; i++) {
		if (of->numbers[i] != INDEX_NONE && devices[i].rank == devices[row].rank)
			return true;
	}
	return !devices[row].has_rank || devices[row].rank >= RANKS_MAX;
}

static bool number_devices(const struct model *model, const uint32_t *order, uint32_t tasks,
			   struct numbering *of)
{
	*of = (struct numbering){ .ranks = true };
	of->numbers = malloc(((size_t)model->devices.count + 1) * sizeof(*of->numbers));
	if (!of->numbers)
		return false;
	for (uint32_t i = 0; i < model->devices.count; i++)
		of->numbers[i] = INDEX_NONE;
	for (uint32_t i = 0; i < tasks; i++) {
		uint32_t *number = &of->numbers[model->tasks.row[order[i]].device];

		if (*number == INDEX_NONE)
			*number = of->count++;
	}
	of->end = of->count;
	for (uint32_t i = 0; i < model->devices.count && of->ranks; i++)
		of->ranks = of->numbers[i] == INDEX_NONE || !shares_rank(model, of, i);
	if (of->ranks)
		number_by_rank(model, of);
	return true;
}

/* Returns the number of stages, if each consists of consecutive ranks, as MindInsight assumes; otherwise 0. */
static uint32_t count_stages(const struct model *model, const struct numbering *of)
{
	uint32_t stages = 0;

	for (uint32_t i = 0; i < model->devices.count; i++) {
		const struct device *device = &model->devices.row[i];

		if (of->numbers[i] == INDEX_NONE)
			continue;
		stages = stages ? stages : device->stages;
		if (stages < 2 || device->stages != stages || of->end % stages ||
		    device->stage != of->numbers[i] / (of->end / stages))
			return 0;
	}
	return stages;
}

static int write_info(FILE *out, const struct mindinsight_device *of)
{
	fprintf(out,
		"{\"context_mode\": \"graph\", \"rank_id\": %u, \"parallel_mode\": \"%s\", "
		"\"stage_num\": %u, \"rank_size\": %u}\n",
		of->number,
		of->stages	? "semi_auto_parallel" :
		of->ranks > 1	? "data_parallel" :
				  "stand_alone",
		of->stages ? of->stages : 1, of->ranks);
	return 0;
}

static int write_all(const struct model *model, const struct results *results,
		     const struct numbering *numbers, const uint32_t *order, uint32_t tasks,
		     const char *folder, char *error, size_t error_size)
{
	static const struct device_file INFO = { "profiler_info_%u.json", write_info };
	uint32_t stages = count_stages(model, numbers), end;
	int err = 0;

	for (uint32_t i = 0; i < tasks && !err; i = end) {
		uint32_t device = model->tasks.row[order[i]].device;
		struct mindinsight_device of = { .model = model,
						 .results = results,
						 .device = device,
						 .number = numbers->numbers[device],
						 .order = order + i,
						 .steps = trace_of(results, device),
						 .ranks = numbers->end,
						 .stages = stages };

		for (end = i; end < tasks && model->tasks.row[order[end]].device == device;)
			end++;
		of.count = end - i;
		err = write_device(&of, folder, error, error_size);
		if (!err)
			err = write_file(folder, &INFO, &of, error, error_size);
	}
	return err;
}

static uint32_t only_number(const struct model *model, const struct numbering *of)
{
	for (uint32_t i = 0; i < model->devices.count && of->count == 1; i++) {
		if (of->numbers[i] != INDEX_NONE)
			return of->numbers[i];
	}
	return 0;
}

/* Keeps the tasks that the operators' tables count: those that start in the analysed part. Returns their number. */
static uint32_t keep_window(const struct model *model, const struct results *results,
			    uint32_t *order, uint32_t tasks)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tasks; i++) {
		uint64_t start_ns = model->tasks.row[order[i]].start_ns;

		if (start_ns >= results->from_ns && start_ns < results->to_ns)
			order[kept++] = order[i];
	}
	return kept;
}

int mindinsight_write_devices(const struct model *model, const struct results *results,
			      const char *folder, struct mindinsight_devices *written, char *error,
			      size_t error_size)
{
	uint32_t tasks, *order = results->devices ? task_order(model, &tasks) : NULL;
	struct numbering numbers = { 0 };
	int err = 0;

	*written = (struct mindinsight_devices){ 0 };
	if (!results->devices)
		return 0;
	tasks = order ? keep_window(model, results, order, tasks) : 0;
	if (!order || !number_devices(model, order, tasks, &numbers)) {
		snprintf(error, error_size, "cannot write %s: %s", folder, strerror(ENOMEM));
		err = -ENOMEM;
	} else {
		err = write_all(model, results, &numbers, order, tasks, folder, error, error_size);
		written->count = numbers.count;
		written->only = only_number(model, &numbers);
	}
	free(numbers.numbers);
	free(order);
	return err;
}
