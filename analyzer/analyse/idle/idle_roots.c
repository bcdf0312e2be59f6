/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle_roots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/idle/lock_turns.h"
#include "analyzer/analyse/idle/root_places.h"
#include "analyzer/analyse/idle/same_role.h"
#include "analyzer/model/translate.h"
#include "lib/base/map.h"

/* The key of a row: kinds, who, place, object, command, disk. */
#define KEY_PARTS 6

struct root_key {
	uint32_t part[KEY_PARTS];
};

/* The time of a row that came along a way. */
struct came {
	uint32_t row;
	uint32_t way;
	uint64_t ns;
};

struct sum {
	struct idle_root root;
	uint64_t last_gap; /* number of the last gap counted, from 1 */
};

/* Cache: most roots are the same as recent ones, along the same way. */
#define RECENT 64 /* a power of 2 */
#define RECENT_DEPTH 4 /* longer ways are looked up each time */

/* The place where a root that came along a way is summed up. */
struct place_of {
	struct root_key key; /* of the root as it was found */
	struct root_hop path[RECENT_DEPTH];
	uint32_t depth; /* 0 = the entry is empty */
	uint32_t who; /* the thread that stands for the root's who */
	uint32_t row;
	uint32_t own; /* the way with the actual threads */
	uint32_t came;
};

struct root_sums {
	const struct model *model;
	struct root_walk walk;
	struct waits *waits; /* found when the first walk begins; NULL if the tools have them */
	struct function_words *words; /* until root_sums_finish() */
	struct root_places *places;
	uint32_t *roles; /* by thread: the first one in its role */
	struct root_sums
		*own; /* receives the walked thread's own time on a CPU; NULL: no separate sums */
	uint64_t gap; /* number of the gap being added, from 1 */
	uint32_t whose; /* the device or the thread of that gap */
	struct root_times times; /* until root_sums_finish() */
	uint64_t gaps, last_gap; /* number of gaps in which anything was found; the last of them */
	uint64_t first_ns[IDLE_CAUSES];
	MODEL_ARRAY(struct sum) rows;
	MODEL_ARRAY(struct root_way) ways;
	MODEL_ARRAY(struct came) came;
	struct map
		keys[KEY_PARTS - 1]; /* (number of the preceding parts, next part) -> number; the last map: row */
	uint32_t numbers; /* assigned in keys so far */
	struct map hop_ids; /* (thread, cause) -> number */
	struct map way_ids; /* (way before + 1, number of the hop) -> way */
	struct map came_ids; /* (row, way) -> came */
	struct map runners; /* (process, name) -> the first thread of that name there */
	struct place_of recent[RECENT];
};

const char *root_end_name(uint8_t end)
{
	static const char *const names[ROOT_ENDS] = {
		[ROOT_END_CIRCLE] = "circle",	    [ROOT_END_DEPTH] = "depth",
		[ROOT_END_UNTRACED] = "untraced",   [ROOT_END_NO_WAKER] = "no_waker",
		[ROOT_END_NO_RECORD] = "no_record", [ROOT_END_INTERRUPT] = "interrupt",
		[ROOT_END_STOPPED] = "stopped",	    [ROOT_END_UNSEEN_WORK] = "unseen_work",
	};

	return end < ROOT_ENDS ? names[end] : NULL;
}

/* Returns the number of a key; a new key gets the next number. MAP_NONE without memory. */
static uint32_t number_of(struct map *map, uint64_t key, uint32_t *numbers)
{
	uint32_t number = map_get(map, key);

	if (number != MAP_NONE)
		return number;
	number = (*numbers)++;
	return map_put(map, key, number) ? number : MAP_NONE;
}

/* Merges threads of one name and process that had the CPU: each is as much to blame. Returns false without memory. */
static bool merge_runner(struct root_sums *sums, struct root *root)
{
	const struct thread *thread;
	uint64_t key;
	uint32_t first;

	if (root->who_kind != WHO_RUNNER)
		return true;
	thread = &sums->model->threads.row[root->who];
	if (thread->process == INDEX_NONE)
		return true;
	key = (uint64_t)thread->process << 32 | thread->name;
	first = map_get(&sums->runners, key);
	if (first == MAP_NONE)
		return map_put(&sums->runners, key, root->who);
	root->who = first;
	return true;
}

