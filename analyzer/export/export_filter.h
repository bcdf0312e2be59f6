/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_filter.h - selects the part of a trace that an export contains.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_EXPORT_FILTER_H
#define PROFBPF_ANALYZER_EXPORT_EXPORT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/export/export.h"

/* Window of an export; begin <= end < 2^62, so that no clock conversion overflows. */
struct export_window {
	uint64_t start_ns;
	uint64_t end_ns;
};

void export_window_init(struct export_window *window, const struct model *model,
			const struct export_options *options);

/*
 * export_clip - cuts an interval to the window
 *
 * Returns false if it is completely outside; an empty interval inside is kept.
 * *@cut: a part was cut off.
 */
bool export_clip(const struct export_window *window, uint64_t *start_ns, uint64_t *end_ns,
		 bool *cut);

/* export_instant - lies @ns inside the window, both ends included? */
static inline bool export_instant(const struct export_window *window, uint64_t ns)
{
	return ns >= window->start_ns && ns <= window->end_ns;
}

/*
 * export_threads - marks the threads of the requested processes
 *
 * Returns an array of model->threads.count (at least one) entries that the caller
 * frees; NULL without memory.
 */
bool *export_threads(const struct model *model, const struct export_options *options);

/* export_process - is a process (INDEX_NONE = unknown) among the requested ones? */
bool export_process(const struct model *model, const struct export_options *options,
		    uint32_t process);

#endif /* PROFBPF_ANALYZER_EXPORT_EXPORT_FILTER_H */
