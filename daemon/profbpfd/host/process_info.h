/* SPDX-License-Identifier: Apache-2.0 */
/* process_info.h - reads facts about a process from /proc. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_PROCESS_INFO_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_PROCESS_INFO_H

#include <stddef.h>
#include <sys/types.h>

#define PROCESS_CMDLINE_MAX 4096 /* longer command lines are cut */

/* process_cmdline - arguments joined by blanks; allocated, NULL if there are none or the process is gone */
char *process_cmdline(pid_t pid);

/* process_exe - path of the executable; allocated; NULL with errno, ENOENT if there is none or the process is gone */
char *process_exe(pid_t pid);

/*
 * process_descendants - appends all living descendants of the processes in @pids
 *
 * *@pids is an allocated array of *@count entries, which grows. Returns 0 or a
 * negative errno.
 */
int process_descendants(pid_t **pids, size_t *count);

/* process_all - appends every process of the machine except this one; 0 or a negative errno */
int process_all(pid_t **pids, size_t *count);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_PROCESS_INFO_H */
