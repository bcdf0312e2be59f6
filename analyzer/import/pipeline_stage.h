/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_stage.h - finds the stage of a pipeline-parallel job that a rank belongs to.
 *
 * Frameworks have a group of ranks for each pipeline, in the order of its stages: "pp" (torch_npu, MindSpeed),
 * PIPELINE_MODEL_PARALLEL_GROUP (Megatron), "mesh_pp" (DeviceMesh). MindSpore assigns consecutive ranks to a stage,
 * the same number to each, and writes the number of stages into profiler_info_<rank>.json and into the name of a
 * file.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H
#define PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <yajl/yajl_tree.h>

#include "analyzer/model/model.h"

/* Returns true if the name is that of a pipeline's group of ranks. */
bool is_pipeline_group(const char *name);

/* pipeline_stage_set - puts the device into @stage of @stages; impossible values are ignored */
void pipeline_stage_set(struct device *device, uint64_t stage, uint64_t stages);

/*
 * pipeline_stage_of_list - sets the stage by the position of the device's rank in a list, "[0,4,8]"; no rank or not
 * listed: no change
 */
void pipeline_stage_of_list(struct device *device, const char *ranks);

/*
 * pipeline_stages_of_groups - sets stages of devices with ranks, from row @first_device on, by the object
 * "parallel_group_info"
 *
 * {"group_name_5": {"group_name": "pp", "global_ranks": [0, 4]}, ...}; NULL and other values change nothing.
 */
void pipeline_stages_of_groups(struct model *model, yajl_val groups, uint32_t first_device);

/*
 * pipeline_stages_read - sets stages of devices from row @first_device on by files in folder @path
 *
 * profiler_metadata.json: "parallel_group_info";
 * ascend_cluster_analyse_pipeline-parallel_<stages>_<ranks>_<rank>.csv: its name.
 */
void pipeline_stages_read(struct model *model, const char *path, uint32_t first_device);

#endif /* PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H */
