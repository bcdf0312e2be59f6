/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/idle_rules.h"
#include "analyzer/analyse/idle/idle_text.h"
#include "analyzer/analyse/host/syscall_class.h"
#include "analyzer/analyse/host/thread_walk.h"

struct idle_splitter {
	struct model *model;
	struct idle_tools tools;
	struct idle_names names;
	struct idle_pieces pieces;
	struct idle_part *parts;
	uint32_t capacity;
};

/* The row of one (cause, who) while gaps are summed up. */
struct sum {
	struct idle_total total;
	uint64_t last_gap; /* number of the last gap that total.gaps includes, from 1 */
	uint64_t longest_ns;
	struct idle_piece longest;
};

struct sums {
	struct sum *row;
	uint32_t count;
	uint32_t capacity;
	struct map places; /* (cause, who) -> row */
	struct root_sums *roots;
};

struct idle_splitter *idle_splitter_new(struct model *model)
{
	struct idle_splitter *splitter = calloc(1, sizeof(*splitter));

	if (!splitter)
		return NULL;
	splitter->model = model;
	splitter->tools.walker = walker_new(model);
	splitter->tools.syscalls = syscall_table_new(model_text(model, model->info.arch));
	if (splitter->tools.walker)
		splitter->tools.workers = device_workers_new(model, splitter->tools.walker);
	splitter->tools.scopes = scope_line_new(model);
	splitter->tools.busy = file_busy_new(model);
	if (!splitter->tools.scopes || !splitter->tools.workers || !splitter->tools.syscalls ||
	    !splitter->tools.busy) {
		idle_splitter_free(splitter);
		return NULL;
	}
	return splitter;
}

void idle_splitter_free(struct idle_splitter *splitter)
{
	if (!splitter)
		return;
	device_workers_free(splitter->tools.workers);
	walker_free(splitter->tools.walker);
	scope_line_free(splitter->tools.scopes);
	file_busy_free(splitter->tools.busy);
	syscall_table_free(splitter->tools.syscalls);
	idle_names_free(&splitter->names);
	free(splitter->pieces.row);
	free(splitter->parts);
	free(splitter);
}

static uint32_t describe(struct idle_splitter *splitter, const struct idle_piece *piece)
{
	char text[1024];

	idle_describe(splitter->model, &splitter->tools, piece, text, sizeof(text));
	return model_string(splitter->model, text);
}

/* The thread that a part is about: who, if that is a thread, else the examined thread. */
static uint32_t part_thread(const struct idle_piece *piece)
{
	return piece->who_kind == WHO_THREAD || piece->who_kind == WHO_RUNNER ? piece->who
									      : piece->thread;
}

static bool make_part(struct idle_splitter *splitter, const struct idle_piece *piece, bool details,
		      struct idle_part *part)
{
	*part = (struct idle_part){
		.start_ns = piece->start_ns,
		.end_ns = piece->end_ns,
		.cause = piece->cause,
		.who = idle_name_who(&splitter->names, splitter->model, piece),
		.thread = part_thread(piece),
		.detail = details ? describe(splitter, piece) : 0,
	};
	return part->who != INDEX_NONE && part->detail != INDEX_NONE;
}

static int find_pieces(struct idle_splitter *splitter, const struct device_gap *gap)
{
	return idle_rules_apply(splitter->model, &splitter->tools, gap, &splitter->pieces);
}

int idle_split(struct idle_splitter *splitter, const struct device_gap *gap, bool details,
	       const struct idle_part **parts)
{
	int error = find_pieces(splitter, gap);
	uint32_t count = splitter->pieces.count;

	if (error)
		return error;
	if (count > splitter->capacity) {
		struct idle_part *grown = reallocarray(splitter->parts, count, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		splitter->parts = grown;
		splitter->capacity = count;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!make_part(splitter, &splitter->pieces.row[i], details, &splitter->parts[i]))
			return -ENOMEM;
	}
	*parts = splitter->parts;
	return (int)count;
}

