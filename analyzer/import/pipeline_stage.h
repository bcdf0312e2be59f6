/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_stage.h - which stage of a pipeline-parallel job a rank is in.
 *
 * Frameworks have a group of ranks for each pipeline, in the order of its stages: "pp" (torch_npu, MindSpeed),
 * PIPELINE_MODEL_PARALLEL_GROUP (Megatron), "mesh_pp" (DeviceMesh). MindSpore gives a stage the ranks that follow each
 * other, equally many each, and says how many there are in profiler_info_<rank>.json and in the name of a file.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H
#define PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <yajl/yajl_tree.h>

#include "analyzer/model/model.h"

/* Is it a group of the ranks of a pipeline, by its name? */
bool is_pipeline_group(const char *name);

/* pipeline_stage_set - the device is in @stage of @stages; what makes no sense changes nothing */
void pipeline_stage_set(struct device *device, uint64_t stage, uint64_t stages);

/* pipeline_stage_of_list - by its place in a list of ranks, "[0,4,8]", if it has a rank and is in it */
void pipeline_stage_of_list(struct device *device, const char *ranks);

/*
 * pipeline_stages_of_groups - of devices with ranks from row @first_device on, by the object "parallel_group_info"
 *
 * {"group_name_5": {"group_name": "pp", "global_ranks": [0, 4]}, ...}; NULL and other values change nothing.
 */
void pipeline_stages_of_groups(struct model *model, yajl_val groups, uint32_t first_device);

/*
 * pipeline_stages_read - of the devices from row @first_device on, by files in folder @path
 *
 * profiler_metadata.json: "parallel_group_info"; ascend_cluster_analyse_pipeline-parallel_<stages>_<ranks>_
 * <rank>.csv: its name.
 */
void pipeline_stages_read(struct model *model, const char *path, uint32_t first_device);

#endif /* PROFBPF_ANALYZER_IMPORT_PIPELINE_STAGE_H */
