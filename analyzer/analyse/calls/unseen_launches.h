/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unseen_launches.h - runtimes that a process has mapped, but no launch of which was recorded.
 *
 * No record is lost then, but work may have been launched unseen: by functions that the catalogs do not contain,
 * through function pointers that bypass the probed functions, by code linked into a program without symbols. Or the
 * process did not use the runtime.
 *
 * CUDA's libraries that a process maps without the driver (libcuda.so, which they load when they are first used) are
 * left out: they can launch nothing. A PyTorch that was built for GPUs maps them on every machine.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* Calls are searched in the whole recording, even if only a part of it is analysed. */
struct unseen_launch {
	uint32_t process; /* index into model->processes */
	uint32_t family; /* string: the runtime's; 0: a program without symbols, in which no function can be found */
	uint32_t file; /* string: a file that contains such functions, or the program */
	uint32_t functions; /* number of launching functions in all files that the process has mapped; 0 = unknown */
	const char *pointers; /* function that returns pointers that bypass these; NULL = none is known */
};

struct unseen_launches {
	struct unseen_launch *row; /* programs without symbols last; by family, file and process */
	uint32_t count;
	bool any_launch; /* a launch of any process was recorded */
};

/* unseen_launches_find - fill @unseen. Returns 0 or -ENOMEM; in both cases unseen_launches_free() is to be called */
int unseen_launches_find(const struct model *model, struct unseen_launches *unseen);
void unseen_launches_free(struct unseen_launches *unseen);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H */
