/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - the processes of a control group, by the group's path, a unit's name or a container's id.
 *
 * Groups in it belong to it. Hierarchies are searched in the order of /proc/self/mounts, that of version 2 first;
 * the first in which such a group has processes is taken, as on mixed systems a group may be empty in the others.
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
 * groups_add - append the processes that are in that group now, but for the calling one, each once
 *
 * @root: the one hierarchy to search, NULL = all that are mounted.
 * Returns 0, or a negative errno with a message in @error: -ENOENT no such group, -ESRCH no process is in it,
 * -ENOTUNIQ several are called that.
 */
int groups_add(struct pids *pids, enum group_by by, const char *name, const char *root, char *error,
	       size_t error_size);

/*
 * groups_settle - append to @to those of @from that are to be asked for, if their descendants are traced too (@follow)
 * or not
 *
 * A group changes all the time: what has ended meanwhile is left out, and so is, where they are followed, what others of
 * @from started, for which it does not matter whether they still run. Returns 0 or -ENOMEM.
 */
int groups_settle(const struct pids *from, bool follow, struct pids *to);

#endif /* PROFBPF_DAEMON_PROFCTL_GROUPS_H */
