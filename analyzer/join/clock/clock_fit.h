/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_fit.h - a straight line between lower and upper bounds.
 *
 * The unknown is offset(t) = host time minus device time at device time t. Each
 * bound says that the offset is at least (lower) or at most (upper) some value at
 * some t. The chosen line stays farthest from every bound; it has no drift unless
 * the bounds require one.
 */
#ifndef PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_FIT_H
#define PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* A larger drift cannot be that of a clock: 1,000 ppm. */
#define CLOCK_FIT_DRIFT_MAX 1e-3

/* offset(time_ns) >= offset_ns, or <= for an upper bound. */
struct clock_bound {
	uint64_t time_ns; /* device clock */
	int64_t offset_ns;
	bool upper;
};

struct clock_line {
	uint64_t time_ns; /* device clock at which offset_ns holds */
	int64_t offset_ns;
	double drift; /* ns per ns */
	bool bounded_below; /* there was a lower bound */
	bool bounded_above;
	bool consistent; /* no bound is violated */
	uint64_t error_ns; /* consistent and bounded on both sides: the offset is right to +- this;
				 * inconsistent: the largest violation; UINT64_MAX = unknown */
};

/*
 * clock_fit - fits a line between @bounds
 *
 * With lower bounds only (or upper ones only) the line touches the tightest of them and has
 * no drift. Returns false if @count is 0. Work is linear in @count.
 */
bool clock_fit(const struct clock_bound *bounds, uint32_t count, struct clock_line *line);

/* Converts a device time to host time; saturates at 0 and UINT64_MAX. */
uint64_t clock_line_apply(const struct clock_line *line, uint64_t device_ns);

#endif /* PROFBPF_ANALYZER_JOIN_CLOCK_CLOCK_FIT_H */
