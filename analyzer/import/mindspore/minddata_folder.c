/* SPDX-License-Identifier: Apache-2.0 */
/* Imports folders of MindSpore's data profiler: finds their ranks and reads the operators. */
#include "analyzer/import/mindspore/minddata_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/import/readers/json_file.h"

#define OPERATORS_MAX 4096
#define WORKERS_MAX 65536
#define CAPACITY_MAX (1 << 20)
#define RANKS_MAX 4096
#define NAME_SIZE 64

int minddata_open(struct minddata_rank *rank, const char *name, FILE **file)
{
	char path[PATH_MAX];

	*file = NULL;
	if (snprintf(path, sizeof(path), "%s/%s", rank->folder, name) >= (int)sizeof(path))
		return import_fail(rank->import, -ENAMETOOLONG, "%s: the path is too long", name);
	*file = fopen(path, "re");
	return *file ? 0 : import_fail(rank->import, -errno, "%.300s: %s", path, strerror(errno));
}

int minddata_close(struct minddata_rank *rank, const char *name, FILE *file, int err)
{
	if (!err && ferror(file))
		err = import_fail(rank->import, -EIO, "%s/%s cannot be read to its end", rank->folder, name);
	if (file)
		fclose(file);
	return err;
}

double minddata_number(yajl_val array, size_t index)
{
	yajl_val value;

	if (!array || index >= array->u.array.len)
		return 0;
	value = array->u.array.values[index];
	return YAJL_IS_DOUBLE(value) ? YAJL_GET_DOUBLE(value) : 0;
}

yajl_val minddata_read(struct minddata_rank *rank, const char *name)
{
	char path[PATH_MAX], reason[512] = "";
	yajl_val tree;
	int err;

	if (snprintf(path, sizeof(path), "%s/%s", rank->folder, name) >= (int)sizeof(path)) {
		import_fail(rank->import, -ENAMETOOLONG, "%s: the path is too long", name);
		return NULL;
	}
	tree = json_file_read(path, &err, reason, sizeof(reason));
	if (!tree)
		import_fail(rank->import, err, "%.300s: %.200s", path, reason);
	if (tree && !YAJL_IS_OBJECT(tree)) {
		import_fail(rank->import, -EBADMSG, "%.300s is no JSON object", path);
		yajl_tree_free(tree);
		return NULL;
	}
	return tree;
}

/* The type of "MapOp" is "Map". */
static uint32_t type_of(struct model *model, yajl_val operator)
{
	const char *path[] = { "op_type", NULL };
	yajl_val value = yajl_tree_get(operator, path, yajl_t_string);
	char type[NAME_SIZE];
	size_t length;

	snprintf(type, sizeof(type), "%s", value ? YAJL_GET_STRING(value) : "operator");
	length = strlen(type);
	if (length > 2 && strcmp(type + length - 2, "Op") == 0)
		type[length - 2] = '\0';
	return model_string(model, type);
}

/* Sets the parents of operators; of several operators with the same number the first is used. */
static void set_parents(struct minddata_rank *rank, yajl_val list)
{
	uint32_t rows[OPERATORS_MAX];
	struct imported_operator *row;

	if (!rank->count)
		return;
	row = rank->import->model->imported_operators.row + rank->first;
	memset(rows, 0xff, sizeof(rows));
	for (uint32_t k = rank->count; k-- > 0;)
		rows[row[k].id] = k;
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val children = json_file_list(list->u.array.values[i], "children");
		int64_t id = json_file_integer(list->u.array.values[i], "op_id", -1);

		for (size_t c = 0; children && c < children->u.array.len; c++) {
			double child = minddata_number(children, c);

			if (child >= 0 && child < OPERATORS_MAX && child != (double)id &&
			    rows[(size_t)child] != UINT32_MAX && (double)(size_t)child == child)
				row[rows[(size_t)child]].parent = (int32_t)id;
		}
	}
}

static int64_t capacity_of(yajl_val operator)
{
	const char *path[] = { "metrics", "output_queue", "length", NULL };
	yajl_val value = yajl_tree_get(operator, path, yajl_t_number);
	int64_t capacity = value && YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : 0;

	return capacity > 0 && capacity < CAPACITY_MAX ? capacity : 0;
}

int minddata_take_operators(struct minddata_rank *rank, yajl_val pipeline)
{
	struct model *model = rank->import->model;
	yajl_val list = json_file_list(pipeline, "op_info");

	rank->first = model->imported_operators.count;
	if (!list || !list->u.array.len || list->u.array.len > OPERATORS_MAX)
		return import_fail(rank->import, -EBADMSG,
				   "pipeline_profiling_%u.json has no list op_info of 1 to %d "
				   "operators",
				   rank->number, OPERATORS_MAX);
	for (size_t i = 0; i < list->u.array.len; i++) {
		yajl_val operator= list->u.array.values[i];
		int64_t id = json_file_integer(operator, "op_id", -1);
		int64_t workers = json_file_integer(operator, "num_workers", 0);
		struct imported_operator row = { .process = rank->process,
						 .id = (int32_t)id,
						 .parent = -1,
						 .capacity = (uint32_t)capacity_of(operator) };

		if (id < 0 || id >= OPERATORS_MAX) {
			if (import_finding(rank->import, "an operator without a number", NULL))
				return -ENOMEM;
			continue;
		}
		if (workers > 0 && workers < WORKERS_MAX)
			row.workers = (uint32_t)workers;
		row.type = type_of(model, operator);
		if (row.type == INDEX_NONE || !MODEL_PUSH(&model->imported_operators, row))
			return -ENOMEM;
	}
	rank->count = model->imported_operators.count - rank->first;
	set_parents(rank, list);
	return 0;
}

