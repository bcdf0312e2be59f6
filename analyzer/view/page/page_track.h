/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_track.h - one row of the page's timeline: slices along time, thinned to as many as a page can carry.
 *
 * Slices that are short, near and next to each other become one, under the name of the longest of them; long ones
 * stay exact to the nanosecond.
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
	uint64_t longest_ns; /* of those that it is made of: that has the name */
	uint32_t name; /* a number of the caller's */
	bool merged;
};

/* Zeroed is empty. */
struct page_track {
	MODEL_ARRAY(struct page_slice) slices;
};

/* page_track_add - in any order. Returns false without memory. */
bool page_track_add(struct page_track *track, uint64_t start_ns, uint64_t end_ns, uint32_t name);

/* page_track_thin - sort, and merge until there are at most @most (at least 1) */
void page_track_thin(struct page_track *track, uint32_t most);

/*
 * page_track_write - as an array of numbers, three for a slice: its start after that of the slice before (of the
 * first: after @origin_ns), its length, its name; -1 - name of merged ones
 */
void page_track_write(struct json *json, const char *key, const struct page_track *track,
		      uint64_t origin_ns);

void page_track_free(struct page_track *track);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_TRACK_H */
