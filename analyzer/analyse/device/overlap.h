/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.h - overlap of computation, communication and copies of a device.
 *
 * Definitions (those of torch_npu's step_trace_time, MindInsight's overlap rows and HTA): computation is the union of
 * kernels, communication the union of collectives; overlapped is their intersection, pure communication the rest of
 * communication. The stage runs from the first start to the last end of either; free is the part of the stage that
 * neither covers, so that computation + pure communication + free = stage. Copies are reported apart: they count as
 * neither.
 *
 * A stream has the same figures for its own tasks, within the stage of its device.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OVERLAP_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OVERLAP_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct overlap_usage {
	uint32_t device; /* index into model->devices */
	uint64_t stream; /* MODEL_ID_NONE: tasks without a stream in the file */
	uint64_t computation_ns;
	uint64_t communication_ns;
	uint64_t overlapped_ns;
	uint64_t pure_communication_ns;
	uint64_t receive_ns; /* part of pure_communication_ns: only waiting to receive from another pipeline stage */
	uint64_t free_ns;
	uint64_t copy_ns; /* union of copies, fills and maps */
	uint64_t pure_copy_ns; /* part of copy_ns: without computation or communication at the same time */
};

struct overlap_device {
	struct overlap_usage all;
	uint64_t start_ns; /* of the stage */
	uint64_t stage_ns;
	struct overlap_usage *streams; /* by stream */
	uint32_t stream_count;
};

struct overlap_results {
	struct overlap_device *devices; /* devices with any computation, communication or copy */
	uint32_t count;
};

/*
 * overlap_analyse - fill @results; needs converted, sorted tasks
 *
 * Tasks are cut at the borders of the analysed part. Returns 0 or -ENOMEM; in both cases
 * overlap_free() is to be called.
 */
int overlap_analyse(const struct model *model, const struct analysis_options *options,
		    struct overlap_results *results);
void overlap_free(struct overlap_results *results);

/*
 * overlap_part - the same figures of the tasks rows[0 .. @count) of one device, by start, cut at @from_ns and @to_ns
 *
 * free_ns is the part of that time without computation and communication. Leaves device and stream unchanged.
 */
void overlap_part(const struct model *model, const uint32_t *rows, uint32_t count, uint64_t from_ns,
		  uint64_t to_ns, struct overlap_usage *usage);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OVERLAP_H */
