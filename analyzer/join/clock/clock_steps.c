/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/clock/clock_steps.h"

#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

#include "lib/base/bisect.h"

#define VERTICES_MAX 64 /* in a region; a cut that would make more is skipped, which is safe */
#define FAR 1e15 /* ns: offsets farther than this from the first bound are invalid */
#define ROUNDING 0.5 /* error of doubles here, in ns */
#define RUNS_MAX 512
#define RUN_LEAST 16 /* fewest bounds of a piece */

/*
 * A line is a point: its offset at the time of the first bound and its growth up to the time of the last one. All
 * lines that satisfy some bounds are a convex region of that plane; each bound is a straight cut through it.
 */
struct vertex {
	double start;
	double growth;
};

struct region {
	struct vertex vertex[VERTICES_MAX];
	uint32_t count;
};

struct fitting {
	const struct clock_bound *bounds; /* sorted by time */
	uint32_t count;
	uint64_t time0_ns;
	int64_t offset0_ns;
	double span;
};

/* Bounds [first, end) that one line satisfies. */
struct run {
	uint32_t first;
	uint32_t end;
	struct region region;
};

struct runs {
	struct run *row;
	uint32_t count;
};

static double place(const struct fitting *fitting, uint64_t time_ns)
{
	return (double)(time_ns - fitting->time0_ns) / fitting->span;
}

static double relative_offset(const struct fitting *fitting, int64_t offset_ns)
{
	return (double)((__int128)offset_ns - fitting->offset0_ns);
}

static void region_begin(struct region *region, double span)
{
	double growth = CLOCK_FIT_DRIFT_MAX * span;

	region->vertex[0] = (struct vertex){ -FAR, -growth };
	region->vertex[1] = (struct vertex){ FAR, -growth };
	region->vertex[2] = (struct vertex){ FAR, growth };
	region->vertex[3] = (struct vertex){ -FAR, growth };
	region->count = 4;
}

/* Returns the distance by which a line satisfies a bound; below 0 it violates the bound. */
static double inside(const struct vertex *line, double at, double value, bool upper)
{
	double distance = line->start + line->growth * at - value;

	return upper ? -distance : distance;
}

static bool same(const struct vertex *a, const struct vertex *b)
{
	return a->start == b->start && a->growth == b->growth;
}

/* Adds a vertex unless it equals the last one: cuts through a vertex would otherwise fill the region with copies. */
static void add_vertex(struct region *region, struct vertex vertex)
{
	if (!region->count || !same(&region->vertex[region->count - 1], &vertex))
		region->vertex[region->count++] = vertex;
}

/* Cuts off the lines that violate the bound. Returns false if none is left; the region is then unchanged. */
static bool region_cut(const struct fitting *fitting, struct region *region,
		       const struct clock_bound *bound)
{
	double at = place(fitting, bound->time_ns);
	double value = relative_offset(fitting, bound->offset_ns);
	struct region cut = { .count = 0 };
	double depth[VERTICES_MAX];
	bool satisfies[VERTICES_MAX];
	uint32_t good = 0;

	for (uint32_t i = 0; i < region->count; i++) {
		depth[i] = inside(&region->vertex[i], at, value, bound->upper);
		satisfies[i] = depth[i] >= -ROUNDING;
		good += satisfies[i];
	}
	if (!good)
		return false;
	if (good == region->count || region->count + 2 > VERTICES_MAX)
		return true;
	for (uint32_t i = 0; i < region->count; i++) {
		uint32_t next = (i + 1) % region->count;
		const struct vertex *a = &region->vertex[i], *b = &region->vertex[next];

		if (satisfies[i])
			add_vertex(&cut, *a);
		if (satisfies[i] != satisfies[next]) {
			double part = depth[i] / (depth[i] - depth[next]);

			part = fmin(fmax(part, 0), 1);
			add_vertex(&cut, (struct vertex){
						 a->start + part * (b->start - a->start),
						 a->growth + part * (b->growth - a->growth) });
		}
	}
	while (cut.count > 1 && same(&cut.vertex[0], &cut.vertex[cut.count - 1]))
		cut.count--;
	*region = cut;
	return true;
}

/* Finds the lowest and highest offset of all lines of the region. */
static void region_range(const struct region *region, double at, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (uint32_t i = 0; i < region->count; i++) {
		double value = region->vertex[i].start + region->vertex[i].growth * at;

		*low = fmin(*low, value);
		*high = fmax(*high, value);
	}
}

static bool region_bounded(const struct region *region, double at)
{
	double low, high;

	region_range(region, at, &low, &high);
	return fmax(fabs(low), fabs(high)) < FAR / 2;
}

