/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/selection.h"

struct analysis_window analysis_window(const struct model *model,
				       const struct analysis_options *options)
{
	struct analysis_window window = { .from_ns = model->info.start_ns,
					  .to_ns = model->info.end_ns };

	if (options->from_ns > window.from_ns)
		window.from_ns = options->from_ns;
	if (window.to_ns == 0 || (options->to_ns && options->to_ns < window.to_ns))
		window.to_ns = options->to_ns;
	if (window.to_ns == 0)
		window.to_ns = UINT64_MAX;
	return window;
}

bool analysis_chosen_process(const struct model *model, const uint32_t *pids, uint32_t count,
			     uint32_t process)
{
	if (count == 0)
		return true;
	if (process >= model->processes.count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (pids[i] == model->processes.row[process].pid)
			return true;
	}
	return false;
}

bool analysis_wants_process(const struct model *model, const struct analysis_options *options,
			    uint32_t process)
{
	return analysis_chosen_process(model, options->pids, options->pid_count, process);
}
