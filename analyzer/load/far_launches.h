/* SPDX-License-Identifier: Apache-2.0 */
/*
 * far_launches.h - which device tasks the calls outside of a kept part launched: their numbers, without their rows.
 *
 * The join of calls and tasks (join/launch/launches.h) counts the whole recording. Of a part (window.h) only the calls
 * in it and the tasks near it are in the model. Of all other calls that submit work the times are kept here, and the
 * instants at which tasks were enqueued outside of the part: some 6 and 3 bytes (number_list.h). At the end each
 * instant is looked up in the calls of its thread, by the rule of launches.h.
 *
 * Only what is certain counts: if a task's instant is unknown, in no call, or at a call's end, if a task began before
 * its instant, or if a call took longer than 18 minutes or only its entry was seen, far_launches_doubtful() is true,
 * and the recording has to be loaded with all calls. So it is if steps are to be found and the tasks near the part are
 * not all that a step has: if a name that many tasks have is rare among them, a step is longer than the loaded time, and
 * its parts would be taken for steps.
 */
#ifndef PROFBPF_ANALYZER_LOAD_FAR_LAUNCHES_H
#define PROFBPF_ANALYZER_LOAD_FAR_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/far_counts.h"
#include "analyzer/load/near_tasks.h"
#include "analyzer/load/number_list.h"
#include "analyzer/load/window.h"
#include "analyzer/model/model.h"
#include "lib/base/map.h"

struct launching_thread {
	uint32_t tid;
	size_t call_count, enqueued_count;
	struct number_list calls; /* of each: its start as a difference, its duration, its function and flags */
	struct number_list enqueued; /* instants of tasks as differences */
	uint64_t start_ns, enqueued_ns; /* of the latest call and task */
};

/* How many tasks have a name. */
struct far_name {
	uint32_t far; /* tasks that are not in the model */
	uint32_t near;
};

#define FAR_SEEN 256 /* a power of 2 */

struct far_launches {
	struct model *model;
	bool loops; /* steps are to be found in the part */
	bool doubtful;
	struct map thread_map; /* tid -> threads */
	MODEL_ARRAY(struct launching_thread) threads;
	uint32_t seen[FAR_SEEN]; /* indices into threads of recent thread ids, by the last bits of the id */
	MODEL_ARRAY(struct far_name) names; /* by string */
	struct far_counts counts;
};

/* far_launches_call - a call, in the order of the file; @kept: it is in the model. Returns false without memory. */
bool far_launches_call(struct far_launches *far, struct load_window *window, const struct call *call,
		       bool kept);

/*
 * far_launches_task - a task, in the order of the file, its times in the device's clock
 *
 * @near: it is in the model. @edges: of its batch. Returns false without memory.
 */
bool far_launches_task(struct far_launches *far, struct load_window *window,
		       const struct task_edges *edges, const struct device_task *task, bool near);

/* far_launches_keep - after near_tasks_finish(): the tasks beside the part are in the model after all */
void far_launches_keep(struct far_launches *far, const struct near_tasks *near);

/* far_launches_join - after the threads and the session's end are known: fill the counts */
void far_launches_join(struct far_launches *far, const struct load_window *window);

/* Can the counts not be known without all calls? */
static inline bool far_launches_doubtful(const struct far_launches *far)
{
	return far->doubtful;
}

void far_launches_free(struct far_launches *far);

#endif /* PROFBPF_ANALYZER_LOAD_FAR_LAUNCHES_H */
