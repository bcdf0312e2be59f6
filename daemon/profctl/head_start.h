/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head_start.h - a private daemon gets more of busy CPUs while it starts its session, and no more than others after that.
 *
 * With kernel.sched_autogroup_enabled each session of setsid(), which a private daemon begins for itself, is a group of
 * threads, and the groups share the CPUs, whatever the nice values of their threads are. Where many other groups want the
 * CPUs, the daemon would need several times as long to load its programs, and the user would miss that part of the job:
 * with a load of 28 on two CPUs, attaching took 2.9 to 6.9 s, and 0.8 to 1.9 s with this nice value of the group. It is
 * less than a second of CPU time, which the target gives sooner but not in addition. While the daemon records, and while
 * it cleans up, its group is one like others: the daemon sees to that itself (priority_group_lower()), because profctl may
 * be stopped by then (Ctrl-Z), and profctl does when it leaves before. If profctl is killed meanwhile, the daemon ends.
 *
 * Only for who may set any nice value (CAP_SYS_NICE) and set it back at once (CAP_SYS_ADMIN: others may set it ten times
 * a second on the whole machine), and who did not start profctl with a lower priority. A kernel without autogroups, a
 * file that cannot be written: nothing happens, and nobody is told, because nothing else depends on it.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_HEAD_START_H
#define PROFBPF_DAEMON_PROFCTL_HEAD_START_H

#include <stdbool.h>
#include <sys/types.h>

/* head_start_allowed - may this process give a group a higher priority, and set it back? */
bool head_start_allowed(void);

/* head_start_take - for the future daemon itself, after setsid() */
void head_start_take(void);

/* head_start_end - the group of @pid, an own child that is not reaped yet, gets the priority of others */
void head_start_end(pid_t pid);

#endif /* PROFBPF_DAEMON_PROFCTL_HEAD_START_H */
