/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_python.h - the Python functions from which work was launched, by samples of the launching thread.
 *
 * A sample within the launching call tells them, and the line. Else what the last sample before the call and the first one after it
 * have in common, outermost function first, up to one that is on another line: both saw the thread in these. The line counts if it
 * is the same.
 * Samples further away than LAUNCH_PYTHON_NS tell nothing: then the function is unknown.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define LAUNCH_PYTHON_NS 200000000 /* as far as timelines go from one look to the next (job_tracks.h) */
#define LAUNCH_PYTHON_DEPTH_MAX 128

struct launch_python {
	const struct model *model;
	uint32_t *first; /* by thread: where its samples begin in "sample"; one more at the end */
	uint32_t *sample; /* those with Python functions: indices into model->stack_samples, in order of time */
};

struct launch_frame {
	uint32_t name, source; /* strings of the model's; both 0: unknown */
	uint32_t line; /* 0 = unknown */
};

/* launch_python_init - 0 or -ENOMEM; in either case launch_python_free() it */
int launch_python_init(struct launch_python *python, const struct model *model);
void launch_python_free(struct launch_python *python);

/*
 * launch_python_frames - of @call, a row of the model's, outermost first
 *
 * @frames has room for LAUNCH_PYTHON_DEPTH_MAX. Returns how many: one that is unknown if nothing near tells of a thread that runs
 * Python, none of one that was never seen to.
 */
size_t launch_python_frames(const struct launch_python *python, const struct call *call, struct launch_frame *frames);

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H */
