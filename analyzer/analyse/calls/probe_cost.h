/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cost.h - the probes' share of the calls' recorded durations.
 *
 * A call's duration contains the part of its own probe's cost that lies between the two time
 * stamps, and the whole cost of the probes of all calls made inside it. The session measured both
 * for each class of probed instruction when it began (Segment.probe_costs of proto/trace.proto).
 * They are medians: right for many calls together, not for a single call. A class that was not
 * measured counts as the cheapest measured class; arguments read through pointers are not counted,
 * nor are calls below the minimum duration that were made inside other calls.
 *
 * Only durations are corrected. Instants stay as recorded, and so do all results computed from
 * them: waits of threads, gaps of devices, steps.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_PROBE_COST_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_PROBE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct probe_cost_results {
	bool known; /* the trace contains costs of probes */
	bool subtracted; /* model_call_ns() subtracts the cost */
	uint64_t calls; /* calls that started in the window, including short calls */
	uint64_t total_ns; /* approximate time that their probes took of their threads' time */
};

/*
 * probe_cost_analyse - fill @results; with options->subtract_probe_cost also model->call_costs
 *
 * To be called once, after the last call was added and before anything uses
 * durations. Returns 0 or -ENOMEM.
 */
int probe_cost_analyse(struct model *model, const struct analysis_options *options,
		       struct probe_cost_results *results);

/* Returns the sum of @count durations of short calls of a function without the cost of their probes. */
uint64_t probe_cost_short_ns(const struct model *model, uint32_t function, uint64_t count,
			     uint64_t total_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_PROBE_COST_H */
