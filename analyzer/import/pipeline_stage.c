/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/pipeline_stage.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/readers/json_file.h"

bool is_pipeline_group(const char *name)
{
	size_t length = strlen(name);

	return strcasecmp(name, "pp") == 0 || strcmp(name, "PIPELINE_MODEL_PARALLEL_GROUP") == 0 ||
	       (length > 3 && strcmp(name + length - 3, "_pp") == 0);
}

/* Several groups may contain the rank; a group of a single rank is no pipeline. */
void pipeline_stage_set(struct device *device, uint64_t stage, uint64_t stages)
{
	if (stages < 2 || stages >= INDEX_NONE || stage >= stages || stages < device->stages)
		return;
	device->stages = (uint32_t)stages;
	device->stage = (uint32_t)stage;
}

void pipeline_stage_of_list(struct device *device, const char *ranks)
{
	uint64_t count = 0, place = UINT64_MAX;
	const char *at = ranks;

	while (*(at += strcspn(at, "0123456789"))) {
		char *end;

		if (strtoull(at, &end, 10) == device->rank && device->has_rank)
			place = count;
		count++;
		at = end;
	}
	pipeline_stage_set(device, place, count);
}

static bool is_rank_of(const struct device *device, yajl_val rank)
{
	const char *number = json_file_number(rank);

	return device->has_rank && number && strtoull(number, NULL, 10) == device->rank;
}

void pipeline_stages_of_groups(struct model *model, yajl_val groups, uint32_t first_device)
{
	for (size_t i = 0; groups && YAJL_IS_OBJECT(groups) && i < groups->u.object.len; i++) {
		const char *name = json_file_string(groups->u.object.values[i], "group_name");
		yajl_val ranks = json_file_list(groups->u.object.values[i], "global_ranks");

		if (!name || !is_pipeline_group(name) || !ranks)
			continue;
		for (uint32_t d = first_device; d < model->devices.count; d++) {
			struct device *device = &model->devices.row[d];

			for (size_t k = 0; k < ranks->u.array.len; k++) {
				if (is_rank_of(device, ranks->u.array.values[k]))
					pipeline_stage_set(device, k, ranks->u.array.len);
			}
		}
	}
}

static void read_groups(struct model *model, const char *path, uint32_t first_device)
{
	char ignored[512];
	int err;
	yajl_val tree = json_file_read(path, &err, ignored, sizeof(ignored));

	pipeline_stages_of_groups(model, json_file_member(tree, "parallel_group_info"),
				  first_device);
	yajl_tree_free(tree);
}

/* "ascend_cluster_analyse_pipeline-parallel_2_8_5.csv": 2 stages, 8 ranks, this is rank 5. */
static void read_name(struct model *model, const char *name, uint32_t first_device)
{
	unsigned int stages, ranks, rank;

	if (sscanf(name, "ascend_cluster_analyse_pipeline-parallel_%u_%u_%u.csv", &stages, &ranks,
		   &rank) != 3 ||
	    !stages || !ranks || ranks % stages)
		return;
	for (uint32_t i = first_device; i < model->devices.count; i++) {
		struct device *device = &model->devices.row[i];

		if ((device->has_rank ? device->rank : device->id) == rank)
			pipeline_stage_set(device, rank / (ranks / stages), stages);
	}
}

void pipeline_stages_read(struct model *model, const char *path, uint32_t first_device)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	char file[PATH_MAX];

	while (directory && (entry = readdir(directory)))
		read_name(model, entry->d_name, first_device);
	if (directory)
		closedir(directory);
	if (snprintf(file, sizeof(file), "%s/profiler_metadata.json", path) < (int)sizeof(file))
		read_groups(model, file, first_device);
}