/* The trainer's process has no id in these files; a process with the rank's number represents it. */
static int add_process(struct minddata_rank *rank)
{
	struct model *model = rank->import->model;
	struct process process = { .pid = rank->number, .target = true };
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "rank %u", rank->number);
	process.name = model_string(model, name);
	rank->process = model->processes.count;
	if (process.name == INDEX_NONE || !MODEL_PUSH(&model->processes, process))
		return -ENOMEM;
	return 0;
}

static bool exists(const struct minddata_rank *rank, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	return snprintf(path, sizeof(path), "%s/%s", rank->folder, name) < (int)sizeof(path) &&
	       stat(path, &status) == 0;
}

static int take_batches(struct minddata_rank *rank)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "device_queue_profiling_%u.txt", rank->number);
	if (!exists(rank, name))
		snprintf(name, sizeof(name), "dataset_iterator_profiling_%u.txt", rank->number);
	if (!exists(rank, name))
		return import_finding(rank->import, "no file of batches: there are no steps", name);
	return minddata_take_batches(rank, name);
}

static int take_reads(struct minddata_rank *rank)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "minddata_aicpu_%u.txt", rank->number);
	if (exists(rank, name))
		return minddata_take_reads(rank, name, 3);
	snprintf(name, sizeof(name), "minddata_getnext_profiling_%u.txt", rank->number);
	return exists(rank, name) ? minddata_take_reads(rank, name, 0) : 0;
}

static int take_rank(struct minddata_rank *rank)
{
	yajl_val pipeline = NULL, cpu = NULL;
	char name[NAME_SIZE];
	int err = add_process(rank);

	snprintf(name, sizeof(name), "pipeline_profiling_%u.json", rank->number);
	if (!err) {
		pipeline = minddata_read(rank, name);
		err = pipeline ? minddata_take_operators(rank, pipeline) : -EBADMSG;
	}
	snprintf(name, sizeof(name), "minddata_cpu_utilization_%u.json", rank->number);
	if (!err && exists(rank, name)) {
		cpu = minddata_read(rank, name);
		err = cpu ? minddata_take_cpu(rank, cpu) : -EBADMSG;
	} else if (!err) {
		err = import_finding(rank->import, "no file of CPU use", name);
	}
	if (!err)
		err = take_batches(rank);
	if (!err)
		err = take_reads(rank);
	if (!err)
		err = minddata_take_queues(rank, pipeline);
	yajl_tree_free(pipeline);
	yajl_tree_free(cpu);
	free(rank->stamps);
	return err;
}

/* The rank in "pipeline_profiling_3.json"; returns false for other names. */
static bool rank_of(const char *name, unsigned int *number)
{
	char end = 0, again[NAME_SIZE];

	if (sscanf(name, "pipeline_profiling_%u.jso%c", number, &end) != 2 || end != 'n')
		return false;
	snprintf(again, sizeof(again), "pipeline_profiling_%u.json", *number);
	return strcmp(again, name) == 0;
}

static int filter(const struct dirent *entry)
{
	unsigned int number;

	return rank_of(entry->d_name, &number);
}

static int detect(const struct import_sample *sample)
{
	struct dirent **names = NULL;
	int count;

	if (!sample->directory)
		return 0;
	count = scandir(sample->path, &names, filter, versionsort);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	/* If there are also files of a device, the importer of such directories imports both. */
	return count > 0 ? 50 : 0;
}

static int import(struct import *import)
{
	struct dirent **names = NULL;
	int count, err = 0;

	if (!import->alone)
		return import_finding(import,
				      "MindSpore's data profiler has no device's times: its files "
				      "are read without a trace only",
				      NULL);
	count = scandir(import->path, &names, filter, versionsort);
	if (count < 0)
		return import_fail(import, -errno, "%s", strerror(errno));
	for (int i = 0; i < count && i < RANKS_MAX && !err; i++) {
		struct minddata_rank rank = { .import = import, .folder = import->path };

		if (rank_of(names[i]->d_name, &rank.number))
			err = take_rank(&rank);
	}
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return err;
}

const struct importer import_minddata = {
	.name = "minddata",
	.what = "a folder of MindSpore's data profiler (pipeline_profiling_*.json)",
	.detect = detect,
	.import = import,
};
