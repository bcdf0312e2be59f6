/* SPDX-License-Identifier: Apache-2.0 */
/* unnamed_code.h - which runtime made the code without names at a root, and could name it. */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_UNNAMED_CODE_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_UNNAMED_CODE_H

#include <stdint.h>

#include "analyzer/analyse/idle/root_walk.h"
#include "analyzer/model/model.h"

enum code_maker {
	CODE_MAKER_NONE = 0, /* the root's functions have names, or nobody known made them */
	CODE_MAKER_JAVA,
	CODE_MAKER_NODE,
};

/* code_maker_of - the runtime of a process, by its program or its threads; CODE_MAKER_NONE: none of these, or not known */
enum code_maker code_maker_of(const struct model *model, uint32_t process);

/* unnamed_code_maker - tells by the program, or the threads, of the root's process; @process: its row */
enum code_maker unnamed_code_maker(const struct model *model, const struct root *root, uint32_t *process);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_UNNAMED_CODE_H */
