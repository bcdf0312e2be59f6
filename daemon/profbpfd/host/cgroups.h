/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroups.h - the cgroups of the machine's processes, and the CPU quotas and
 * throttling of cgroups with targets.
 *
 * The inode of its directory identifies a cgroup; it equals the kernel's own id. The
 * relevant hierarchy is the CPU controller's: the common one of version 2, or on
 * older and mixed systems a separate one (version 1).
 *
 * Files (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cpuacct.rst,
 * scheduler/sched-bwc.rst): cpu.max, cpu.stat; version 1 cpu.cfs_quota_us,
 * cpu.cfs_period_us, cpu.stat, and where cpuacct is mounted with it
 * cpuacct.usage, cpuacct.usage_user, cpuacct.usage_sys.
 *
 * Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_CGROUPS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/session/item.h"

#define CGROUPS_MAX 8192 /* groups known at a time; further ones stay unknown */
#define CGROUPS_WATCHED_MAX 512 /* groups whose figures are read */

struct cgroups;

/* cgroups_new - NULL only without memory; has no groups if no hierarchy is mounted */
struct cgroups *cgroups_new(void);

/* cgroups_new_at - the same for a hierarchy at @root; also NULL if the path is too long */
struct cgroups *cgroups_new_at(const char *root, bool version1);
void cgroups_free(struct cgroups *cgroups);

/*
 * cgroups_name_containers - groups that are noted from now on are told with the names of their containers, from the
 * runtimes' state below @root_fd (container_names.h)
 *
 * Once, before the first group. Takes ownership of @root_fd; -1: they are not named. Not for sessions of ordinary users:
 * who may make groups may give one the id of any container.
 */
void cgroups_name_containers(struct cgroups *cgroups, int root_fd);

/* cgroups_version1 - does the CPU controller have a separate hierarchy? */
bool cgroups_version1(const struct cgroups *cgroups);

/*
 * cgroups_note - process @pid is in group @id
 *
 * A new group is looked up: in the process' own file, or among all groups if the
 * process is gone already. With @target the group and the groups around it are
 * watched from now on; *@more: the number of watched groups has grown. Returns an
 * item with the new groups, NULL if there are none.
 */
struct item *cgroups_note(struct cgroups *cgroups, uint64_t id, pid_t pid, bool target, bool *more);

/* cgroups_watch - the same for the group in the cgroup file of @pid, a target */
struct item *cgroups_watch(struct cgroups *cgroups, pid_t pid);

/* cgroups_read - the figures of all watched groups, as an item; NULL if there are none */
struct item *cgroups_read(struct cgroups *cgroups);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_CGROUPS_H */
