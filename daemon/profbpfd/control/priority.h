/* SPDX-License-Identifier: Apache-2.0 */
/* priority.h - threads for which others wait, on machines where every CPU is busy. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H

/*
 * priority_raise - let the calling thread come before ordinary ones (nice -10)
 *
 * For threads that do little and are waited for. Those that it makes are not raised with it. Needs
 * CAP_SYS_NICE; without it nothing changes.
 */
void priority_raise(void);

/* priority_lower - back among ordinary ones */
void priority_lower(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_PRIORITY_H */
