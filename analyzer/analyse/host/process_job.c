/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/process_job.h"

#define GENERATIONS_MAX 64 /* of processes: parents in a damaged file may form a circle */

/* Returns the traced process that started a process of the same job; INDEX_NONE: none did. */
static uint32_t starter_of(const struct model *model, uint32_t process)
{
	const struct process *row = &model->processes.row[process];
	uint32_t starter = model_parent(model, process);

	if (starter == INDEX_NONE || !model->processes.row[starter].target)
		return INDEX_NONE;
	/* On the whole machine shells and init are traced, too: a job's processes run the same program. */
	if (model->info.system_wide && (!row->exe || row->exe != model->processes.row[starter].exe))
		return INDEX_NONE;
	return starter;
}

uint32_t process_job(const struct model *model, uint32_t process)
{
	for (int i = 0; process < model->processes.count && i < GENERATIONS_MAX; i++) {
		uint32_t starter = starter_of(model, process);

		if (starter == INDEX_NONE)
			break;
		process = starter;
	}
	return process;
}
