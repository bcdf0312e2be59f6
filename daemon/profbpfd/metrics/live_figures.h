/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_figures.h - cumulative figures of devices and data pipelines of a session's processes, for metrics.
 *
 * The session's writing thread feeds it, the control loop reads it. These are the figures that profctl top shows each second
 * (daemon/live/), summed up since they were first seen. At most LIVE_DEVICES_MAX devices, LIVE_OPERATORS_MAX operators and
 * LIVE_WAITS_MAX trainers at a time; further ones are only counted as left out. The figures of a reused process id start at 0.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_LIVE_FIGURES_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_LIVE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/texts.h"

#define LIVE_DEVICES_MAX 64
#define LIVE_OPERATORS_MAX 256
#define LIVE_WAITS_MAX 128

/* A trainer with a known time of waiting. */
struct wait_figures {
	uint32_t pid;
	uint64_t wait_ns;
};

struct device_figures {
	uint32_t pid;
	uint32_t id; /* number among the session's devices */
	char name[128];
	uint64_t tasks, busy_ns;
};

struct operator_figures {
	uint32_t pid;
	uint32_t pipeline; /* number among the process' pipelines, from 1; 0 = unknown */
	uint32_t nth; /* number among the pipeline's operators with this name, from 1 */
	char name[64];
	uint64_t run_ns, rows;
	bool has_put_wait, has_get_wait; /* the value was ever known */
	uint64_t put_wait_ns, get_wait_ns;
	bool has_filled; /* @filled was known in the last second */
	double filled; /* the used part of its output queue */
};

/* A consistent copy. */
struct live_copy {
	struct wait_figures waits[LIVE_WAITS_MAX];
	struct device_figures devices[LIVE_DEVICES_MAX];
	struct operator_figures operators[LIVE_OPERATORS_MAX];
	size_t wait_count, device_count, operator_count;
	uint64_t left_out; /* events so far that found no room in the tables: of calls, threads, devices, ... */
};

struct live_figures;

/* live_figures_new - empty; NULL without memory. live_figures_free() accepts NULL. */
struct live_figures *live_figures_new(void);
void live_figures_free(struct live_figures *live);

/* live_figures_item - the writer's thread: takes an item; @texts has the strings of calls */
void live_figures_item(struct live_figures *live, const struct item *item, struct texts *texts);

/* live_figures_waits - the writer's thread: copies up to @room trainers' waits; returns their number */
size_t live_figures_waits(const struct live_figures *live, struct wait_figures *rows, size_t room);

/* live_figures_copy - may be called by any thread */
void live_figures_copy(struct live_figures *live, struct live_copy *copy);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_LIVE_FIGURES_H */
