/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frameworks/python_loader.h"

#include <sys/syscall.h>

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

/* Processes are in the order in which they were first seen. */
uint32_t loader_process(const struct model *model, uint32_t pid)
{
	for (uint32_t i = model->processes.count; i-- > 0;)
		if (model->processes.row[i].pid == pid)
			return i;
	return INDEX_NONE;
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
