/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - the processes of a control group, by the group's path, a unit's name or a container's id.
 *
 * Child groups belong to it. Hierarchies are searched in the order of /proc/self/mounts, that of version 2 first;
 * the first one in which such a group has processes is used: on mixed systems a group may be empty in the others.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_GROUPS_H
#define PROFBPF_DAEMON_PROFCTL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/profctl/pids.h"

enum group_by {
	GROUP_BY_PATH, /* from a hierarchy's root, or with where it is mounted before it */
	GROUP_BY_UNIT, /* systemd's; without a suffix a service */
	GROUP_BY_CONTAINER, /* the first digits of its id, four at least */
};

/*
 * groups_add - appends the processes that are in that group now, except the calling one, each once
 *
 * @root: the only hierarchy to search, NULL = all mounted ones.
 * Returns 0, or a negative errno with a message in @error: -ENOENT no such group, -ESRCH no process is in it,
 * -ENOTUNIQ several groups have that name.
 */
int groups_add(struct pids *pids, enum group_by by, const char *name, const char *root, char *error,
	       size_t error_size);

/*
 * groups_settle - appends to @to the processes of @from that must be requested individually
 *
 * @follow: descendants are traced, too. A group changes all the time: processes that have ended are left out, and with
 * @follow also processes that others of @from started, whether these still run or not. Returns 0 or -ENOMEM.
 */
int groups_settle(const struct pids *from, bool follow, struct pids *to);

#endif /* PROFBPF_DAEMON_PROFCTL_GROUPS_H */