static struct root_key key_of(const struct root *root)
{
	uint32_t kinds = (uint32_t)root->cause | (uint32_t)root->end << 4 | (uint32_t)root->who_kind << 8 |
			 (uint32_t)root->place_kind << 12 | (uint32_t)root->object_kind << 16;

	return (struct root_key){
		{ kinds, root->who, root->place, root->object, root->command, root->disk }
	};
}

/* Returns the row of a root; MAP_NONE without memory. */
static uint32_t row_of(struct root_sums *sums, const struct root *root)
{
	const struct root_key parts = key_of(root);
	struct map *rows = &sums->keys[KEY_PARTS - 2];
	uint64_t key = parts.part[0];
	uint32_t row;

	for (int i = 1; i < KEY_PARTS - 1; i++) {
		uint32_t number =
			number_of(&sums->keys[i - 1], key << 32 | parts.part[i], &sums->numbers);

		if (number == MAP_NONE)
			return MAP_NONE;
		key = number;
	}
	key = key << 32 | parts.part[KEY_PARTS - 1];
	row = map_get(rows, key);
	if (row != MAP_NONE)
		return row;
	row = sums->rows.count;
	return map_put(rows, key, row) &&
			       MODEL_PUSH(&sums->rows, ((struct sum){ .root.root = *root }))
		       ? row
		       : MAP_NONE;
}

/* Returns the way of a path; MAP_NONE without memory. @roles: the first thread of a role stands for all its threads. */
static uint32_t way_of(struct root_sums *sums, const struct root_hop *path, uint32_t depth,
		       bool roles)
{
	uint32_t way = INDEX_NONE;

	for (uint32_t i = 0; i < depth; i++) {
		struct root_hop step = path[i];
		uint64_t key;
		uint32_t numbers = sums->hop_ids.count;
		uint32_t hop, next;

		if (roles && step.thread < sums->model->threads.count)
			step.thread = sums->roles[step.thread];
		key = (uint64_t)step.cause << 32 | step.thread;
		hop = number_of(&sums->hop_ids, key, &numbers);
		if (hop == MAP_NONE)
			return MAP_NONE;
		key = (uint64_t)(way + 1) << 32 | hop;
		next = map_get(&sums->way_ids, key);
		if (next == MAP_NONE) {
			next = sums->ways.count;
			if (!map_put(&sums->way_ids, key, next) ||
			    !MODEL_PUSH(&sums->ways, ((struct root_way){ way, i + 1, step })))
				return MAP_NONE;
		}
		way = next;
	}
	return way;
}

/* Returns the way with the actual threads: nearly always @way, which has the threads that stand for their roles. */
static uint32_t own_way(struct root_sums *sums, const struct root_hop *path, uint32_t depth,
			uint32_t way)
{
	for (uint32_t i = 0; i < depth; i++)
		if (path[i].thread < sums->model->threads.count &&
		    sums->roles[path[i].thread] != path[i].thread)
			return way_of(sums, path, depth, false);
	return way;
}

/* Returns the sum of a row's time along a way; MAP_NONE without memory. */
static uint32_t came_of(struct root_sums *sums, uint32_t row, uint32_t way)
{
	uint64_t key = (uint64_t)row << 32 | way;
	uint32_t at = map_get(&sums->came_ids, key);

	if (at != MAP_NONE)
		return at;
	at = sums->came.count;
	return map_put(&sums->came_ids, key, at) &&
			       MODEL_PUSH(&sums->came, ((struct came){ row, way, 0 }))
		       ? at
		       : MAP_NONE;
}

static bool find_place(struct root_sums *sums, const struct root *found,
		       const struct root_hop *path, uint32_t depth, struct place_of *place)
{
	struct root root = *found;
	uint32_t way;

	*place = (struct place_of){ .key = key_of(found) };
	if (root.who_kind == WHO_THREAD && root.who < sums->model->threads.count)
		root.who = sums->roles[root.who];
	if (!merge_runner(sums, &root))
		return false;
	place->who = root.who;
	place->row = row_of(sums, &root);
	way = place->row == MAP_NONE ? MAP_NONE : way_of(sums, path, depth, true);
	place->own = way == MAP_NONE ? MAP_NONE : own_way(sums, path, depth, way);
	place->came = place->own == MAP_NONE ? MAP_NONE : came_of(sums, place->row, way);
	if (place->came == MAP_NONE)
		return false;
	if (depth <= RECENT_DEPTH) {
		memcpy(place->path, path, depth * sizeof(*path));
		place->depth = depth;
	}
	return true;
}

