/* SPDX-License-Identifier: Apache-2.0 */
/* metric_watch.h - finds metrics beyond the limits of triggers, in the text that is served at /metrics. */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_METRIC_WATCH_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_METRIC_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/session/triggers.h"

#define METRIC_WATCH_SERIES_MAX 4096 /* series of all triggers; further ones are ignored */

struct metric_watch;

struct metric_hit {
	const struct trigger *trigger;
	uint32_t session; /* label; 0 = the metric has none */
	pid_t pid; /* label; 0 = the metric has none */
	char text[240];
};

struct metric_watch *metric_watch_new(void);
void metric_watch_free(struct metric_watch *watch);

/*
 * metric_watch_look - calls @hit for each series that has exceeded the limit of one of @rows since the last call
 *
 * @text comes from exposition_write(). A counter (_total) is compared by its growth per second since the last call, and so not
 * when it is seen first. Rows of other kinds are skipped.
 */
void metric_watch_look(struct metric_watch *watch, const struct trigger *rows, size_t count, const char *text,
		       uint64_t now_ns, void (*hit)(void *context, const struct metric_hit *hit), void *context);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_METRIC_WATCH_H */
