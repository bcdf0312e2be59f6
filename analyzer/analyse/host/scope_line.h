/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_line.h - a thread's scope at an instant, from a device file's timeline of the host.
 *
 * Of the scopes that a thread is in at an instant, the most informative one counts (enum host_scope); a scope that
 * waits counts before all others. Steps marked by the framework contain everything and are ignored.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

struct scope_line;

/* Needs sorted calls. A model without scopes needs no storage. Returns NULL without memory. */
struct scope_line *scope_line_new(const struct model *model);
void scope_line_free(struct scope_line *line);

/*
 * scope_line_at - the function of the scope that a thread was in at an instant, or INDEX_NONE
 *
 * *@until_ns: the end of this state; UINT64_MAX = unlimited. O(log n).
 */
uint32_t scope_line_at(const struct scope_line *line, uint32_t thread, uint64_t ts_ns,
		       uint64_t *until_ns);

/*
 * scope_line_waits - does a thread in the function's scope do nothing but wait, for what other threads or a device do?
 *
 * By its name: JAX's block_until_ready() and the waits that XLA marks.
 */
bool scope_line_waits(const struct scope_line *line, uint32_t function);

/* The thread of the process that was in scopes for the longest time; INDEX_NONE if no thread was. */
uint32_t scope_line_main(const struct scope_line *line, uint32_t process);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SCOPE_LINE_H */
