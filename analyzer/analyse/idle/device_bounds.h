/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_bounds.h - lower and upper bound of a device's busy time, from the calls of the host alone.
 *
 * Lower bound: the time that threads spend in calls that wait for the device, running or asleep, but not ready without
 * a CPU. The first BOUNDS_OVERHEAD_NS of each call, or the duration of the shortest call of its function if that is
 * less, are the call's own. Copies count only while their thread is asleep: their time on a CPU is the host's. If a
 * thread of the same process ends the sleep, the device is busy only until that thread wakes up: it has the notice of
 * completion then, and may wait for a CPU. The last BOUNDS_NOTICE_NS of a sleep are the notice's way to the host: a CPU
 * that is idle takes this long to see an interrupt (halted virtual CPUs: median 55 us, 90 of 100 within 103 us; core
 * state C6 by the kernel's intel_idle.c: 85 to 133 us).
 *
 * Upper bound: all time but that from the instant at which all submitted work is known to be done to the next
 * submission. A call that waits for a stream proves this for that stream, a call that waits for the whole device (by
 * its name) for all streams; work submitted during the call may not be done. Copies prove it, too, except asynchronous
 * ones and copies to the device, which return once the host's memory is free again. Waits for events prove it for no
 * stream. Work submitted before the trace began is done when a call has waited for its stream.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

#define BOUNDS_OVERHEAD_NS 50000
#define BOUNDS_NOTICE_NS 100000

struct device_bounds {
	bool known; /* there are calls that submit work, and none was too short to be recorded */
	double at_least_percent; /* of the analysed time */
	double at_most_percent;
	double likely_most_percent; /* the same by likeness (launch_turns.h): no proof, at most at_most_percent */
	/*
	 * Threads' time on a CPU in calls that copy synchronously, after they have waited for the device in the same
	 * call: earlier work is done, so none of it hides this time.
	 */
	uint64_t copied_ns;
};

/*
 * device_bounds_find - computes the bounds for the traced processes from @from_ns to @to_ns
 *
 * Uses the processes that @options select, not their times. Returns 0 or -ENOMEM.
 */
int device_bounds_find(const struct model *model, const struct walker *walker,
		       const struct analysis_options *options, uint64_t from_ns, uint64_t to_ns,
		       struct device_bounds *bounds);

/* device_bounds_likely_tells - is the likely bound so much lower than the proven one that it is worth a sentence? */
bool device_bounds_likely_tells(const struct device_bounds *bounds);

/* device_bounds_settled - are the bounds the same whatever the uncertain facts of counted calls (COUNTED_*) are? */
bool device_bounds_settled(const struct model *model);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H */
