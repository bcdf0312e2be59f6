/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/file_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(EXIT_IP == EXIT_REGISTER_IP && EXIT_NO_REGISTER == EXIT_REGISTER_NONE,
	       "the programs number registers as the finder of exits does");
_Static_assert(INSTRUCTION_DELTA_MAX < PROBE_REACH, "the programs know a function by an address behind its first instruction");

static enum place_kind kind_of(const struct function_exit *exit)
{
	switch (exit->kind) {
	case EXIT_RETURN: return PLACE_RETURN;
	case EXIT_JUMP: return PLACE_JUMP;
	case EXIT_JUMP_INDIRECT: return PLACE_JUMP_INDIRECT;
	}
	return PLACE_RETURN;
}

static uint64_t cookie_of(const struct function_exit *exit, uint32_t number)
{
	uint64_t cookie = number | (uint64_t)kind_of(exit) << PLACE_KIND_SHIFT |
			  (exit->offset & 0xfff) << PLACE_OFFSET_SHIFT |
			  (uint64_t)(exit->below / 8) << PLACE_BELOW_SHIFT;

	if (exit->is_early)
		cookie |= PLACE_EARLY;
	if (exit->is_early && exit->early_sets_value)
		cookie |= PLACE_VALUE_LATER;
	return exit->kind == EXIT_RETURN && exit->plain ? cookie | PLACE_RETURN_PLAIN : cookie;
}

static struct exit_place place_of(const struct function_exit *exit, bool moved_only)
{
	return (struct exit_place){
		.offset = exit->offset,
		.moved_only = moved_only,
		.cookie = cookie_of(exit, 0),
		.conf = { .base = exit->base,
			  .index = exit->index,
			  .scale = exit->scale,
			  .loads = exit->loads,
			  .displacement = exit->displacement,
			  .inner = exit->inner,
			  .own_start = (int64_t)(exit->own_start - exit->address),
			  .own_end = (int64_t)(exit->own_end - exit->address) },
	};
}

/* Of several exits at one offset, sorts the one that is needed in all processes first, because the first is kept. */
static int by_offset(const void *a, const void *b)
{
	const struct exit_place *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->moved_only - y->moved_only;
}

static size_t drop_doubles(struct exit_place *places, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || places[kept - 1].offset != places[i].offset)
			places[kept++] = places[i];
	return kept;
}

const struct exit_place *file_places_at(const struct file_places *places, uint64_t offset)
{
	size_t low = 0, high = places->exit_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->exits[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < places->exit_count && places->exits[low].offset == offset ? &places->exits[low]
									       : NULL;
}

/* Exits for which no number is left are dropped; the ends of their functions are not seen. */
static void number_places(struct file_places *places, const struct probed_file *file,
			  uint32_t first_exit)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->exit_count; i++) {
		struct exit_place *place = &places->exits[i];

		if (first_exit + kept >= EXITS_MAX)
			break;
		place->cookie |= first_exit + kept;
		places->exits[kept++] = *place;
	}
	if (kept == places->exit_count)
		return;
	places->exit_count = kept;
	for (size_t i = 0; i < file->count; i++)
		for (size_t k = 0; k < file->functions[i].exits.count; k++)
			if (places->ways[i] == END_BY_EXITS &&
			    !file_places_at(places, file->functions[i].exits.exits[k].offset))
				places->ways[i] = END_UNSEEN;
}

/* If the exit of a function is at its entry, the entry probe serves both. */
static void mark_entry(struct file_places *places, const struct probed_function *f)
{
	struct exit_place *place = (struct exit_place *)file_places_at(places, f->offset);

	if (f->exit_at_entry && place)
		place->at_entry = true;
}

int file_places_find(struct file_places *places, const struct probed_file *file, bool return_probes,
		     uint32_t first_exit)
{
	size_t count = 0;

	memset(places, 0, sizeof(*places));
	for (size_t i = 0; i < file->count; i++)
		count += file->functions[i].exits.count;
	places->first_exit = first_exit;
	places->exits = calloc(count + 1, sizeof(*places->exits));
	places->ways = calloc(file->count + 1, sizeof(*places->ways));
	if (!places->exits || !places->ways) {
		file_places_free(places);
		return -ENOMEM;
	}
	count = 0;
	for (size_t i = 0; i < file->count; i++) {
		const struct probed_function *f = &file->functions[i];

		places->ways[i] = end_way_of(f, return_probes);
		for (size_t k = 0; k < f->exits.count; k++)
			places->exits[count++] = place_of(&f->exits.exits[k],
							  places->ways[i] == END_BY_RETURN_PROBE);
	}
	qsort(places->exits, count, sizeof(*places->exits), by_offset);
	places->exit_count = drop_doubles(places->exits, count);
	number_places(places, file, first_exit);
	for (size_t i = 0; i < file->count; i++)
		mark_entry(places, &file->functions[i]);
	return 0;
}