static bool is_place_of(const struct place_of *place, const struct root *root,
			const struct root_hop *path, uint32_t depth)
{
	const struct root_key key = key_of(root);

	if (place->depth != depth || memcmp(&place->key, &key, sizeof(key)) != 0)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (place->path[i].thread != path[i].thread || place->path[i].cause != path[i].cause)
			return false;
	return true;
}

/* Looks in the cache first. NULL without memory. */
static const struct place_of *place_of(struct root_sums *sums, const struct root *root,
				       const struct root_hop *path, uint32_t depth)
{
	uint32_t hash = root->who * 31 + root->place * 17 + root->object * 13 + root->cause * 7 +
			path[depth - 1].thread * 5 + path[0].thread * 3 + depth;
	struct place_of *place = &sums->recent[hash % RECENT];

	return is_place_of(place, root, path, depth) || find_place(sums, root, path, depth, place)
		       ? place
		       : NULL;
}

static int add_root(void *context, const struct root *found, const struct root_hop *path,
		    uint32_t depth)
{
	struct root_sums *sums = context;
	struct root root = *found;
	uint64_t ns = root.end_ns - root.start_ns;
	const struct place_of *place;
	struct sum *sum;

	if (sums->own && depth == 1 && root.running) {
		sums->own->gap = sums->gap;
		sums->own->whose = sums->whose;
		return add_root(sums->own, found, path, depth);
	}
	sums->first_ns[path[0].cause] += ns;
	if (sums->last_gap != sums->gap)
		sums->gaps++;
	sums->last_gap = sums->gap;

	place = place_of(sums, found, path, depth);
	if (!place)
		return -ENOMEM;
	root.who = place->who;
	sums->came.row[place->came].ns += ns;
	if (!root_places_look(sums->places, place->row, &root) ||
	    !root_times_add(&sums->times,
			    &(struct root_stretch){ root.start_ns, root.end_ns, place->row,
						    sums->whose, place->own }))
		return -ENOMEM;
	sum = &sums->rows.row[place->row];
	sum->root.ns += ns;
	if (sum->last_gap != sums->gap)
		sum->root.gaps++;
	sum->last_gap = sums->gap;
	if (ns > sum->root.root.end_ns - sum->root.root.start_ns)
		sum->root.root = root; /* the key is the same, times and thread may differ */
	return 0;
}

struct root_sums *root_sums_new(const struct model *model, const struct idle_tools *tools,
				uint64_t from_ns, uint64_t to_ns)
{
	struct root_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->model = model;
	root_times_init(&sums->times, from_ns, to_ns);
	sums->words = function_words_new();
	sums->places = sums->words ? root_places_new(model, sums->words) : NULL;
	sums->roles = same_roles_find(model);
	sums->walk = (struct root_walk){ .model = model,
					 .tools = tools,
					 .waits = tools->waits,
					 .sink = add_root,
					 .context = sums };
	if (!sums->places || !sums->roles) {
		root_sums_free(sums);
		return NULL;
	}
	return sums;
}

void root_sums_free(struct root_sums *sums)
{
	if (!sums)
		return;
	waits_free(sums->waits);
	root_places_free(sums->places);
	function_words_free(sums->words);
	free(sums->roles);
	for (int i = 0; i < KEY_PARTS - 1; i++)
		map_free(&sums->keys[i]);
	map_free(&sums->hop_ids);
	map_free(&sums->way_ids);
	map_free(&sums->came_ids);
	map_free(&sums->runners);
	free(sums->rows.row);
	free(sums->ways.row);
	free(sums->came.row);
	root_times_free(&sums->times);
	free(sums);
}

/* Returns false without memory. */
static bool find_waits(struct root_sums *sums)
{
	if (!sums->walk.waits)
		sums->walk.waits = sums->waits =
			waits_new(sums->model, sums->walk.tools->syscalls);
	return sums->walk.waits != NULL;
}

int root_sums_add(struct root_sums *sums, const struct device_gap *gap,
		  const struct idle_pieces *pieces)
{
	sums->gap++;
	sums->whose = gap->device;
	if (!find_waits(sums))
		return -ENOMEM;
	return root_walk_gap(&sums->walk, gap, pieces);
}

