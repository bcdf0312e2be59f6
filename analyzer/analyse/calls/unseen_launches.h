/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unseen_launches.h - runtimes that processes have mapped and of which not one launch was recorded.
 *
 * Nothing is lost then, and all the same it may be that work was launched and nobody saw it: by functions
 * that the catalogs do not know, by pointers past those that are probed, by code linked into a program
 * without symbols. Or the process did not use the runtime.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* Calls are looked for in all of the recording, also where only a part of it is analysed. */
struct unseen_launch {
	uint32_t process; /* index into model->processes */
	uint32_t family; /* string: the runtime's; 0: of a program without symbols, in which none can be found */
	uint32_t file; /* string: one that has such functions, or that program */
	uint32_t functions; /* that launch, in all files that the process has mapped; 0 = not known */
	const char *pointers; /* function that gives out pointers past those; NULL = none is known */
};

struct unseen_launches {
	struct unseen_launch *row; /* programs without symbols last; by family, file and process */
	uint32_t count;
	bool any_launch; /* some launch of some process was recorded */
};

/* unseen_launches_find - 0 or -ENOMEM; in both cases unseen_launches_free() is to be called */
int unseen_launches_find(const struct model *model, struct unseen_launches *unseen);
void unseen_launches_free(struct unseen_launches *unseen);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_UNSEEN_LAUNCHES_H */
