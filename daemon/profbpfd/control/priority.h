/* SPDX-License-Identifier: Apache-2.0 */
/* priority.h - raises the priority of threads that others wait for, for machines where every CPU is busy. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H

/*
 * priority_raise - gives the calling thread priority over ordinary ones (nice -10)
 *
 * For threads that do little work and that others wait for. Threads that it creates are not raised. Needs
 * CAP_SYS_NICE; without it nothing changes.
 */
void priority_raise(void);

/* priority_lower - back to the ordinary priority */
void priority_lower(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H */
