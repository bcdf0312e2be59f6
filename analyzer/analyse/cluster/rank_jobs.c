/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/rank_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#define DEVICES_MAX 128 /* more than a host has: pairs of pairs are compared, and with more devices all are one job */

enum likeness { NOT_COMPARED = 0, TOO_FEW, APART, TOGETHER };

struct search {
	const struct model *model;
	const struct rank_part *parts;
	uint32_t count;
	uint32_t *jobs;
	uint8_t *pairs; /* enum likeness, by two devices */
	int64_t *differences;
};

/* The parts of a kind on one device. */
struct run {
	const struct rank_part *parts;
	uint32_t count;
};

static uint32_t job_of(const struct search *search, uint32_t device)
{
	while (search->jobs[device] != device)
		device = search->jobs[device];
	return device;
}

static void unite(struct search *search, uint32_t a, uint32_t b)
{
	uint32_t x = job_of(search, a), y = job_of(search, b);

	search->jobs[MAX(x, y)] = MIN(x, y);
}

bool rank_jobs_is_recorded(const struct model *model, uint32_t device)
{
	uint32_t process = model->devices.row[device].process;

	return model->files.count && process < model->processes.count &&
	       model->processes.row[process].target;
}

/* Are the device's times those of the recorded host? */
static bool is_recorded(const struct search *search, uint32_t device)
{
	return rank_jobs_is_recorded(search->model, device);
}

static bool is_exact(const struct search *search, uint32_t device)
{
	const struct device *row = &search->model->devices.row[device];

	return !row->anchored && !row->own_clock && !row->file;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The difference of each of a's ends to the nearest one of b's. */
static void find_differences(struct search *search, const struct run *a, const struct run *b)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		int64_t end_ns = (int64_t)a->parts[i].end_ns, best;

		while (next + 1 < b->count && llabs((int64_t)b->parts[next + 1].end_ns - end_ns) <=
						      llabs((int64_t)b->parts[next].end_ns - end_ns))
			next++;
		best = (int64_t)b->parts[next].end_ns - end_ns;
		search->differences[i] = best;
	}
}

/* The largest number of differences that differ by at most 2 × @near_ns; with exact clocks those near 0. */
static uint32_t count_near(struct search *search, uint32_t count, int64_t near_ns, bool exact)
{
	uint32_t most = 0, first = 0, near = 0;

	qsort(search->differences, count, sizeof(*search->differences), by_value);
	for (uint32_t i = 0; i < count; i++) {
		while (search->differences[i] - search->differences[first] > 2 * near_ns)
			first++;
		most = MAX(most, i + 1 - first);
		near += llabs(search->differences[i]) <= near_ns;
	}
	return exact ? near : most;
}

/* @a has no more parts than @b. */
static bool are_near(struct search *search, const struct run *a, const struct run *b)
{
	uint64_t span_ns = b->parts[b->count - 1].end_ns - b->parts->end_ns;
	int64_t near_ns = (int64_t)(RANK_JOBS_NEAR * (double)span_ns / (b->count - 1));
	bool exact = is_exact(search, a->parts->device) && is_exact(search, b->parts->device);

	find_differences(search, a, b);
	return 2 * count_near(search, a->count, MAX(near_ns, RANK_JOBS_NEAR_NS), exact) >= a->count;
}

static enum likeness compare(struct search *search, const struct run *a, const struct run *b)
{
	uint32_t x = a->parts->device, y = b->parts->device;
	const struct device *devices = search->model->devices.row;

	if (!is_recorded(search, x) || !is_recorded(search, y) || devices[x].process == devices[y].process)
		return TOGETHER;
	if (a->parts->rooted || a->count < RANK_JOBS_MIN || b->count < RANK_JOBS_MIN)
		return TOO_FEW;
	if (a->count <= b->count)
		return are_near(search, a, b) ? TOGETHER : APART;
	return are_near(search, b, a) ? TOGETHER : APART;
}

/* Returns the run of a device that begins with part @first. */
static struct run run_at(const struct search *search, uint32_t first)
{
	uint32_t end = first;

	while (end < search->count && search->parts[end].kind == search->parts[first].kind &&
	       search->parts[end].device == search->parts[first].device)
		end++;
	return (struct run){ &search->parts[first], end - first };
}

/* Compares a run with those of the same kind on the devices after its own. */
static void compare_with_others(struct search *search, const struct run *run, uint32_t next)
{
	uint32_t devices = search->model->devices.count;

	while (next < search->count && search->parts[next].kind == run->parts->kind) {
		struct run other = run_at(search, next);
		uint8_t *pair = &search->pairs[(size_t)run->parts->device * devices + other.parts->device];

		if (*pair != TOGETHER)
			*pair = MAX(*pair, (uint8_t)compare(search, run, &other));
		next += other.count;
	}
}

/* Were devices of two jobs found to be apart? */
static bool are_apart(const struct search *search, uint32_t x, uint32_t y)
{
	uint32_t devices = search->model->devices.count;

	for (uint32_t a = 0; a < devices; a++) {
		for (uint32_t b = a + 1; b < devices; b++) {
			uint32_t p = job_of(search, a), q = job_of(search, b);

			if (search->pairs[(size_t)a * devices + b] == APART &&
			    ((p == x && q == y) || (p == y && q == x)))
				return true;
		}
	}
	return false;
}

/* Unites the devices of all pairs that are alike in this way. */
static void unite_pairs(struct search *search, enum likeness likeness)
{
	uint32_t devices = search->model->devices.count;

	for (uint32_t a = 0; a < devices; a++) {
		for (uint32_t b = a + 1; b < devices; b++) {
			uint32_t x = job_of(search, a), y = job_of(search, b);

			if (x != y && search->pairs[(size_t)a * devices + b] == likeness &&
			    (likeness == TOGETHER || !are_apart(search, x, y)))
				unite(search, x, y);
		}
	}
}

static void find(struct search *search)
{
	for (uint32_t first = 0; first < search->count;) {
		struct run run = run_at(search, first);

		first += run.count;
		compare_with_others(search, &run, first);
	}
	unite_pairs(search, TOGETHER);
	unite_pairs(search, TOO_FEW);
}

int rank_jobs_find(const struct model *model, const struct rank_part *parts, uint32_t count,
		   uint32_t *jobs)
{
	struct search search = { .model = model, .parts = parts, .count = count, .jobs = jobs };
	uint32_t devices = model->devices.count;
	int err = 0;

	for (uint32_t i = 0; i < devices; i++)
		jobs[i] = devices > DEVICES_MAX ? 0 : i;
	if (devices > DEVICES_MAX)
		return 0;
	search.pairs = calloc((size_t)devices * devices + 1, sizeof(*search.pairs));
	search.differences = calloc((size_t)count + 1, sizeof(*search.differences));
	if (search.pairs && search.differences)
		find(&search);
	else
		err = -ENOMEM;
	for (uint32_t i = 0; i < devices; i++)
		jobs[i] = job_of(&search, i);
	free(search.pairs);
	free(search.differences);
	return err;
}
