/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane_stats.h - figures of planes and events of an XSpace: capabilities of a device, work of an operation.
 *
 * A stat is a number of stat_metadata, which has its name, and a value of one of six types.
 * peak_teraflops_per_second and peak_hbm_bw_gigabytes_per_second (TPU) or memory_bandwidth (GPU, bytes per second)
 * belong to a device; flops, bytes_accessed, memory_access_breakdown and shape_with_layout to one execution of an
 * operation. In memory_access_breakdown, space 1 is the device's memory, others are on the chip. Loops, branches
 * and calls repeat the figures of the operations that they contain, which have events of their own: these repeated
 * figures are skipped. Names: xla/tsl/profiler/utils/xplane_schema.cc; breakdown: xprof's op_metrics.proto.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H
#define PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/readers/proto_fields.h"
#include "lib/base/map.h"
#include "analyzer/model/model.h"

/* Names of the stats of a plane. Zeroed except for strings is empty. */
struct xplane_stats {
	struct string_table *strings;
	struct map known; /* metadata id -> kind of stat */
	struct map texts; /* metadata id -> string: the target of a reference */
};

/* Figures of an event, a kind of events or a plane; 0 = unknown. Initialised with XPLANE_FIGURES_NONE. */
struct xplane_figures {
	uint64_t correlation;
	uint64_t bytes; /* copied */
	uint64_t step; /* host ranges: number of the step; UINT64_MAX = not a step */
	uint32_t type; /* string: hlo_category */
	uint32_t shape; /* string: "bf16[8,128]{1,0}" */
	bool operation; /* an operation of XLA: it has an hlo_op */
	uint32_t detail; /* 1 + row of task_details that xplane_figures_keep() made */
	uint32_t known; /* MODEL_DETAIL_*: which of the next two are known */
	double flops;
	double moved_bytes;
	bool from_memory; /* moved_bytes counts the device's memory only */
	double peak_flops; /* per second */
	double peak_bandwidth; /* bytes per second */
};

#define XPLANE_FIGURES_NONE { .step = UINT64_MAX }

/* Sets the name of the plane's stat number @id. Returns 0 or -ENOMEM. */
int xplane_stats_name(struct xplane_stats *stats, uint64_t id, const struct proto_message *name);
void xplane_stats_free(struct xplane_stats *stats);

/* Reads one stat into @figures; unknown names and impossible values are ignored. */
void xplane_stats_read(const struct xplane_stats *stats, struct proto_message stat,
		       struct xplane_figures *figures);

/*
 * Adds a row of task_details and sets figures->detail, if there are figures for it. Returns false if out of memory.
 */
bool xplane_figures_keep(struct model *model, struct xplane_figures *figures);

#endif /* PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H */