int file_places_add(struct file_places *places, const struct function_exits *exits,
		    uint32_t first_exit)
{
	struct exit_place *grown =
		reallocarray(places->exits, places->exit_count + exits->count + 1, sizeof(*grown));
	size_t added = 0;

	if (!grown)
		return -ENOMEM;
	places->exits = grown;
	for (size_t i = 0; i < exits->count; i++) {
		struct exit_place place = place_of(&exits->exits[i], false);

		if (file_places_at(places, place.offset))
			continue;
		if (first_exit + added >= EXITS_MAX)
			return -E2BIG;
		place.cookie |= first_exit + added;
		place.tail = true;
		grown[places->exit_count + added++] = place;
	}
	places->exit_count += added;
	qsort(places->exits, places->exit_count, sizeof(*places->exits), by_offset);
	return added;
}

void file_places_drop(struct file_places *places, const struct probed_file *file,
		      const struct hot_function *hot)
{
	for (size_t i = 0; i < places->exit_count; i++)
		places->exits[i].dropped = !places->exits[i].tail;
	for (size_t i = 0; i < file->count; i++) {
		for (size_t k = 0; k < file->functions[i].exits.count && !hot[i].hot; k++) {
			uint64_t offset = file->functions[i].exits.exits[k].offset;
			struct exit_place *place =
				(struct exit_place *)file_places_at(places, offset);

			if (place)
				place->dropped = false;
		}
	}
}

bool file_places_depend_on_stacks(const struct file_places *places)
{
	for (size_t i = 0; i < places->exit_count; i++)
		if (places->exits[i].moved_only)
			return true;
	return false;
}

static void add_point(struct probe_points *points, uint64_t offset, uint64_t cookie)
{
	points->offsets[points->count] = offset;
	points->cookies[points->count++] = cookie;
}

static void add_entry(struct probe_points *points, size_t *functions, uint64_t offset,
		      uint64_t cookie, size_t function)
{
	functions[points->count] = function;
	add_point(points, offset, cookie);
}

/* If the stack moves, a plain function whose exits were not found keeps a return probe, which skips every call. */
static bool returns_here(const struct file_places *places, const struct probed_file *file, size_t i,
			 bool moved)
{
	return places->ways[i] == END_BY_RETURN_PROBE && !(moved && file->functions[i].exits.count);
}

static int room_for(struct probe_points *points, size_t count)
{
	points->offsets = calloc(count + 1, sizeof(*points->offsets));
	points->cookies = calloc(count + 1, sizeof(*points->cookies));
	return points->offsets && points->cookies ? 0 : -ENOMEM;
}

static bool is_probed(const struct exit_place *place, bool moved)
{
	return !place->dropped && !place->tail && !place->at_entry && (moved || !place->moved_only);
}

int file_places_select(const struct file_places *places, const struct probed_file *file,
		       const uint64_t *cookies, bool moved, struct place_points *selected)
{
	struct link_points *points = &selected->points;

	memset(selected, 0, sizeof(*selected));
	selected->entry_function = calloc(file->count + 1, sizeof(size_t));
	selected->return_function = calloc(file->count + 1, sizeof(size_t));
	if (room_for(&points->returns, file->count) || room_for(&points->entries, file->count) ||
	    room_for(&points->exits, places->exit_count) || !selected->entry_function ||
	    !selected->return_function)
		return -ENOMEM;
	for (size_t i = 0; i < file->count; i++) {
		uint64_t offset = file->functions[i].offset;

		if (returns_here(places, file, i, moved))
			add_entry(&points->returns, selected->return_function, offset, cookies[i],
				  i);
		else
			add_entry(&points->entries, selected->entry_function, offset, cookies[i],
				  i);
	}
	for (size_t i = 0; i < places->exit_count; i++)
		if (is_probed(&places->exits[i], moved))
			add_point(&points->exits, places->exits[i].offset, places->exits[i].cookie);
	return 0;
}

void place_points_free(struct place_points *selected)
{
	struct link_points *points = &selected->points;

	free(points->returns.offsets);
	free(points->returns.cookies);
	free(points->entries.offsets);
	free(points->entries.cookies);
	free(points->exits.offsets);
	free(points->exits.cookies);
	free(selected->return_function);
	free(selected->entry_function);
	memset(selected, 0, sizeof(*selected));
}

void file_places_free(struct file_places *places)
{
	free(places->exits);
	free(places->ways);
	memset(places, 0, sizeof(*places));
}
