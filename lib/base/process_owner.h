/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_owner.h - whose a process is, for who shares something out among users.
 *
 * Not who owns /proc/PID: that is root for each process whose memory is not to be dumped (prctl(PR_SET_DUMPABLE)), which
 * any user may have of her own, and for set-user-id programs of root's, which any user may start.
 */
#ifndef PROFBPF_LIB_BASE_PROCESS_OWNER_H
#define PROFBPF_LIB_BASE_PROCESS_OWNER_H

#include <sys/types.h>

/* process_owner - the real user of @pid; (uid_t)-1: it is gone */
uid_t process_owner(pid_t pid);

#endif /* PROFBPF_LIB_BASE_PROCESS_OWNER_H */
