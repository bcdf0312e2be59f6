/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_track.h - one row of the page's timeline: slices along time, thinned to a number that a page can contain.
 *
 * Short slices that are near and next to each other become one slice with the name that takes most of their time; long
 * slices stay exact to the nanosecond.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TRACK_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/view/render/json.h"

struct page_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t name; /* a number of the caller */
	uint32_t parts; /* how many slices were merged into this one */
};

/* A zeroed track is empty. */
struct page_track {
	MODEL_ARRAY(struct page_slice) slices;
};

/* page_track_add - adds a slice; slices may come in any order. Returns false without memory. */
bool page_track_add(struct page_track *track, uint64_t start_ns, uint64_t end_ns, uint32_t name);

/* page_track_thin - sorts the slices, and merges them until there are at most @most (at least 1). Returns false without memory. */
bool page_track_thin(struct page_track *track, uint32_t most);

/*
 * page_track_write - writes an array of numbers, three for a slice: its start relative to the start of the previous
 * slice (of the first: to @origin_ns), its length, its name; -1 - name for merged slices
 */
void page_track_write(struct json *json, const char *key, const struct page_track *track,
		      uint64_t origin_ns);

void page_track_free(struct page_track *track);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TRACK_H */