/* The mean of the vertices is a line inside the region: it satisfies all bounds. */
static void region_line(const struct fitting *fitting, const struct region *region,
			uint64_t from_ns, uint64_t to_ns, struct clock_line *line)
{
	struct vertex mean = { 0, 0 };
	double from = place(fitting, from_ns), to = place(fitting, to_ns), low, high, error = 0;
	double ends[] = { from, to };

	for (uint32_t i = 0; i < region->count; i++) {
		mean.start += region->vertex[i].start / region->count;
		mean.growth += region->vertex[i].growth / region->count;
	}
	for (int i = 0; i < 2; i++) {
		double value = mean.start + mean.growth * ends[i];

		region_range(region, ends[i], &low, &high);
		error = fmax(error, fmax(high - value, value - low));
	}
	*line = (struct clock_line){
		.time_ns = from_ns,
		.drift = mean.growth / fitting->span,
		.bounded_below = true,
		.bounded_above = true,
		.consistent = true,
		.error_ns = (uint64_t)ceil(error + 2 * ROUNDING + 1),
	};
	/* Pieces are never so far away that this overflows. */
	if (__builtin_add_overflow(fitting->offset0_ns, llround(mean.start + mean.growth * from),
				   &line->offset_ns))
		line->offset_ns = fitting->offset0_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct clock_bound *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->upper != y->upper)
		return x->upper ? 1 : -1;
	return x->offset_ns < y->offset_ns ? -1 : x->offset_ns > y->offset_ns;
}

/* Splits the bounds into runs, each as long as one line satisfies its bounds. Returns false if there are too many. */
static bool find_runs(const struct fitting *fitting, struct runs *runs)
{
	uint32_t first = 0;

	while (first < fitting->count) {
		struct run *run = &runs->row[runs->count];
		uint32_t end = first;

		if (runs->count++ == RUNS_MAX)
			return false;
		region_begin(&run->region, fitting->span);
		while (end < fitting->count &&
		       region_cut(fitting, &run->region, &fitting->bounds[end]))
			end++;
		if (end == first)
			end++; /* the offset is beyond FAR */
		run->first = first;
		run->end = end;
		first = end;
	}
	return true;
}

static bool extend(const struct fitting *fitting, struct region *region, uint32_t first,
		   uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (!region_cut(fitting, region, &fitting->bounds[i]))
			return false;
	}
	return true;
}

/* Keeps the runs that are pieces. Bounds between two runs that one line satisfies are outliers. */
static uint32_t keep_pieces(const struct fitting *fitting, struct runs *runs)
{
	uint32_t kept = 0, covered = 0;

	for (uint32_t i = 0; i < runs->count; i++) {
		struct run *run = &runs->row[i], *last = kept ? &runs->row[kept - 1] : NULL;
		struct region both;

		if (run->end - run->first < RUN_LEAST ||
		    !region_bounded(&run->region,
				    place(fitting, fitting->bounds[run->first].time_ns)))
			continue;
		covered += run->end - run->first;
		if (last) {
			both = last->region;
			if (extend(fitting, &both, run->first, run->end)) {
				last->region = both;
				last->end = run->end;
				continue;
			}
		}
		runs->row[kept++] = *run;
	}
	runs->count = kept;
	return covered;
}

static double line_at(const struct fitting *fitting, const struct run *run, double at)
{
	double low, high;

	region_range(&run->region, at, &low, &high);
	return (low + high) / 2;
}

/*
 * Finds the zone between two pieces: from the first bound that both satisfy up to the first bound that the earlier one
 * violates, extended by the size of the step, because a step back makes the clock show some instants twice.
 */
static void find_zone(const struct fitting *fitting, const struct run *before,
		      const struct run *after, uint64_t *from_ns, uint64_t *to_ns)
{
	struct region region = after->region;
	double at = place(fitting, fitting->bounds[after->first].time_ns);
	double step = line_at(fitting, after, at) - line_at(fitting, before, at);
	uint64_t wide = (uint64_t)fmin(2 * fabs(step), FAR);
	uint32_t i = after->first;

	while (i > before->first && region_cut(fitting, &region, &fitting->bounds[i - 1]))
		i--;
	if (i > before->end)
		i = before->end;
	*from_ns = fitting->bounds[i].time_ns;
	*from_ns -= MIN(*from_ns, wide);
	*to_ns = fitting->bounds[after->first].time_ns + wide;
}

/* Removes the bounds of the surrounding zones from a piece. */
static void narrow(const struct fitting *fitting, struct run *run, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t first = run->first, end = run->end;
	struct region region;

	while (first < end && fitting->bounds[first].time_ns < from_ns)
		first++;
	while (end > first && fitting->bounds[end - 1].time_ns > to_ns)
		end--;
	region_begin(&region, fitting->span);
	if (end - first >= RUN_LEAST && extend(fitting, &region, first, end) &&
	    region_bounded(&region, place(fitting, fitting->bounds[first].time_ns)))
		run->region = region;
}