int root_sums_add_thread(struct root_sums *sums, struct root_sums *own, uint32_t thread,
			 uint64_t from_ns, uint64_t to_ns)
{
	sums->gap++;
	sums->whose = thread;
	sums->own = own;
	if (!find_waits(sums))
		return -ENOMEM;
	return root_walk_thread(&sums->walk, thread, from_ns, to_ns);
}

static int by_row(const void *a, const void *b)
{
	const struct came *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->way < y->way ? -1 : x->way > y->way;
}

/* Returns the first @depth hops of @way, as a way. */
static uint32_t beginning(const struct root_sums *sums, uint32_t way, uint32_t depth)
{
	while (sums->ways.row[way].depth > depth)
		way = sums->ways.row[way].before;
	return way;
}

/* Makes the chain of a row: came[0 .. count) are its ways, the one with most time first. */
static void make_chain(const struct root_sums *sums, const struct came *came, uint32_t count,
		       struct idle_roots *roots, struct idle_root *row)
{
	const struct root_way *ways = sums->ways.row;
	uint32_t most = came->way;

	row->hops = &roots->hops[roots->hop_count];
	row->hop_count = ways[most].depth;
	for (uint32_t depth = 1; depth <= row->hop_count; depth++) {
		uint32_t here = beginning(sums, most, depth);

		roots->hops[roots->hop_count++] =
			(struct idle_hop){ ways[here].hop.thread, ways[here].hop.cause, 0 };
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t way = came[i].way, other = most;

		/* Find the common prefix: equal prefixes are the same way. */
		if (ways[way].depth > ways[other].depth)
			way = beginning(sums, way, ways[other].depth);
		other = beginning(sums, other, ways[way].depth);
		for (; way != other; other = ways[other].before)
			way = ways[way].before;
		for (uint32_t depth = way == INDEX_NONE ? 0 : ways[way].depth; depth > 0; depth--)
			row->hops[depth - 1].ns += came[i].ns;
	}
}

static uint32_t count_hops(struct root_sums *sums)
{
	uint32_t hops = 0, last = INDEX_NONE;

	if (sums->came.count)
		qsort(sums->came.row, sums->came.count, sizeof(*sums->came.row), by_row);
	for (uint32_t i = 0; i < sums->came.count; i++) {
		if (sums->came.row[i].row != last)
			hops += sums->ways.row[sums->came.row[i].way].depth;
		last = sums->came.row[i].row;
	}
	return hops;
}

static int by_ns(const void *a, const void *b)
{
	const struct idle_root *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->root.cause != y->root.cause)
		return x->root.cause < y->root.cause ? -1 : 1;
	return x->root.who < y->root.who ? -1 : x->root.who > y->root.who;
}

static void name_word(const struct idle_roots *roots, int word, struct idle_root *row)
{
	if (row->root.cause == IDLE_RUNNABLE && row->root.who_kind == WHO_IDLE_CPU) {
		row->word = N_("wake-up latency");
		row->word_remedy = "";
	} else if (word == ROOT_WORD_KERNEL) {
		row->word = N_("the kernel's work");
		row->word_remedy =
			N_("The section stacks shows its requests to the kernel: make fewer, "
			   "larger system calls, or reuse memory.");
	} else if (word >= 0) {
		row->word = function_words_text(roots->words, word);
		row->word_remedy = function_words_remedy(roots->words, word);
	}
}

bool idle_root_collects(const struct idle_root *row)
{
	return row->word && strstr(row->word, "'s garbage collection");
}

static uint32_t process_of(const struct model *model, const struct idle_root *row)
{
	return row->root.thread < model->threads.count ? model->threads.row[row->root.thread].process
						       : INDEX_NONE;
}

void idle_roots_name_shortage(const struct model *model, struct idle_roots *roots,
			      const struct idle_roots *running)
{
	for (uint32_t i = 0; i < running->count; i++) {
		const struct idle_root *by = &running->row[i];

		if (!by->word || strcmp(by->word, IDLE_WORD_RECLAIM) != 0)
			continue;
		for (uint32_t k = 0; k < roots->count; k++) {
			struct idle_root *row = &roots->row[k];

			if (row->root.cause == IDLE_PAGE_FAULT && process_of(model, row) != INDEX_NONE &&
			    process_of(model, row) == process_of(model, by)) {
				row->word = by->word;
				row->word_remedy = by->word_remedy;
			}
		}
	}
}

