/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_track.h"

#include <stdlib.h>
#include <string.h>

bool page_track_add(struct page_track *track, uint64_t start_ns, uint64_t end_ns, uint32_t name)
{
	return start_ns >= end_ns ||
	       MODEL_PUSH(&track->slices, ((struct page_slice){ start_ns, end_ns, name, 1 }));
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
	last->parts += next->parts;
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

/* Returns the name that takes most of the time of @parts; @sums, by name, is zeroed before and after. */
static uint32_t main_name(const struct page_slice *parts, uint32_t count, uint64_t *sums)
{
	uint32_t name = parts[0].name;

	for (uint32_t i = 0; i < count; i++) {
		sums[parts[i].name] += parts[i].end_ns - parts[i].start_ns;
		if (sums[parts[i].name] > sums[name])
			name = parts[i].name;
	}
	for (uint32_t i = 0; i < count; i++)
		sums[parts[i].name] = 0;
	return name;
}

/* @all: the @count slices as they were before some were merged, in the same order. */
static bool name_merged(struct page_track *track, const struct page_slice *all, uint32_t count)
{
	uint32_t names = 0;
	uint64_t *sums;

	for (uint32_t i = 0; i < count; i++)
		names = all[i].name >= names ? all[i].name + 1 : names;
	sums = calloc((size_t)names + 1, sizeof(*sums));
	for (uint32_t i = 0; sums && i < track->slices.count; i++) {
		struct page_slice *slice = &track->slices.row[i];

		if (slice->parts > 1)
			slice->name = main_name(all, slice->parts, sums);
		all += slice->parts;
	}
	free(sums);
	return sums;
}

bool page_track_thin(struct page_track *track, uint32_t most)
{
	uint32_t count = track->slices.count;
	struct page_slice *all;
	uint64_t short_ns;
	bool fits;

	if (count)
		qsort(track->slices.row, count, sizeof(*track->slices.row), by_start);
	if (count <= most)
		return true;
	all = malloc(count * sizeof(*all));
	if (!all)
		return false;
	memcpy(all, track->slices.row, count * sizeof(*all));
	short_ns = (track->slices.row[count - 1].end_ns - track->slices.row[0].start_ns) / most / 16 + 1;
	for (; track->slices.count > most && short_ns < UINT64_MAX / 4; short_ns *= 2)
		merge_short(track, short_ns);
	fits = name_merged(track, all, count);
	free(all);
	return fits;
}

void page_track_write(struct json *json, const char *key, const struct page_track *track,
		      uint64_t origin_ns)
{
	json_array(json, key);
	for (uint32_t i = 0; i < track->slices.count; i++) {
		const struct page_slice *slice = &track->slices.row[i];

		json_i64(json, NULL, (int64_t)(slice->start_ns - origin_ns));
		json_u64(json, NULL, slice->end_ns - slice->start_ns);
		json_i64(json, NULL, slice->parts > 1 ? -1 - (int64_t)slice->name : slice->name);
		origin_ns = slice->start_ns;
	}
	json_array_close(json);
}

void page_track_free(struct page_track *track)
{
	free(track->slices.row);
	*track = (struct page_track){ 0 };
}
