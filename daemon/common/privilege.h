/* SPDX-License-Identifier: Apache-2.0 */
/* privilege.h - may this process load BPF programs and probe others? */
#ifndef PROFBPF_DAEMON_COMMON_PRIVILEGE_H
#define PROFBPF_DAEMON_COMMON_PRIVILEGE_H

#include <stdbool.h>

/*
 * privilege_to_trace - is CAP_SYS_ADMIN effective, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE?
 */
bool privilege_to_trace(void);

#endif /* PROFBPF_DAEMON_COMMON_PRIVILEGE_H */
