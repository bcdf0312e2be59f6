/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_owner.h - the user that a process belongs to, for dividing limited resources among users.
 *
 * The owner of /proc/PID is not that user: it is root for each process that is not dumpable (prctl(PR_SET_DUMPABLE)),
 * which any user may start, and for set-user-id programs of root, which any user may start, too.
 */
#ifndef PROFBPF_LIB_BASE_PROCESS_OWNER_H
#define PROFBPF_LIB_BASE_PROCESS_OWNER_H

#include <sys/types.h>

/* process_owner - the real user of @pid; (uid_t)-1: it is gone */
uid_t process_owner(pid_t pid);

#endif /* PROFBPF_LIB_BASE_PROCESS_OWNER_H */
