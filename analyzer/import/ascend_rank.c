/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend_rank.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/directory_walk.h"
#include "analyzer/import/json_file.h"
#include "analyzer/import/pipeline_stage.h"

/* "rank_id" of a file, a number or its text; @otherwise if it has none, negative if it says so. */
static int64_t rank_in(const char *path, int64_t otherwise)
{
	char ignored[512];
	int err;
	yajl_val tree = json_file_read(path, &err, ignored, sizeof(ignored));
	const char *text = json_file_string(tree, "rank_id");
	int64_t rank = json_file_integer(tree, "rank_id", otherwise);
	uint64_t number;

	if (text)
		rank = decimal_unsigned(text, strlen(text), &number) && number < INDEX_NONE
			       ? (int64_t)number
			       : -1;
	yajl_tree_free(tree);
	return rank < INDEX_NONE ? rank : -1;
}

static void set_rank(struct device *device, int64_t rank)
{
	if (rank < 0)
		return;
	device->has_rank = true;
	device->rank = (uint32_t)rank;
}

static void set_by_number(struct model *model, uint32_t first_device, uint32_t number, int64_t rank)
{
	for (uint32_t i = first_device; i < model->devices.count; i++) {
		if (model->devices.row[i].id == number)
			set_rank(&model->devices.row[i], rank);
	}
}

/* The number in a name such as "profiler_info_3.json"; false for other names. */
static bool number_in(const char *name, const char *before, const char *after, unsigned int *number)
{
	char again[NAME_MAX + 1];

	if (strncmp(name, before, strlen(before)) != 0 ||
	    sscanf(name + strlen(before), "%u", number) != 1)
		return false;
	snprintf(again, sizeof(again), "%s%u%s", before, *number, after);
	return strcmp(again, name) == 0;
}

/* Files of torch_npu and MindSpore. */
static void read_profiler_info(struct model *model, const char *folder, uint32_t first_device)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	unsigned int files = 0, number, last = 0;
	int64_t rank = -1;
	char path[PATH_MAX];

	while (directory && (entry = readdir(directory))) {
		if (!number_in(entry->d_name, "profiler_info_", ".json", &number) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
			    (int)sizeof(path))
			continue;
		files++;
		last = number;
		rank = rank_in(path, number);
		set_by_number(model, first_device, number, rank);
	}
	if (directory)
		closedir(directory);
	if (files == 1 && model->devices.count == first_device + 1 &&
	    model->devices.row[first_device].id != last)
		set_rank(&model->devices.row[first_device], rank);
}

static void read_msprof_info(struct model *model, const char *folder, uint32_t first_device)
{
	for (uint32_t i = first_device; i < model->devices.count; i++) {
		struct device *device = &model->devices.row[i];
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/device_%u/info.json.%u", folder, device->id,
			     device->id) < (int)sizeof(path))
			set_rank(device, rank_in(path, -1));
	}
}

void ascend_rank_read(struct model *model, const char *path, uint32_t first_device)
{
	char name[NAME_MAX + 1], outer[PATH_MAX];

	directory_name(path, name, sizeof(name));
	if (strcmp(name, "ASCEND_PROFILER_OUTPUT") == 0 &&
	    snprintf(outer, sizeof(outer), "%s/..", path) < (int)sizeof(outer))
		path = outer;
	if (model->devices.count > first_device) {
		read_profiler_info(model, path, first_device);
		read_msprof_info(model, path, first_device);
		pipeline_stages_read(model, path, first_device);
	}
}
