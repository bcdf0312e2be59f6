/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_tracks.h - tracks of a device besides its tasks: steps, scopes, overlap.
 *
 * They follow the vendors' tools (msprof's "Step Trace" and "Overlap Analysis", MindInsight's scope rows):
 *
 *   Steps     "Step 3", and in it the gap ("Data_aug Bound"), "FP_BP Time" and "Iteration Refresh"
 *   Computing, Communication, Communication(Not Overlapped), Free
 *   Scope 1, 2, ...  the first parts of tasks' names that are paths, "Default" and "network" of
 *             "Default/network/conv1/Conv2D-op7", from the first task to the last before another scope
 *             begins, on AI cores and AI CPUs or, where the unit is unknown, of all kernels
 *
 * It also assigns tasks to groups of streams: by the unit that ran them, on devices where that is known.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TIMELINE_DEVICE_TRACKS_H
#define PROFBPF_ANALYZER_EXPORT_TIMELINE_DEVICE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export.h"
#include "lib/base/strings.h"

#define SCOPE_DEPTH_DEFAULT 3
#define SCOPE_DEPTH_MAX 16

enum track_group { TRACK_STEPS, TRACK_OVERLAP, TRACK_SCOPES };

struct track_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t text; /* index into device_tracks.texts */
	uint8_t depth; /* nested in the last slice with a smaller depth */
};

struct device_track {
	char name[48];
	enum track_group group;
	struct track_slice *row; /* by start, outer slices before nested ones; ends are in order, too */
	uint32_t count;
	uint32_t capacity;
};

struct device_tracks {
	struct string_table *texts;
	struct device_track *track; /* only tracks with slices */
	uint32_t count;
	uint32_t capacity;
};

/*
 * device_tracks_build - builds the tracks of one device
 *
 * @order: its rows of task_order(). options->steps and scope_depth select the tracks. Returns 0 or
 * -ENOMEM; call device_tracks_free() in either case.
 */
int device_tracks_build(const struct model *model, const struct export_options *options,
			uint32_t device, const uint32_t *order, uint32_t count,
			struct device_tracks *tracks);
void device_tracks_free(struct device_tracks *tracks);

/* Groups of streams. */
enum task_group {
	GROUP_AI_CORE,
	GROUP_AI_CPU,
	GROUP_HOST_CPU,
	GROUP_COMMUNICATION,
	GROUP_OTHER, /* copies, events */
	TASK_GROUPS
};

/* Are the device's streams shown in such groups? @order: its rows. */
bool device_is_grouped(const struct model *model, const uint32_t *order, uint32_t count);
enum task_group task_group(const struct model *model, const struct device_task *task);
/* "AI Core", ... Static text. */
const char *task_group_name(enum task_group group);

#endif /* PROFBPF_ANALYZER_EXPORT_TIMELINE_DEVICE_TRACKS_H */