static void make_pieces(const struct fitting *fitting, struct runs *runs, struct clock_steps *steps)
{
	const struct run *last = &runs->row[runs->count - 1];
	uint64_t last_ns = fitting->bounds[last->end - 1].time_ns;

	steps->open_start = runs->row[0].first > 0;
	steps->open_end = last->end < fitting->count;
	steps->piece[0].from_ns = fitting->bounds[runs->row[0].first].time_ns;
	for (uint32_t i = 0; i < runs->count; i++) {
		steps->piece[i].to_ns = last_ns;
		if (i + 1 < runs->count)
			find_zone(fitting, &runs->row[i], &runs->row[i + 1], &steps->piece[i].to_ns,
				  &steps->piece[i + 1].from_ns);
		if (steps->piece[i].to_ns < steps->piece[i].from_ns)
			steps->piece[i].to_ns = steps->piece[i].from_ns;
	}
	steps->count = runs->count;
	for (uint32_t i = 0; i < runs->count; i++) {
		struct clock_piece *piece = &steps->piece[i];
		uint64_t from_ns = i ? piece[-1].to_ns : piece->from_ns;
		uint64_t to_ns = i + 1 < runs->count ? piece[1].from_ns : piece->to_ns;

		narrow(fitting, &runs->row[i], piece->from_ns, piece->to_ns);
		/* The line also applies in the zones. */
		region_line(fitting, &runs->row[i].region, from_ns, to_ns, &piece->line);
		if (piece->line.error_ns > steps->error_ns)
			steps->error_ns = piece->line.error_ns;
	}
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void judge_zones(struct clock_steps *steps)
{
	uint64_t widest = 0;

	for (uint32_t i = 1; i < steps->count; i++) {
		const struct clock_piece *before = &steps->piece[i - 1], *after = &steps->piece[i];
		uint64_t instants[] = { before->to_ns, after->from_ns };

		for (int k = 0; k < 2; k++) {
			uint64_t step = apart(clock_line_apply(&before->line, instants[k]),
					      clock_line_apply(&after->line, instants[k]));

			widest = step > widest ? step : widest;
		}
	}
	if (steps->open_start || steps->open_end)
		steps->step_error_ns = UINT64_MAX;
	else
		steps->step_error_ns = widest + steps->error_ns;
}

bool clock_steps_fit(struct clock_bound *bounds, uint32_t count, struct clock_steps *steps)
{
	struct fitting fitting = { .bounds = bounds, .count = count };
	struct runs runs = { 0 };
	bool fits = false;

	*steps = (struct clock_steps){ 0 };
	if (count < RUN_LEAST)
		return false;
	qsort(bounds, count, sizeof(*bounds), by_time);
	fitting.time0_ns = bounds[0].time_ns;
	fitting.offset0_ns = bounds[0].offset_ns;
	fitting.span = fmax((double)(bounds[count - 1].time_ns - fitting.time0_ns), 1);
	runs.row = calloc(RUNS_MAX, sizeof(*runs.row));
	if (runs.row && find_runs(&fitting, &runs)) {
		uint32_t covered = keep_pieces(&fitting, &runs);

		fits = runs.count <= CLOCK_STEPS_MAX + 1 && covered >= count - count / 10;
		steps->ignored = count - covered;
	}
	if (fits) {
		make_pieces(&fitting, &runs, steps);
		judge_zones(steps);
	}
	free(runs.row);
	return fits;
}

const struct clock_line *clock_steps_at(const struct clock_steps *steps, uint64_t device_ns,
					bool *sure, const struct clock_line **other)
{
	/* The last piece that begins at or before the instant. */
	uint32_t last = BISECT(i, 1, steps->count, steps->piece[i].from_ns <= device_ns) - 1;
	const struct clock_piece *piece = &steps->piece[last];

	*other = NULL;
	*sure = device_ns >= piece->from_ns && device_ns <= piece->to_ns;
	if (device_ns < piece->from_ns)
		*sure = !steps->open_start;
	else if (last + 1 == steps->count && device_ns > piece->to_ns)
		*sure = !steps->open_end;
	if (last + 1 == steps->count || device_ns <= piece->to_ns)
		return &piece->line;
	if (device_ns - piece->to_ns < piece[1].from_ns - device_ns) {
		*other = &piece[1].line;
		return &piece->line;
	}
	*other = &piece->line;
	return &piece[1].line;
}
