/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/clock/clock_fit.h"

#include <math.h>
#include <sys/param.h>

#define SEARCH_STEPS 60 /* narrows CLOCK_FIT_DRIFT_MAX to below 1e-12 */

/*
 * Values are doubles relative to the first bound: they then fit into 53 bits for traces of up to 100 days even if the
 * two clocks are decades apart.
 */
struct fit {
	const struct clock_bound *bounds;
	uint32_t count;
	uint64_t time0_ns; /* time of the earliest bound */
	int64_t offset0_ns;
	double span; /* time of the latest bound, from time0 */
};

/* The range of offsets at time0 that a line of a given drift may have: [low, high]. */
struct corridor {
	double low;
	double high;
};

static double relative_time(const struct fit *fit, uint64_t time_ns)
{
	return (double)(time_ns - fit->time0_ns);
}

static double relative_offset(const struct fit *fit, int64_t offset_ns)
{
	return (double)((__int128)offset_ns - fit->offset0_ns);
}

static struct corridor corridor_at(const struct fit *fit, double drift)
{
	struct corridor corridor = { -INFINITY, INFINITY };

	for (uint32_t i = 0; i < fit->count; i++) {
		const struct clock_bound *bound = &fit->bounds[i];
		double value = relative_offset(fit, bound->offset_ns) -
			       drift * relative_time(fit, bound->time_ns);

		if (bound->upper)
			corridor.high = fmin(corridor.high, value);
		else
			corridor.low = fmax(corridor.low, value);
	}
	return corridor;
}

static double width_at(const struct fit *fit, double drift)
{
	struct corridor corridor = corridor_at(fit, drift);

	return corridor.high - corridor.low;
}

/* The corridor's width is concave in the drift, so a ternary search finds its top. */
static double widest_drift(const struct fit *fit)
{
	double left = -CLOCK_FIT_DRIFT_MAX, right = CLOCK_FIT_DRIFT_MAX;

	for (int i = 0; i < SEARCH_STEPS; i++) {
		double a = left + (right - left) / 3, b = right - (right - left) / 3;

		if (width_at(fit, a) < width_at(fit, b))
			left = a;
		else
			right = b;
	}
	return (left + right) / 2;
}

/* Finds the drift farthest from @inside towards @limit whose corridor is at least @width wide. */
static double drift_limit(const struct fit *fit, double inside, double limit, double width)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double middle = (inside + limit) / 2;

		if (width_at(fit, middle) >= width)
			inside = middle;
		else
			limit = middle;
	}
	return inside;
}

static int64_t to_i64(double value)
{
	return value >= 0x1p63 ? INT64_MAX : (int64_t)llround(fmax(value, -0x1p63));
}

static void finish(const struct fit *fit, double at_time0, double drift, struct clock_line *line)
{
	/* The reference is the middle of the trace, where an error of the drift matters least. */
	double half = fit->span / 2;
	__int128 offset_ns = (__int128)fit->offset0_ns + to_i64(at_time0 + drift * half);

	line->time_ns = fit->time0_ns + (uint64_t)half;
	line->offset_ns = (int64_t)MAX(MIN(offset_ns, INT64_MAX), INT64_MIN);
	line->drift = drift;
}

static void fit_both(const struct fit *fit, struct clock_line *line)
{
	double drift = 0, swing = 0;
	struct corridor corridor = corridor_at(fit, 0);

	line->consistent = true;
	if (corridor.high < corridor.low) {
		double widest = widest_drift(fit), width = width_at(fit, widest), least, most;

		line->consistent = width >= 0;
		/* If no drift leaves a corridor, accept those whose violation is at most 1 ns larger. */
		width = line->consistent ? 0 : width - 1;
		least = drift_limit(fit, widest, -CLOCK_FIT_DRIFT_MAX, width);
		most = drift_limit(fit, widest, CLOCK_FIT_DRIFT_MAX, width);
		drift = (least + most) / 2;
		if (line->consistent)
			swing = (most - least) / 2 * fit->span / 2;
		corridor = corridor_at(fit, drift);
	}
	finish(fit, (corridor.low + corridor.high) / 2, drift, line);
	line->error_ns = (uint64_t)ceil(fmin(fabs(corridor.high - corridor.low) / 2 + swing, 9e18));
}

bool clock_fit(const struct clock_bound *bounds, uint32_t count, struct clock_line *line)
{
	struct fit fit = { .bounds = bounds, .count = count };
	uint64_t last;

	*line = (struct clock_line){ .error_ns = UINT64_MAX };
	if (count == 0)
		return false;
	fit.time0_ns = last = bounds[0].time_ns;
	fit.offset0_ns = bounds[0].offset_ns;
	for (uint32_t i = 0; i < count; i++) {
		if (bounds[i].time_ns < fit.time0_ns)
			fit.time0_ns = bounds[i].time_ns;
		if (bounds[i].time_ns > last)
			last = bounds[i].time_ns;
		if (bounds[i].upper)
			line->bounded_above = true;
		else
			line->bounded_below = true;
	}
	fit.span = (double)(last - fit.time0_ns);
	if (line->bounded_below && line->bounded_above) {
		fit_both(&fit, line);
	} else {
		struct corridor corridor = corridor_at(&fit, 0);

		line->consistent = true;
		finish(&fit, line->bounded_below ? corridor.low : corridor.high, 0, line);
	}
	return true;
}

uint64_t clock_line_apply(const struct clock_line *line, uint64_t device_ns)
{
	double away = (double)((__int128)device_ns - line->time_ns);
	__int128 host_ns = (__int128)device_ns + line->offset_ns + to_i64(line->drift * away);

	return (uint64_t)MAX(MIN(host_ns, UINT64_MAX), 0);
}
