/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_line.h - what a thread was in, by a device file's own timeline of the host.
 *
 * Of the scopes that a thread is in at an instant the one counts that tells most (enum host_scope). Steps that the
 * framework marks are everything and count as nothing.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H

#include <stdint.h>

#include "analyzer/model/model.h"

struct scope_line;

/* Of a model whose calls are sorted; nothing is kept of one without scopes. NULL without memory. */
struct scope_line *scope_line_new(const struct model *model);
void scope_line_free(struct scope_line *line);

/*
 * scope_line_at - the function that stands for what a thread was in at an instant, or INDEX_NONE
 *
 * *@until_ns: up to where that stays so; UINT64_MAX = for ever. O(log n).
 */
uint32_t scope_line_at(const struct scope_line *line, uint32_t thread, uint64_t ts_ns,
		       uint64_t *until_ns);

/* The thread of the process that was in scopes for the longest time; INDEX_NONE: none was. */
uint32_t scope_line_main(const struct scope_line *line, uint32_t process);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H */
