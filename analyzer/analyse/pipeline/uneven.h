/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven.h - worker processes that take turns, but do not have equally much to do.
 *
 * A loader takes batches from its workers in turn, so that the slowest one sets the pace of all. More workers do not
 * help then, but equal parts do. Examples: an IterableDataset in which one worker has the largest files, or the only
 * ones that are left.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_UNEVEN_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_UNEVEN_H

#include "analyzer/frameworks/pipeline_model.h"

#define UNEVEN_BUSY_PERCENT 70 /* of the time, at least: the busiest worker holds up the others */
#define UNEVEN_LESS 2 /* others are at work for at most one in so many parts of that time */

struct uneven {
	uint32_t workers; /* 0: they share their work evenly, or this is not known */
	uint32_t busy; /* the number of them that are at work most of the time: at most half */
	uint32_t thread; /* main thread of the busiest: index into model->threads */
	double percent; /* of the time that is at work */
	double others_percent; /* mean of the workers that are not busy */
};

/*
 * uneven_find - compares the worker processes of an operator by their works
 *
 * Only workers whose turns are known, pipeline_thread.set, are compared. Without memory nothing is known.
 */
struct uneven uneven_find(const struct model *model, const struct pipeline *pipeline, uint32_t op);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_UNEVEN_H */
