/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_rank.h - reads the rank of each device from separate files of Ascend's profilers. */
#ifndef PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H
#define PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H

#include <stdint.h>

#include "analyzer/import/importer.h"

/*
 * ascend_rank_read - sets ranks, and pipeline stages, of devices from row @first_device on by the files in folder
 * @path
 *
 * profiler_info_<rank>.json of torch_npu and MindSpore (for torch_npu's output folder, in its parent): "rank_id",
 * else the name. A folder with one device and one such file has that rank; with several, the device of that number
 * has it. device_<n>/info.json.<n> of msprof: "rank_id", -1 for none. Stages: pipeline_stage.h.
 */
int ascend_rank_read(struct import *import, const char *path, uint32_t first_device);

#endif /* PROFBPF_ANALYZER_IMPORT_ASCEND_ASCEND_RANK_H */