int idle_split_roots(struct idle_splitter *splitter, const struct device_gap *gaps, uint64_t count,
		     struct idle_roots *roots)
{
	struct root_sums *sums = root_sums_new(splitter->model, &splitter->tools, 0, 0);
	int error = sums ? 0 : -ENOMEM;

	*roots = (struct idle_roots){ 0 };
	for (uint64_t i = 0; i < count && !error; i++) {
		error = find_pieces(splitter, &gaps[i]);
		if (!error)
			error = root_sums_add(sums, &gaps[i], &splitter->pieces);
	}
	if (!error)
		error = root_sums_finish(sums, roots);
	root_sums_free(sums);
	return error;
}

static struct sum *sum_of(struct sums *sums, uint8_t cause, uint32_t who)
{
	uint64_t key = (uint64_t)cause << 32 | who;
	uint32_t place = map_get(&sums->places, key);

	if (place != MAP_NONE)
		return &sums->row[place];
	if (sums->count == sums->capacity) {
		uint32_t capacity = sums->capacity ? sums->capacity * 2 : 64;
		struct sum *row = reallocarray(sums->row, capacity, sizeof(*row));

		if (!row)
			return NULL;
		sums->row = row;
		sums->capacity = capacity;
	}
	if (!map_put(&sums->places, key, sums->count))
		return NULL;
	sums->row[sums->count] = (struct sum){ .total = { .cause = cause, .who = who } };
	return &sums->row[sums->count++];
}

/* Adds a gap, the @number-th, to the sums. */
static int add_gap(struct idle_splitter *splitter, struct sums *sums, uint64_t number,
		   const struct device_gap *gap)
{
	int error = find_pieces(splitter, gap);

	for (uint32_t i = 0; i < splitter->pieces.count && !error; i++) {
		const struct idle_piece *piece = &splitter->pieces.row[i];
		uint64_t ns = piece->end_ns - piece->start_ns;
		uint32_t who = idle_name_who(&splitter->names, splitter->model, piece);
		struct sum *sum = who == INDEX_NONE ? NULL : sum_of(sums, piece->cause, who);

		if (!sum)
			return -ENOMEM;
		sum->total.ns += ns;
		if (sum->last_gap != number)
			sum->total.gaps++;
		sum->last_gap = number;
		if (ns > sum->longest_ns) {
			sum->longest_ns = ns;
			sum->longest = *piece;
		}
	}
	return error ? error : root_sums_add(sums->roots, gap, &splitter->pieces);
}

static int by_length(const void *a, const void *b)
{
	const struct device_gap *const *x = a, *const *y = b;
	uint64_t p = (*x)->end_ns - (*x)->start_ns, q = (*y)->end_ns - (*y)->start_ns;

	if (p != q)
		return p > q ? -1 : 1;
	return (*x)->start_ns < (*y)->start_ns ? -1 : (*x)->start_ns > (*y)->start_ns;
}

static int by_ns(const void *a, const void *b)
{
	const struct idle_total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who;
}

static int finish_totals(struct idle_splitter *splitter, struct sums *sums,
			 struct idle_result *result)
{
	result->totals = calloc((size_t)sums->count + 1, sizeof(*result->totals));
	if (!result->totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->count; i++) {
		struct idle_total *total = &result->totals[i];

		*total = sums->row[i].total;
		total->thread = part_thread(&sums->row[i].longest);
		total->detail = describe(splitter, &sums->row[i].longest);
		if (total->detail == INDEX_NONE)
			return -ENOMEM;
		if (result->total_ns)
			total->percent = 100.0 * (double)total->ns / (double)result->total_ns;
		result->cause_ns[total->cause] += total->ns;
	}
	result->total_count = sums->count;
	qsort(result->totals, result->total_count, sizeof(*result->totals), by_ns);
	return 0;
}

/*
 * Sets the pointers of the gaps to their parts in result->parts, which are in the order of the gaps. Called after the
 * last part was added, because the array moves when it grows.
 */
static void place_parts(struct idle_result *result)
{
	struct idle_part *parts = result->parts.row;

	for (uint32_t i = 0; i < result->gap_count; i++) {
		result->gaps[i].parts = parts;
		parts += result->gaps[i].part_count;
	}
}

