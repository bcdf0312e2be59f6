/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/job_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/timeline/lanes.h"

struct layout {
	const struct job_tracks *tracks;
	const struct export_window *window;
	const struct job_encoder *encoder;
	void *context;
	struct lanes *lanes; /* by track */
};

static void end_until(const struct layout *layout, struct lane *lane, uint64_t ns)
{
	uint64_t ended_ns;

	while (lane_pop(lane, ns, &ended_ns))
		if (layout->encoder->end)
			layout->encoder->end(layout->context, lane->track, ended_ns);
}

/* Returns false if there is no row for it. */
static bool write_slice(const struct layout *layout, const struct job_slice *slice)
{
	struct export_window part = { slice->start_ns, slice->end_ns };
	struct lane *lane;
	bool cut;

	if (slice->open)
		part.end_ns = layout->window->end_ns;
	if (!export_clip(layout->window, &part.start_ns, &part.end_ns, &cut))
		return true;
	lane = lanes_place(&layout->lanes[slice->track], part.start_ns, part.end_ns);
	if (!lane)
		return false;
	if (!lane->track)
		lane->track = layout->encoder->add_row(layout->context, slice->track);
	end_until(layout, lane, part.start_ns);
	layout->encoder->begin(layout->context, lane->track, slice, &part, cut);
	lane_push(lane, part.end_ns);
	return true;
}

static void end_lanes(const struct layout *layout, struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		end_until(layout, &lanes->lane[i], UINT64_MAX);
	lanes_free(lanes);
}

int job_lanes_write(const struct job_tracks *tracks, const struct export_window *window,
		    const struct job_encoder *encoder, void *context, uint64_t *not_placed)
{
	struct layout layout = { tracks, window, encoder, context,
				 calloc((size_t)tracks->tracks.count + 1, sizeof(*layout.lanes)) };

	if (!layout.lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		layout.lanes[i].nest = true;
	for (uint32_t i = 0; i < tracks->slices.count; i++)
		*not_placed += !write_slice(&layout, &tracks->slices.row[i]);
	for (uint32_t i = 0; i < tracks->tracks.count; i++)
		end_lanes(&layout, &layout.lanes[i]);
	for (uint32_t i = 0; i < tracks->points.count; i++)
		if (export_instant(window, tracks->points.row[i].ns))
			encoder->point(context, &tracks->points.row[i]);
	free(layout.lanes);
	return 0;
}
