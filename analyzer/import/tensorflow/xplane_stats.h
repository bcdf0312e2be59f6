/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xplane_stats.h - figures of planes and events of an XSpace: what a device can do, what an operation did.
 *
 * A stat is a number of stat_metadata, which has its name, and a value of any of six types.
 * peak_teraflops_per_second and peak_hbm_bw_gigabytes_per_second (TPU) or memory_bandwidth (GPU, bytes per
 * second) are a device's; flops, bytes_accessed, memory_access_breakdown and shape_with_layout those of one execution of an
 * operation. Of memory_access_breakdown space 1 is the device's memory, others are on the chip. Loops, branches and
 * calls repeat the figures of what they contain, which has events of its own: theirs are left out.
 * Names: xla/tsl/profiler/utils/xplane_schema.cc; breakdown: xprof's op_metrics.proto.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H
#define PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/readers/proto_fields.h"
#include "lib/base/map.h"
#include "analyzer/model/model.h"

/* Names of the stats of a plane. Zeroed but for strings is empty. */
struct xplane_stats {
	struct string_table *strings;
	struct map known; /* metadata id -> which */
	struct map texts; /* metadata id -> string: what a reference refers to */
};

/* Of an event, a kind of events or a plane; 0 = not told. XPLANE_FIGURES_NONE is nothing. */
struct xplane_figures {
	uint64_t correlation;
	uint64_t bytes; /* copied */
	uint64_t step; /* of a range of the host that is one; UINT64_MAX = it is none */
	uint32_t type; /* string: hlo_category */
	uint32_t shape; /* string: "bf16[8,128]{1,0}" */
	bool operation; /* of XLA: it has an hlo_op */
	uint32_t detail; /* 1 + row of task_details that xplane_figures_keep() made */
	uint32_t known; /* MODEL_DETAIL_*: which of the next two */
	double flops;
	double moved_bytes;
	bool from_memory; /* moved_bytes is of the device's memory alone */
	double peak_flops; /* per second */
	double peak_bandwidth; /* bytes per second */
};

#define XPLANE_FIGURES_NONE { .step = UINT64_MAX }

/* Stat number @id of the plane is called @name. 0 or -ENOMEM. */
int xplane_stats_name(struct xplane_stats *stats, uint64_t id, const struct proto_message *name);
void xplane_stats_free(struct xplane_stats *stats);

/* One stat; what is unknown or makes no sense changes nothing. */
void xplane_stats_read(const struct xplane_stats *stats, struct proto_message stat,
		       struct xplane_figures *figures);

/* A row of task_details, if there is something to say: figures->detail. False without memory. */
bool xplane_figures_keep(struct model *model, struct xplane_figures *figures);

#endif /* PROFBPF_ANALYZER_IMPORT_TENSORFLOW_XPLANE_STATS_H */
