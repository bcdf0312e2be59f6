/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_bounds.h - how busy a device was at least and at most, by the calls of the host alone.
 *
 * At least: while a thread was in a call that waits for the device, on a CPU or asleep, but not while it had no
 * CPU; of each call the first BOUNDS_OVERHEAD_NS, or what the shortest call of that function took, are the
 * call's own. Copies only while the thread was asleep in them: what they do on a CPU is the host's. Where a thread of
 * the same process ended the sleep, only until that woke up: it had the news then, and maybe no CPU.
 *
 * At most: all but the time from when all that was submitted is known to be done until more is. A call that waits
 * for a stream tells it of that stream, one for the whole device (by its name) of all; what was submitted while it
 * waited may not be done. So do copies, but asynchronous ones and those to the device, which return once the host's
 * memory is free again. Events tell of no stream. What had been submitted before the trace began is done
 * when its stream has been waited for.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

#define BOUNDS_OVERHEAD_NS 50000

struct device_bounds {
	bool known; /* there are calls that submit work, and none was too short to be recorded */
	double at_least_percent; /* of the time looked at */
	double at_most_percent;
};

/*
 * device_bounds_find - of the traced processes, from @from_ns to @to_ns
 *
 * Of @options the processes count, not the times. Returns 0 or -ENOMEM.
 */
int device_bounds_find(const struct model *model, const struct walker *walker,
		       const struct analysis_options *options, uint64_t from_ns, uint64_t to_ns,
		       struct device_bounds *bounds);

/* device_bounds_settled - do counted calls of which it is not sure inside of what they are change no bounds? */
bool device_bounds_settled(const struct model *model);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_DEVICE_BOUNDS_H */
