/* SPDX-License-Identifier: Apache-2.0 */
/* probe_link.h - the kernel's link between the functions of one file and the API programs. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/capture/capture.h"

struct probe_link;

/* What to attach to: parallel arrays of file offsets and cookies (events.h: PLACE_*). */
struct probe_points {
	uint64_t *offsets;
	uint64_t *cookies;
	size_t count;
};

/* What a process, or all that map a file, are probed at. */
struct link_points {
	struct probe_points exits; /* where calls end */
	struct probe_points entries; /* of the functions with exits */
	struct probe_points
		returns; /* entries of functions with return probes, where a program does them */
};

enum point_kind {
	POINT_EXIT,
	POINT_ENTRY,
	POINT_RETURN,
};

/* A point that the kernel refuses to probe: the one with this index among those of @kind. */
typedef void probe_refused(void *context, enum point_kind kind, size_t index, int err);

/*
 * probe_link_new - put probes into a file
 *
 * @fd is any descriptor of the file. With @pid 0 every process that maps it runs
 * into the probes, now and later; else only that one. Exits come first: what enters is seen to leave.
 * Points that the kernel refuses are left out, one by one: @refused is called with
 * their index. Returns NULL with errno set if not a single one could be attached (ESRCH: no such
 * process).
 */
struct probe_link *probe_link_new(struct capture *capture, int fd, pid_t pid,
				  const struct link_points *points, probe_refused *refused,
				  void *context);

/*
 * probe_link_set_exits - probe these exits instead of those before
 *
 * Those that are in both are probed all the time; for a moment some may be twice, which does no
 * harm: the second time no call is found that could end. Returns 0, or a negative errno and leaves
 * those before in place.
 */
int probe_link_set_exits(struct probe_link *link, struct capture *capture, int fd, pid_t pid,
			 const struct probe_points *exits);

/* probe_link_events - how many of its probes are perf events, which the kernel removes one by one, 0.1 s each; NULL is fine */
size_t probe_link_events(const struct probe_link *link);

/* probe_link_free - remove the probes; the functions' code is as it was when this returns */
void probe_link_free(struct probe_link *link);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_LINK_H */
