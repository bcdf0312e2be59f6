/* SPDX-License-Identifier: Apache-2.0 */
/* probe_link.h - the kernel's link between the functions of one file and the API programs. */
#ifndef PROFBPF_DAEMON_PROBE_LINK_H
#define PROFBPF_DAEMON_PROBE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/capture.h"

struct probe_link;

/* What to attach to: parallel arrays of file offsets and cookies (events.h: PLACE_*). */
struct probe_points {
	uint64_t *offsets;
	uint64_t *cookies;
	size_t count;
};

/* A point that the kernel refuses to probe; @returns: of those with return probes. */
typedef void probe_refused(void *context, bool returns, size_t index, int err);

/*
 * probe_link_new - put probes into a file
 *
 * @fd is any descriptor of the file. With @pid 0 every process that maps it runs
 * into the probes, now and later; else only that one. @returns are entries of functions
 * with return probes, for captures that have programs for them, @others entries and exits of the
 * other functions. Points that the kernel refuses are left out, one by one: @refused is called with
 * their index. Returns NULL with errno set if not a single one could be attached (ESRCH: no such
 * process).
 */
struct probe_link *probe_link_new(struct capture *capture, int fd, pid_t pid,
				  const struct probe_points *returns,
				  const struct probe_points *others, probe_refused *refused,
				  void *context);

/* probe_link_free - remove the probes; the functions' code is as it was when this returns */
void probe_link_free(struct probe_link *link);

#endif /* PROFBPF_DAEMON_PROBE_LINK_H */
