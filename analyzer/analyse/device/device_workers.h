/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_workers.h - which threads of the host run the tasks of a device of kind "cpu".
 *
 * A runtime whose device is the host's own CPUs runs tasks on threads of the process. No record
 * names these threads; but a thread that is not in a runtime call itself and wakes threads that
 * wait for the device in such a call has just finished a task of theirs.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_WORKERS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/model/model.h"

struct device_workers;

/* Finds the workers of all processes. Returns NULL without memory. Both arguments must outlive the result. */
struct device_workers *device_workers_new(const struct model *model, const struct walker *walker);
void device_workers_free(struct device_workers *workers);

/*
 * device_worker_at - the worker that started a task at an instant
 *
 * The worker of the process that is on a CPU at this instant; of several the worker that got the
 * CPU last. Returns INDEX_NONE if there is none.
 */
uint32_t device_worker_at(const struct device_workers *workers, uint32_t process, uint64_t ts_ns);

/*
 * span_ends_device_wait - is a sleep in a waiting runtime call the wait for the device?
 *
 * @call: the outermost runtime call, or INDEX_NONE. Returns false if the thread was woken by a
 * thread of the same process that was in a runtime call as well: then the sleep was a wait for a
 * lock of the runtime.
 */
bool span_ends_device_wait(const struct model *model, const struct walker *walker,
			   const struct span *span, uint32_t thread, uint32_t call);

/* Was the sleep ended by a thread, not by an interrupt? */
bool span_woken_by_thread(const struct span *span);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_WORKERS_H */
