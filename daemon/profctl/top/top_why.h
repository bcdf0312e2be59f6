/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_why.h - the current verdict on the traced jobs: runs profctl why repeatedly beside profctl top.
 *
 * Each run is a session of TOP_WHY_SECONDS with the default topics, by a child process. Its verdict is shown until
 * the next one is complete.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H

#include <stdbool.h>

#include "daemon/profctl/command_options.h"
#include "daemon/profctl/pids.h"

#define TOP_WHY_SECONDS 3

struct top_why;

/*
 * top_why_new - no run is started yet; top_why_free() accepts NULL, and ends a run
 *
 * @pids and @options (socket, catalogs, standalone) must outlive it. NULL without memory.
 */
struct top_why *top_why_new(const struct pids *pids, const struct trace_options *options);
void top_why_free(struct top_why *why);

/* top_why_set - look from now on, or no more */
void top_why_set(struct top_why *why, bool on);

/* top_why_fd - readable when there is output for top_why_take(); -1 = there will be none */
int top_why_fd(const struct top_why *why);

/* top_why_take - takes the available output; returns true if top_why_text() has changed */
bool top_why_take(struct top_why *why);

/*
 * top_why_text - lines of a label and a text, as in analyzer's verdict, or the current activity, or an error
 *
 * NULL while it is off. Valid until the next call of another function.
 */
const char *top_why_text(const struct top_why *why);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_WHY_H */
