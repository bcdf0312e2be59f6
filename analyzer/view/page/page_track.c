/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_track.h"

#include <stdlib.h>

bool page_track_add(struct page_track *track, uint64_t start_ns, uint64_t end_ns, uint32_t name)
{
	return start_ns >= end_ns ||
	       MODEL_PUSH(&track->slices, ((struct page_slice){ start_ns, end_ns, end_ns - start_ns,
								name, false }));
}

static int by_start(const void *a, const void *b)
{
	const struct page_slice *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static bool belong_together(const struct page_slice *last, const struct page_slice *next,
			    uint64_t short_ns)
{
	return last->end_ns - last->start_ns < short_ns && next->end_ns - next->start_ns < short_ns &&
	       next->start_ns < last->end_ns + short_ns;
}

static void merge(struct page_slice *last, const struct page_slice *next)
{
	if (next->end_ns > last->end_ns)
		last->end_ns = next->end_ns;
	if (next->longest_ns > last->longest_ns) {
		last->longest_ns = next->longest_ns;
		last->name = next->name;
	}
	last->merged = true;
}

static void merge_short(struct page_track *track, uint64_t short_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < track->slices.count; i++) {
		const struct page_slice *next = &track->slices.row[i];

		if (kept && belong_together(&track->slices.row[kept - 1], next, short_ns))
			merge(&track->slices.row[kept - 1], next);
		else
			track->slices.row[kept++] = *next;
	}
	track->slices.count = kept;
}

void page_track_thin(struct page_track *track, uint32_t most)
{
	uint32_t count = track->slices.count;
	uint64_t short_ns;

	if (!count)
		return;
	qsort(track->slices.row, count, sizeof(*track->slices.row), by_start);
	short_ns = (track->slices.row[count - 1].end_ns - track->slices.row[0].start_ns) / most / 16 + 1;
	for (; track->slices.count > most && short_ns < UINT64_MAX / 4; short_ns *= 2)
		merge_short(track, short_ns);
}

void page_track_write(struct json *json, const char *key, const struct page_track *track,
		      uint64_t origin_ns)
{
	json_array(json, key);
	for (uint32_t i = 0; i < track->slices.count; i++) {
		const struct page_slice *slice = &track->slices.row[i];

		json_i64(json, NULL, (int64_t)(slice->start_ns - origin_ns));
		json_u64(json, NULL, slice->end_ns - slice->start_ns);
		json_i64(json, NULL, slice->merged ? -1 - (int64_t)slice->name : slice->name);
		origin_ns = slice->start_ns;
	}
	json_array_close(json);
}

void page_track_free(struct page_track *track)
{
	free(track->slices.row);
	*track = (struct page_track){ 0 };
}
