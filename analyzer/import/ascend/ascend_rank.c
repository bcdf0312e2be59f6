/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_rank.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/device_facts.h"
#include "analyzer/import/directory_walk.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/pipeline_stage.h"

/*
 * "rank_id" of a file, a number or its text; @otherwise if the file has none, negative if the file says that there
 * is no rank.
 */
static int64_t rank_in(yajl_val tree, int64_t otherwise)
{
	const char *text = json_file_string(tree, "rank_id");
	int64_t rank = json_file_integer(tree, "rank_id", otherwise);
	uint64_t number;

	if (text)
		rank = decimal_unsigned(text, strlen(text), &number) && number < INDEX_NONE
			       ? (int64_t)number
			       : -1;
	return rank < INDEX_NONE ? rank : -1;
}

static void set_rank(struct device *device, int64_t rank)
{
	if (rank < 0)
		return;
	device->has_rank = true;
	device->rank = (uint32_t)rank;
}

/*
 * The device for @number in a file's name; INDEX_NONE if there is none. @only: a single device matches any number.
 */
static uint32_t device_of(const struct model *model, uint32_t first_device, uint32_t number,
			  bool only)
{
	for (uint32_t i = first_device; i < model->devices.count; i++) {
		if (model->devices.row[i].id == number)
			return i;
	}
	return only && model->devices.count == first_device + 1 ? first_device : INDEX_NONE;
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

static int is_profiler_info(const struct dirent *entry)
{
	unsigned int number;

	return number_in(entry->d_name, "profiler_info_", ".json", &number);
}

/* MindSpore: consecutive ranks form a stage. */
static void set_stage(struct device *device, yajl_val tree)
{
	int64_t stages = json_file_integer(tree, "stage_num", 0);
	int64_t ranks = json_file_integer(tree, "rank_size", 0);

	if (device->has_rank && stages > 0 && ranks >= stages && ranks % stages == 0)
		pipeline_stage_set(device, device->rank / (uint64_t)(ranks / stages),
				   (uint64_t)stages);
}

static int read_one(struct import *import, const char *path, uint32_t device, unsigned int number)
{
	char ignored[512];
	int err = 0, unread;
	yajl_val tree = json_file_read(path, &unread, ignored, sizeof(ignored));

	set_rank(&import->model->devices.row[device], rank_in(tree, number));
	set_stage(&import->model->devices.row[device], tree);
	if (tree)
		err = device_facts_of(import, device, "job", tree);
	yajl_tree_free(tree);
	return err;
}

/* Reads profiler_info_<rank>.json of torch_npu and MindSpore. */
static int read_profiler_info(struct import *import, const char *folder, uint32_t first_device)
{
	struct dirent **names = NULL;
	int count = scandir(folder, &names, is_profiler_info, versionsort), err = 0;
	char path[PATH_MAX];

	for (int i = 0; i < count; i++) {
		unsigned int number = 0;
		uint32_t device;

		number_in(names[i]->d_name, "profiler_info_", ".json", &number);
		device = device_of(import->model, first_device, number, count == 1);
		if (!err && device != INDEX_NONE &&
		    snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name) <
			    (int)sizeof(path))
			err = read_one(import, path, device, number);
		free(names[i]);
	}
	free(names);
	return err;
}

static void read_msprof_info(struct model *model, const char *folder, uint32_t first_device)
{
	for (uint32_t i = first_device; i < model->devices.count; i++) {
		struct device *device = &model->devices.row[i];
		char path[PATH_MAX], ignored[512];
		yajl_val tree;
		int unread;

		if (snprintf(path, sizeof(path), "%s/device_%u/info.json.%u", folder, device->id,
			     device->id) >= (int)sizeof(path))
			continue;
		tree = json_file_read(path, &unread, ignored, sizeof(ignored));
		set_rank(device, rank_in(tree, -1));
		yajl_tree_free(tree);
	}
}

/* The rank in a folder's name, "rank_2", "rank2_ascend_pt", as MindFormers and scripts of torch_npu name it. */
static bool rank_of_folder(const char *name, size_t length, int64_t *rank)
{
	static const char *const ENDS[] = { "", "_ascend_pt", "_ascend_ms" };
	size_t at = length > 5 && name[4] == '_' ? 5 : 4, digits;
	uint64_t number;

	if (length <= at || strncmp(name, "rank", 4) != 0)
		return false;
	digits = strspn(name + at, "0123456789");
	for (size_t i = 0; digits && i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
		if (at + digits + strlen(ENDS[i]) != length ||
		    strncmp(name + at + digits, ENDS[i], strlen(ENDS[i])) != 0 ||
		    !decimal_unsigned(name + at, digits, &number) || number >= INDEX_NONE)
			continue;
		*rank = (int64_t)number;
		return true;
	}
	return false;
}

/*
 * Sets the rank from the innermost folder that names one; only for a single device, because a process may drive
 * several.
 */
static void read_folder_name(struct model *model, const char *path, uint32_t first_device)
{
	int64_t rank = -1;

	if (model->devices.count != first_device + 1 || model->devices.row[first_device].has_rank)
		return;
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");

		rank_of_folder(at, length, &rank);
		at += length + strspn(at + length, "/");
	}
	set_rank(&model->devices.row[first_device], rank);
}

int ascend_rank_read(struct import *import, const char *path, uint32_t first_device)
{
	char name[NAME_MAX + 1], outer[PATH_MAX];
	int err;

	directory_name(path, name, sizeof(name));
	/* If this folder was given itself, its parent is read; else the parent is part of the import. */
	if (strcmp(path, import->path) == 0 && strcmp(name, "ASCEND_PROFILER_OUTPUT") == 0 &&
	    snprintf(outer, sizeof(outer), "%s/..", path) < (int)sizeof(outer))
		path = outer;
	if (import->model->devices.count <= first_device)
		return 0;
	read_msprof_info(import->model, path, first_device);
	err = read_profiler_info(import, path, first_device);
	read_folder_name(import->model, path, first_device);
	pipeline_stages_read(import->model, path, first_device);
	return err;
}
