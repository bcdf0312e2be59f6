/* SPDX-License-Identifier: Apache-2.0 */
/* priority.h - raises the priority of threads that others wait for, for machines where every CPU is busy. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H

#include <stdbool.h>

/*
 * priority_raise - gives the calling thread priority over ordinary ones (nice -10)
 *
 * For threads that do little work and that others wait for. Threads that it creates are not raised. Needs
 * CAP_SYS_NICE; without it nothing changes.
 */
void priority_raise(void);

/* priority_lower - back to the ordinary priority */
void priority_lower(void);

/*
 * priority_patient - the calling thread no longer interrupts other threads when it wakes up; false: it does so again
 *
 * It keeps its priority: it gets the CPU when the running thread pauses or yields, or its time slice is over, some milliseconds
 * later at most. Needs no capability.
 */
void priority_patient(bool patient);

/*
 * priority_group_lower - the calling process' group of threads gets the priority of other groups
 *
 * For a private daemon, whose group had a higher one while it started (profctl's head_start.h): profctl may be stopped or
 * gone when that is over. Does nothing for a group that the process has not begun itself, and on kernels without groups.
 */
void priority_group_lower(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H */
