/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/packet_sender.h"

#include "analyzer/analyse/host/sleep_reason.h"
#include "lib/base/bisect.h"

#define GENERATIONS_MAX 4 /* between a process and one that uses the socket it made */

/*
 * Has the process the socket of @peer open at an instant? The daemon names one process that has; a traced one that this
 * one started, in some generations, may have inherited it.
 */
static bool has_socket_of(const struct model *model, uint32_t process, uint32_t peer, uint64_t ns)
{
	const struct process *rows = model->processes.row;
	uint32_t owner;

	if (rows[process].pid == peer)
		return true;
	owner = model_process_at(model, peer, ns);
	for (int i = 0; i < GENERATIONS_MAX && process != INDEX_NONE; i++) {
		const struct process *row = &rows[process];

		if (!row->target || !row->parent_pid)
			return false;
		process = model_parent(model, process);
		/* If neither is in the recording, nobody else had the id. */
		if (row->parent_pid == peer && process == owner)
			return true;
	}
	return false;
}

uint32_t packet_sender(const struct model *model, const struct span *span, uint32_t thread)
{
	const struct sleep_object *object = sleep_object(model, span);
	const struct wake *wakes = model->wakes.row;
	uint32_t i;

	if (!object || !object->peer || !(span->flags & SPAN_WOKEN_SOFTIRQ))
		return INDEX_NONE;
	i = BISECT(k, 0, model->wakes.count, wakes[k].ts_ns < span->end_ns);
	for (; i < model->wakes.count && wakes[i].ts_ns == span->end_ns; i++) {
		uint32_t waker = wakes[i].waker_thread;
		uint32_t process = waker < model->threads.count ? model->threads.row[waker].process
								: INDEX_NONE;

		if (wakes[i].thread == thread && process < model->processes.count &&
		    has_socket_of(model, process, object->peer, span->end_ns))
			return waker;
	}
	return INDEX_NONE;
}
