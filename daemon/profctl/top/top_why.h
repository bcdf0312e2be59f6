/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_why.h - what holds the traced jobs up now: profctl why, run over and over beside profctl top.
 *
 * Each look is a session of its own, of TOP_WHY_SECONDS with the default topics, by a child process. What it says is
 * kept until the next one has said something.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H

#include <stdbool.h>

#include "daemon/profctl/command_options.h"
#include "daemon/profctl/pids.h"

#define TOP_WHY_SECONDS 3

struct top_why;

/*
 * top_why_new - nothing is looked at yet; top_why_free() accepts NULL, and ends a look
 *
 * @pids and @options (socket, catalogs, standalone) must outlive it. NULL without memory.
 */
struct top_why *top_why_new(const struct pids *pids, const struct trace_options *options);
void top_why_free(struct top_why *why);

/* top_why_set - look from now on, or no more */
void top_why_set(struct top_why *why, bool on);

/* top_why_fd - readable when there is something for top_why_take(); -1 = nothing is to come */
int top_why_fd(const struct top_why *why);

/* top_why_take - take what there is; true if top_why_text() has changed */
bool top_why_take(struct top_why *why);

/*
 * top_why_text - lines of a label and a text, as analyzer's verdict has them, or what is being done, or went wrong
 *
 * NULL while it is off. Valid until the next call of another function.
 */
const char *top_why_text(const struct top_why *why);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H */