/* The longest gaps with their parts and details. */
static int list_gaps(struct idle_splitter *splitter, const struct device_gap **gaps, uint64_t count,
		     uint32_t top, struct idle_result *result)
{
	qsort(gaps, count, sizeof(*gaps), by_length);
	if (count > top)
		count = top;
	result->gaps = calloc(count + 1, sizeof(*result->gaps));
	if (!result->gaps)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		struct idle_gap *gap = &result->gaps[i];
		const struct idle_part *parts;
		int part_count;

		if (gaps[i]->end_ns - gaps[i]->start_ns < result->threshold_ns)
			break;
		part_count = idle_split(splitter, gaps[i], true, &parts);
		if (part_count < 0)
			return part_count;
		gap->gap = *gaps[i];
		for (int part = 0; part < part_count; part++) {
			if (!MODEL_PUSH(&result->parts, parts[part]))
				return -ENOMEM;
		}
		gap->part_count = (uint32_t)part_count;
		result->gap_count++;
	}
	MODEL_FIT(&result->parts);
	place_parts(result);
	return 0;
}

static int analyse(struct idle_splitter *splitter, struct sums *sums,
		   const struct device_gap **gaps, uint64_t count,
		   const struct analysis_options *options, struct idle_result *result)
{
	uint32_t top = options->top ? options->top : ANALYSIS_TOP_DEFAULT;
	int error = 0;

	result->gaps_total = count;
	for (uint64_t i = 0; i < count && !error; i++) {
		result->total_ns += gaps[i]->end_ns - gaps[i]->start_ns;
		error = add_gap(splitter, sums, i + 1, gaps[i]);
	}
	if (!error)
		error = root_sums_finish(sums->roots, result->roots);
	if (!error)
		error = finish_totals(splitter, sums, result);
	return error ? error : list_gaps(splitter, gaps, count, top, result);
}

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int idle_analyse(struct model *model, const struct device_usage *usages,
		 const struct analysis_options *options, struct idle_result *result)
{
	const struct idle_tools none = { 0 };
	struct idle_splitter *splitter = NULL;
	struct sums sums = { 0 };
	const struct device_gap **gaps = NULL;
	uint64_t count = 0, from_ns = UINT64_MAX, to_ns = 0;
	int error = -ENOMEM;

	*result = (struct idle_result){ .threshold_ns = options->idle_threshold_ns
								? options->idle_threshold_ns
								: ANALYSIS_IDLE_THRESHOLD_NS };
	for (uint32_t i = 0; i < model->devices.count; i++)
		count += usages[i].gap_count;
	/* Only with gaps: making the tools reads all activity of the threads. */
	if (count)
		splitter = idle_splitter_new(model);
	gaps = calloc(count + 1, sizeof(*gaps));
	result->roots = calloc(1, sizeof(*result->roots));
	if ((count && !splitter) || !gaps || !result->roots)
		goto cleanup;
	count = 0;
	for (uint32_t i = 0; i < model->devices.count; i++) {
		for (uint32_t gap = 0; gap < usages[i].gap_count; gap++) {
			gaps[count++] = &usages[i].gaps[gap];
			from_ns = min_ns(from_ns, usages[i].gaps[gap].start_ns);
			to_ns = max_ns(to_ns, usages[i].gaps[gap].end_ns);
		}
	}
	sums.roots = root_sums_new(model, splitter ? &splitter->tools : &none, from_ns, to_ns);
	if (!sums.roots)
		goto cleanup;
	error = analyse(splitter, &sums, gaps, count, options, result);
cleanup:
	free(gaps);
	free(sums.row);
	map_free(&sums.places);
	root_sums_free(sums.roots);
	idle_splitter_free(splitter);
	return error;
}

void idle_free(struct idle_result *result)
{
	free(result->gaps);
	free(result->parts.row);
	free(result->totals);
	if (result->roots)
		idle_roots_free(result->roots);
	free(result->roots);
	*result = (struct idle_result){ 0 };
}