/* Rows have been sorted: renumbers the times to the new positions. Returns false without memory. */
static bool hand_over_times(struct root_sums *sums, struct idle_roots *roots)
{
	uint32_t *row_of = calloc((size_t)roots->count + 1, sizeof(*row_of));
	bool done = row_of != NULL;

	for (uint32_t i = 0; row_of && i < roots->count; i++)
		row_of[roots->row[i].number] = i;
	if (row_of) {
		root_times_renumber(&sums->times, row_of);
		roots->times = sums->times;
		sums->times = (struct root_times){ 0 };
	}
	free(row_of);
	return done;
}

/* Counts the processes that followed each other in the role of each row's process. Returns false without memory. */
static bool count_processes(const struct root_sums *sums, struct idle_roots *roots)
{
	const struct model *model = sums->model;
	uint32_t *main_of = indices_none(model->processes.count);
	uint32_t *count = calloc((size_t)model->threads.count + 1, sizeof(*count));
	bool done = main_of && count;

	for (uint32_t i = 0; done && i < model->threads.count; i++) {
		const struct thread *row = &model->threads.row[i];

		if (row->process < model->processes.count && model->processes.row[row->process].pid == row->tid) {
			main_of[row->process] = i;
			count[sums->roles[i]]++;
		}
	}
	for (uint32_t i = 0; done && i < roots->count; i++) {
		uint32_t process = process_of(model, &roots->row[i]);
		uint32_t main = process < model->processes.count ? main_of[process] : INDEX_NONE;

		roots->row[i].processes = main == INDEX_NONE ? 0 : count[sums->roles[main]];
	}
	free(main_of);
	free(count);
	return done;
}

int root_sums_finish(struct root_sums *sums, struct idle_roots *roots)
{
	uint32_t next = 0;

	*roots = (struct idle_roots){ .steps = sums->walk.steps,
				      .words = sums->words,
				      .gaps = sums->gaps };
	sums->words = NULL;
	memcpy(roots->first_ns, sums->first_ns, sizeof(roots->first_ns));
	roots->row = calloc((size_t)sums->rows.count + 1, sizeof(*roots->row));
	roots->hops = calloc((size_t)count_hops(sums) + 1, sizeof(*roots->hops));
	if (!roots->row || !roots->hops)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->rows.count; i++) {
		struct idle_root *row = &roots->row[roots->count++];
		uint32_t first = next;
		int word;

		*row = sums->rows.row[i].root;
		row->number = i;
		while (next < sums->came.count && sums->came.row[next].row == i)
			next++;
		make_chain(sums, &sums->came.row[first], next - first, roots, row);
		row->samples = root_places_choose(sums->places, i, &row->root, &word);
		name_word(roots, word, row);
		if (row->word && (!strcmp(row->word, IDLE_WORD_SPINS) || !strcmp(row->word, IDLE_WORD_RANKS)))
			row->spins_ns = (uint64_t)((double)row->ns * root_places_spins(sums->places, i));
		row->ranks_ns = (uint64_t)((double)row->ns * root_places_ranks(sums->places, i));
		roots->total_ns += row->ns;
		roots->cause_ns[row->root.cause] += row->ns;
	}
	for (uint32_t i = 0; i < roots->count; i++) {
		struct idle_root *row = &roots->row[i];

		row->percent = 100.0 * (double)row->ns / (double)roots->total_ns;
		row->turns = row->percent >= TURNS_PERCENT && row->root.cause == IDLE_USER_CODE && row->hop_count > 1 &&
			     row->hops[row->hop_count - 2].cause == IDLE_LOCK &&
			     lock_turns_between(sums->model, row->hops[row->hop_count - 1].thread,
						row->hops[row->hop_count - 2].thread);
	}
	idle_roots_name_shortage(sums->walk.model, roots, roots);
	if (!count_processes(sums, roots))
		return -ENOMEM;
	if (roots->count)
		qsort(roots->row, roots->count, sizeof(*roots->row), by_ns);
	roots->ways = sums->ways.row;
	roots->way_count = sums->ways.count;
	memset(&sums->ways, 0, sizeof(sums->ways));
	return hand_over_times(sums, roots) ? 0 : -ENOMEM;
}

void idle_roots_free(struct idle_roots *roots)
{
	free(roots->row);
	free(roots->hops);
	free(roots->ways);
	function_words_free(roots->words);
	root_times_free(&roots->times);
	*roots = (struct idle_roots){ 0 };
}
