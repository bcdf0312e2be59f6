/* SPDX-License-Identifier: Apache-2.0 */
/* launches_far.h - makes the join's counts those of the whole recording, if only a part of it is in the model. */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_FAR_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_FAR_H

#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launch_join.h"
#include "analyzer/model/far_counts.h"
#include "analyzer/model/model.h"

/*
 * launches_add_far - add the counts of tasks that are not in the model, and describe the clocks by all tasks
 *
 * @clocks has an entry for each device. To be called once, after launches_join().
 */
void launches_add_far(const struct model *model, const struct far_counts *far,
		      struct launch_join *join, struct device_clock *clocks);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCHES_FAR_H */
