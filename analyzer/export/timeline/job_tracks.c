/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/job_tracks.h"

#include <errno.h>
#include <stdlib.h>

uint32_t job_text(struct job_tracks *tracks, const char *text)
{
	return string_table_add_text(tracks->texts, text);
}

uint32_t job_track_add(struct job_tracks *tracks, const char *name, struct job_track track)
{
	track.name = job_text(tracks, name);
	return MODEL_PUSH(&tracks->tracks, track) ? tracks->tracks.count - 1 : INDEX_NONE;
}

uint32_t job_thread_track(struct job_tracks *tracks, uint32_t kind, uint32_t thread,
			  const char *name, const char *category, const char *description)
{
	uint64_t key = (uint64_t)kind << 32 | thread;
	uint32_t track = map_get(&tracks->thread_tracks, key);

	if (track != MAP_NONE)
		return track;
	track = job_track_add(tracks, name,
			      (struct job_track){ .owner = JOB_OF_THREAD,
						  .index = thread,
						  .category = category,
						  .description = description });
	if (track != INDEX_NONE && !map_put(&tracks->thread_tracks, key, track))
		return INDEX_NONE;
	return track;
}

static int by_track(const void *a, const void *b)
{
	const struct job_slice *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

int job_tracks_build(const struct model *model, const struct results *results,
		     const struct export_options *options, const struct export_window *window,
		     const bool *chosen, struct job_tracks *tracks)
{
	int err;

	*tracks = (struct job_tracks){ .texts = string_table_new(),
				       .model = model,
				       .results = results,
				       .options = options,
				       .window = window,
				       .chosen = chosen };
	if (!tracks->texts)
		return -ENOMEM;
	err = job_add_pipelines(tracks);
	if (!err)
		err = job_add_python(tracks);
	if (tracks->slices.count)
		qsort(tracks->slices.row, tracks->slices.count, sizeof(*tracks->slices.row),
		      by_track);
	/* Rows of roots have another order: that of their arrows. */
	return err ? err : job_add_roots(tracks);
}

void job_tracks_free(struct job_tracks *tracks)
{
	string_table_free(tracks->texts);
	free(tracks->tracks.row);
	free(tracks->slices.row);
	free(tracks->points.row);
	map_free(&tracks->thread_tracks);
	*tracks = (struct job_tracks){ 0 };
}
