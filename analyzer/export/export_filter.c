/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/export_filter.h"

#include <stdlib.h>

#include "analyzer/analyse/selection.h"

#define INSTANT_MAX (((uint64_t)1 << 62) - 1)

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void export_window_init(struct export_window *window, const struct model *model,
			const struct export_options *options)
{
	window->start_ns = smaller(options->start_ns, INSTANT_MAX);
	window->end_ns = smaller(options->end_ns, INSTANT_MAX);
	if (window->end_ns < window->start_ns)
		window->end_ns = window->start_ns;
}

bool export_clip(const struct export_window *window, uint64_t *start_ns, uint64_t *end_ns,
		 bool *cut)
{
	*cut = false;
	if (*end_ns < *start_ns || *start_ns > window->end_ns || *end_ns < window->start_ns)
		return false;
	/* An interval that merely touches the window is outside. */
	if (*start_ns < *end_ns && (*start_ns == window->end_ns || *end_ns == window->start_ns))
		return false;
	if (*start_ns < window->start_ns) {
		*start_ns = window->start_ns;
		*cut = true;
	}
	if (*end_ns > window->end_ns) {
		*end_ns = window->end_ns;
		*cut = true;
	}
	return true;
}

bool export_process(const struct model *model, const struct export_options *options,
		    uint32_t process)
{
	return analysis_chosen_process(model, options->pids, options->pid_count, process);
}

bool *export_threads(const struct model *model, const struct export_options *options)
{
	bool *chosen = calloc((size_t)model->threads.count + 1, sizeof(*chosen));

	for (uint32_t i = 0; chosen && i < model->threads.count; i++)
		chosen[i] = export_process(model, options, model->threads.row[i].process);
	return chosen;
}
