/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/cluster/rank_clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SAMPLES 9 /* minimum for the drift, which is the slope of a line through them */
#define DRIFT_MAX 1e-3 /* no clock is that bad */

struct sample {
	uint32_t device;
	uint64_t at_ns; /* by its clock */
	double diff_ns; /* to be added to at_ns */
};

enum state { STATE_NEW, STATE_ANCHOR, STATE_UNKNOWN };

struct finding {
	const struct rank_end *ends;
	uint32_t count;
	uint32_t devices;
	struct rank_clock *clocks;
	uint8_t *state; /* by device: enum state */
	uint32_t *collectives; /* by device: number of collectives */
	struct sample *samples;
	uint32_t sample_count;
	double *scratch;
};

bool rank_clocks_is_rooted(const char *name)
{
	if (strcasestr(name, "broadcast"))
		return true;
	if (strcasestr(name, "gather"))
		return !strcasestr(name, "all");
	if (strcasestr(name, "scatter"))
		return !strcasestr(name, "reduce");
	return strcasestr(name, "reduce") && !strcasestr(name, "all");
}

int64_t rank_clock_time(const struct rank_clock *clock, uint64_t ns)
{
	double since = (double)((int64_t)ns - (int64_t)clock->base_ns);

	if (!clock->moved)
		return (int64_t)ns;
	return (int64_t)ns + clock->offset_ns + llround(clock->drift * since);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the @part quantile of @count values; sorts them. */
static double quantile(double *values, uint32_t count, double part)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[(uint32_t)(part * (count - 1) + 0.5)];
}

static double median_of(struct finding *of, const struct sample *samples, uint32_t count,
			double drift, uint64_t base_ns)
{
	for (uint32_t i = 0; i < count; i++)
		of->scratch[i] = samples[i].diff_ns -
				 drift * (double)((int64_t)samples[i].at_ns - (int64_t)base_ns);
	return quantile(of->scratch, count, 0.5);
}

static double error_of(struct finding *of, const struct sample *samples, uint32_t count,
		       double offset, double drift, uint64_t base_ns)
{
	for (uint32_t i = 0; i < count; i++)
		of->scratch[i] =
			fabs(samples[i].diff_ns - offset -
			     drift * (double)((int64_t)samples[i].at_ns - (int64_t)base_ns));
	return quantile(of->scratch, count, 0.9);
}

/* Returns the slope from the median of the first third to that of the last third; samples are in time order. */
static double drift_of(struct finding *of, const struct sample *samples, uint32_t count)
{
	uint32_t third = count / 3;
	double first, last, drift, apart;

	if (count < LINE_SAMPLES)
		return 0;
	apart = (double)(samples[count - 1 - third / 2].at_ns - samples[third / 2].at_ns);
	first = median_of(of, samples, third, 0, 0);
	last = median_of(of, samples + count - third, third, 0, 0);
	drift = apart > 0 ? (last - first) / apart : 0;
	return fabs(drift) < DRIFT_MAX ? drift : 0;
}

/* Sets the clock of a device; @samples: all of the device, in time order. */
static void set_clock(struct finding *of, const struct sample *samples, uint32_t count)
{
	struct rank_clock *clock = &of->clocks[samples->device];
	uint64_t base_ns = samples[count / 2].at_ns;
	double offset = median_of(of, samples, count, 0, base_ns);
	double error = error_of(of, samples, count, offset, 0, base_ns);
	double drift = drift_of(of, samples, count), by_line, line_error;

	of->state[samples->device] = STATE_UNKNOWN;
	if (count < RANK_CLOCK_SAMPLES)
		return;
	by_line = median_of(of, samples, count, drift, base_ns);
	line_error = error_of(of, samples, count, by_line, drift, base_ns);
	if (line_error < error / 2) {
		offset = by_line;
		error = line_error;
		clock->drift = drift;
	}
	of->state[samples->device] = STATE_ANCHOR;
	clock->known = true;
	clock->base_ns = base_ns;
	clock->offset_ns = llround(offset);
	clock->error_ns = (uint64_t)llround(error);
	clock->moved = fabs(offset) > RANK_CLOCK_NOISE_NS && fabs(offset) > 3 * error;
}

static int by_device(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Adds samples from a collective: devices without a clock yet, compared with a device that has one. */
static void add_samples(struct finding *of, const struct rank_end *ends, uint32_t count)
{
	const struct rank_end *anchor = NULL;

	for (uint32_t i = 0; i < count && !anchor; i++)
		anchor = of->state[ends[i].device] == STATE_ANCHOR ? &ends[i] : NULL;
	for (uint32_t i = 0; i < count && anchor; i++) {
		int64_t there = rank_clock_time(&of->clocks[anchor->device], anchor->end_ns);

		if (of->state[ends[i].device] == STATE_NEW)
			of->samples[of->sample_count++] =
				(struct sample){ ends[i].device, ends[i].end_ns,
						 (double)(there - (int64_t)ends[i].end_ns) };
	}
}

/* Sets clocks of devices that have collectives with devices whose clocks are known. Returns false if none is left. */
static bool place_next(struct finding *of)
{
	of->sample_count = 0;
	for (uint32_t first = 0, end; first < of->count; first = end) {
		for (end = first;
		     end < of->count && of->ends[end].collective == of->ends[first].collective;)
			end++;
		if (!of->ends[first].rooted)
			add_samples(of, of->ends + first, end - first);
	}
	if (of->sample_count)
		qsort(of->samples, of->sample_count, sizeof(*of->samples), by_device);
	for (uint32_t first = 0, end; first < of->sample_count; first = end) {
		for (end = first; end < of->sample_count &&
				  of->samples[end].device == of->samples[first].device;)
			end++;
		set_clock(of, of->samples + first, end - first);
	}
	return of->sample_count != 0;
}

/* Chooses a reference clock: of the remaining devices the one with most collectives. Returns false if none remains. */
static bool choose_anchor(struct finding *of)
{
	uint32_t best = of->devices;

	for (uint32_t i = 0; i < of->devices; i++) {
		if (of->state[i] == STATE_NEW && of->collectives[i] &&
		    (best == of->devices || of->collectives[i] > of->collectives[best]))
			best = i;
	}
	if (best == of->devices)
		return false;
	of->state[best] = STATE_ANCHOR;
	of->clocks[best].known = true;
	return true;
}

int rank_clocks_find(const struct rank_end *ends, uint32_t count, uint32_t devices,
		     struct rank_clock *clocks)
{
	struct finding of = { .ends = ends, .count = count, .devices = devices, .clocks = clocks };
	int err = -ENOMEM;

	of.state = calloc((size_t)devices + 1, sizeof(*of.state));
	of.collectives = calloc((size_t)devices + 1, sizeof(*of.collectives));
	of.samples = calloc((size_t)count + 1, sizeof(*of.samples));
	of.scratch = calloc((size_t)count + 1, sizeof(*of.scratch));
	if (of.state && of.collectives && of.samples && of.scratch) {
		for (uint32_t i = 0; i < count; i++)
			of.collectives[ends[i].device]++;
		while (choose_anchor(&of)) {
			while (place_next(&of))
				;
		}
		err = 0;
	}
	free(of.state);
	free(of.collectives);
	free(of.samples);
	free(of.scratch);
	return err;
}
