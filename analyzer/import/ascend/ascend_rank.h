/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend_rank.h - which rank of a job each device was, where Ascend's profilers say it in files of their own.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H

#include <stdint.h>

#include "analyzer/import/importer.h"

/*
 * ascend_rank_read - ranks, and stages of a pipeline, of the devices from row @first_device on, by the files in folder @path
 *
 * profiler_info_<rank>.json of torch_npu and MindSpore (of torch_npu's output folder, in the one around
 * it): "rank_id", else the name. A folder with one device and one such file is of that rank; of several, the device of
 * that number is. device_<n>/info.json.<n> of msprof: "rank_id", -1 for none. Stages: pipeline_stage.h.
 */
int ascend_rank_read(struct import *import, const char *path, uint32_t first_device);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H */
