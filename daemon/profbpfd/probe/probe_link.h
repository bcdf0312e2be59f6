/* SPDX-License-Identifier: Apache-2.0 */
/* probe_link.h - the kernel's link between the functions of one file and the API programs. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/capture/capture.h"
#include "daemon/profbpfd/probe/probe_target.h"

struct probe_link;

/* The points to attach to: parallel arrays of file offsets and cookies (events.h: PLACE_*). */
struct probe_points {
	uint64_t *offsets;
	uint64_t *cookies;
	size_t count;
};

/* The points of a file that are probed, in one process or in all that map the file. */
struct link_points {
	struct probe_points exits;
	struct probe_points entries; /* entries of functions with probed exits */
	struct probe_points
		returns; /* entries of functions with return probes, on kernels with session links */
};

enum point_kind {
	POINT_EXIT,
	POINT_ENTRY,
	POINT_RETURN,
};

/* Called for a point that the kernel refuses to probe, with its index among the points of @kind. */
typedef void probe_refused(void *context, enum point_kind kind, size_t index, int err);

/*
 * probe_link_new - puts probes into a file
 *
 * @fd is any descriptor of the file. Only @target hits the probes. Exits are attached first, so that the ends of all
 * seen calls are seen.
 * Points that the kernel refuses are left out, one by one: @refused is called with
 * their index. Returns NULL with errno set if not a single one could be attached (ESRCH: the target has exited, or
 * the right to it is lost; no probe is left).
 */
struct probe_link *probe_link_new(struct capture *capture, int fd, const struct probe_target *target,
				  const struct link_points *points, probe_refused *refused,
				  void *context);

/*
 * probe_link_set_exits - replaces the probed exits
 *
 * Exits in both sets stay probed; for a moment some may be probed twice, which is harmless: the
 * second probe finds no call to end. Returns 0, or a negative errno and keeps the
 * previous exits; -ESRCH: the target has exited, or the right to it is lost, and the link is of no use any more.
 */
int probe_link_set_exits(struct probe_link *link, struct capture *capture, int fd, const struct probe_target *target,
			 const struct probe_points *exits);

/* probe_link_events - the number of its probes that are perf events, which the kernel removes one by one, 0.1 s each; @link may be NULL */
size_t probe_link_events(const struct probe_link *link);

/* probe_link_free - removes the probes; the functions' code is restored when it returns */
void probe_link_free(struct probe_link *link);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H */
