/* SPDX-License-Identifier: Apache-2.0 */
/* launch_join.h - counts of launches and of tasks joined to them (launches.h). */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_JOIN_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct launch_join {
	uint64_t launches; /* outermost launch, copy and collective calls that returned no error */
	uint64_t failed_launches; /* those that returned an error: no task is expected */
	uint64_t unprofiled_launches; /* launches of processes without any device task stream */
	uint64_t
		tasks; /* device tasks, all kinds, enqueued during the session (or at an unknown time) */
	uint64_t
		tasks_outside; /* tasks enqueued before or after the session: calls were not traced */
	uint64_t matched; /* tasks with a launching call */
	uint64_t unmatched_tasks; /* tasks - matched */
	uint64_t unmatched_launches; /* launches, unprofiled ones left out, without a task */
	uint64_t ambiguous; /* tasks for which several calls qualified equally */
	uint64_t by_id; /* of matched: by the numbers of stream and task (launch_ids.h) */
	uint64_t by_correlation; /* of matched: by the number that call and task carry */
	uint64_t by_enqueue; /* of matched: by thread and enqueue instant */
	uint64_t by_order; /* of matched: by order within a stream */
};

/* Returns true if every call of a cataloged function during the session was recorded. */
bool launches_complete(const struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_JOIN_H */
