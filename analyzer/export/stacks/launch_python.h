/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_python.h - the Python functions from which work was launched, by samples of the launching thread.
 *
 * A sample within the launching call gives the functions and the line. Otherwise the common outer frames of the last
 * sample before the call and the first one after it are taken, up to a function that is on different lines: the thread
 * was in these functions during the call. The line counts if it is the same in both samples. Samples further away than
 * LAUNCH_PYTHON_NS are ignored: then the function is unknown.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H
#define PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define LAUNCH_PYTHON_NS 200000000 /* the longest distance of samples that timelines connect, too (job_tracks.h) */
#define LAUNCH_PYTHON_DEPTH_MAX 384

struct launch_python {
	const struct model *model;
	uint32_t *first; /* by thread: index of its first sample in "sample"; one more element at the end */
	uint32_t *sample; /* samples with Python functions: indices into model->stack_samples, in order of time */
};

struct launch_frame {
	uint32_t name, source; /* strings of the model's; both 0: unknown */
	uint32_t line; /* 0 = unknown */
};

/* launch_python_init - 0 or -ENOMEM; in either case launch_python_free() it */
int launch_python_init(struct launch_python *python, const struct model *model);
void launch_python_free(struct launch_python *python);

/*
 * launch_python_frames - the Python functions of @call, a row of the model, outermost first
 *
 * @frames has room for LAUNCH_PYTHON_DEPTH_MAX. Returns their number: 1, an unknown function, if no sample of a thread that runs
 * Python is near; 0 for a thread that was never seen to run Python.
 */
size_t launch_python_frames(const struct launch_python *python, const struct call *call, struct launch_frame *frames);

#endif /* PROFBPF_ANALYZER_EXPORT_STACKS_LAUNCH_PYTHON_H */
