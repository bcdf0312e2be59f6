/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_ids.h - joins tasks to launching calls by the stream number and task number that both contain.
 *
 * The runtime gives each task a number that counts up within its stream, modulo 2^16; the device's profile has both
 * numbers. A call whose catalog line reads them (role TASK) is joined to the tasks with these numbers, whatever other
 * records were lost. A number occurs again every 2^16 tasks of a stream; the tasks joined to the neighbouring calls
 * tell which occurrence it is.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H

#include "analyzer/model/model.h"

struct launch_ids {
	uint64_t joined; /* number of joined tasks */
	uint64_t ambiguous; /* tasks whose numbers several calls have, or whose instant is unknown */
};

/*
 * launch_ids_join - joins tasks of imported device files to calls of the trace
 *
 * Task times may still be in the device's clock: only their order matters and, if the clock is declared, the
 * approximate instant. Sets MODEL_TASK_BY_ID, call, thread, enqueue_ns and enqueue_dur_ns of each task it joins (call:
 * the outermost launching call around the call with the numbers), and MODEL_TASK_EDGE of tasks that a stream received
 * before its first or after its last recorded call; MODEL_TASK_NUMBERED means that other methods cannot find a call. A
 * task without numbers is joined to the call of the tasks of the same connection. Runs before the clock join, which
 * needs launch times. Returns 0 or -ENOMEM.
 */
int launch_ids_join(struct model *model, struct launch_ids *ids);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_IDS_H */
