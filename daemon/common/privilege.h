/* SPDX-License-Identifier: Apache-2.0 */
/* privilege.h - may this process load BPF programs and probe other processes? */
#ifndef PROFBPF_DAEMON_COMMON_PRIVILEGE_H
#define PROFBPF_DAEMON_COMMON_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * privilege_to_trace - is CAP_SYS_ADMIN effective, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE?
 */
bool privilege_to_trace(void);

/* privilege_effective - the caller's effective capabilities, bit CAP_... */
uint64_t privilege_effective(void);

/*
 * privilege_missing - names the capabilities for tracing that are not in @capabilities
 *
 * "CAP_BPF, CAP_PERFMON"; "" if tracing is allowed.
 */
void privilege_missing(uint64_t capabilities, char *text, size_t size);

#endif /* PROFBPF_DAEMON_COMMON_PRIVILEGE_H */
