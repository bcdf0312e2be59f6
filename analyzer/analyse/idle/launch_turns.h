/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_turns.h - how long a device works at most, if launches that nobody waited for take as long as others.
 *
 * Calls that wait for an event, or until a queue has room, prove for no instant that all work is done: between them the
 * device could always be busy (device_bounds.h). But they measure the work. A turn is the time from the end of one such
 * call to the end of the next one. If both had to wait, the device finished the work of a turn's launches within that
 * time (it is in order, and each call waits for the same launch before the last one). If the second one did not have to
 * wait, the device had finished that work earlier, at an unknown time, while the host did something else.
 *
 * So the work of the turns between two calls that waited takes no longer than the time between these calls, and, by
 * likeness, no longer than as many of the longest measured turns; turns with no launch have no work. This is no proof: work
 * that nobody waited for may have taken longer than all other work. Therefore nothing is said unless
 *
 *   - one process launches, to one stream
 *   - the function with most calls that waited is called by one thread
 *   - TURNS_MIN turns or more were measured, and as many as were not
 *
 * and turns with more launches than any measured turn count as busy throughout, as do those whose last call waited for
 * longer than their work should take, and the time before the first and after the last call that waited.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_LAUNCH_TURNS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_LAUNCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define TURNS_MIN 16

/* The start of a call that submits, or the end of a call that waits. */
struct host_moment {
	uint64_t ts_ns;
	uint32_t call;
	bool waits; /* the call waits for work of the device */
	bool proves; /* ... and proves that all work of a stream is done */
	uint64_t waited_ns; /* ... and had to wait, for so long; 0: it had not */
};

/*
 * launch_turns_busy - returns the longest likely busy time of the device, in ns
 *
 * @moments are sorted by time and lie between @from_ns and @to_ns; the model has calls of one stream only. The length
 * of the time if nothing can be said.
 */
uint64_t launch_turns_busy(const struct model *model, const struct host_moment *moments,
			   uint32_t count, uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_LAUNCH_TURNS_H */
