/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frameworks/python_loader.h"

#include <errno.h>
#include <sys/syscall.h>

#define ORDER_TIMEOUT_NS 1000000000 /* reads of queues have timeouts of seconds: such a sleep ended without an order */

bool loader_waits(const struct span *span)
{
	if (span->state != STATE_SLEEP)
		return false;
	switch (span->syscall) {
#ifdef SYS_poll
	case SYS_poll:
#endif
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_ppoll:
	case SYS_read: return true;
	default: return false;
	}
}

/* Processes are sorted by their first appearance. */
uint32_t loader_parent(const struct model *model, uint32_t process)
{
	const struct process *rows = model->processes.row, *child = &rows[process];
	uint32_t parent = INDEX_NONE;

	if (!child->parent_pid)
		return INDEX_NONE;
	for (uint32_t i = 0; i < model->processes.count; i++)
		if (i != process && rows[i].pid == child->parent_pid &&
		    (parent == INDEX_NONE || !child->start_ns || rows[i].start_ns <= child->start_ns))
			parent = i;
	return parent;
}

uint32_t loader_concurrent(const struct model *model, const struct pipeline *pipeline, uint32_t op)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct thread *thread = &model->threads.row[pipeline->threads.row[i].thread];
		uint32_t together = 0;

		if (pipeline->threads.row[i].descendant || pipeline->threads.row[i].op != op)
			continue;
		for (uint32_t j = 0; j < pipeline->threads.count; j++) {
			const struct pipeline_thread *row = &pipeline->threads.row[j];
			const struct thread *other = &model->threads.row[row->thread];

			together += !row->descendant && row->op == op &&
				    other->first_ns <= thread->first_ns &&
				    (!other->exit_ns || other->exit_ns > thread->first_ns);
		}
		most = together > most ? together : most;
	}
	return most;
}

/* Is it a worker's sleep until the trainer gives it an order? If another thread ends it, it is a sleep during work. */
static bool waits_for_order(const struct model *model, const struct pipeline *pipeline,
			    const struct span *span)
{
	if (!loader_waits(span))
		return false;
	if (span->flags & SPAN_WOKEN_TIMER)
		return span->end_ns - span->start_ns >= ORDER_TIMEOUT_NS;
	return !(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_NO_WAKE)) &&
	       span->other < model->threads.count &&
	       model->threads.row[span->other].process == pipeline->process;
}

/* Adds the piece of work from @*from_ns, 0 = none was seen, to @to_ns; the next begins at @next_ns. */
static bool end_work(struct pipeline *pipeline, const struct pipeline_thread *worker,
		     uint64_t *from_ns, uint64_t to_ns, uint64_t next_ns)
{
	struct pipeline_work work = {
		.start_ns = *from_ns, .end_ns = to_ns, .op = worker->op, .thread = worker->thread
	};
	bool any = work.start_ns && work.start_ns < work.end_ns;

	*from_ns = next_ns;
	return !any || MODEL_PUSH(&pipeline->works, work);
}

int loader_works(const struct model *model, struct pipeline *pipeline,
		 const struct pipeline_thread *worker, uint64_t first_made_ns, uint64_t last_made_ns)
{
	const struct thread *thread = &model->threads.row[worker->thread];
	const struct timeline *line = worker->thread < model->timelines.count
					      ? &model->timelines.row[worker->thread]
					      : NULL;
	uint64_t from_ns = thread->named_ns;
	uint64_t end_ns = 0;
	bool memory = true;

	if (!from_ns && thread->first_ns > model->info.session_start_ns)
		from_ns = UINT64_MAX;
	for (uint32_t i = 0; line && i < line->count && memory; i++) {
		const struct span *span = &model->spans.row[line->first + i];

		end_ns = span->end_ns;
		if (end_ns <= thread->named_ns)
			continue;
		if (span->state == STATE_UNKNOWN || waits_for_order(model, pipeline, span)) {
			memory = end_work(pipeline, worker, &from_ns, span->start_ns, span->end_ns);
		} else if (from_ns == UINT64_MAX && span->end_ns > first_made_ns) {
			from_ns = first_made_ns;
		} else if (from_ns == 0) {
			from_ns = span->start_ns;
		}
	}
	/* After the last batch the process ends. */
	if (thread->exit_ns && last_made_ns < end_ns)
		end_ns = last_made_ns;
	return memory && end_work(pipeline, worker, &from_ns, end_ns, 0) ? 0 : -ENOMEM;
}
