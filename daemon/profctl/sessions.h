/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.h - sessions as list and status show them. */
#ifndef PROFBPF_DAEMON_PROFCTL_SESSIONS_H
#define PROFBPF_DAEMON_PROFCTL_SESSIONS_H

#include <stdio.h>

#include "daemon/profctl/json_text.h"

/* sessions_print - a table, one line each, and their warnings; 0 or -ENOMEM */
int sessions_print(FILE *to, Profbpf__Control__SessionInfo *const *sessions, size_t count);

/* sessions_print_cost - prints the cost of its programs, and the records that are shed for that; may print nothing */
void sessions_print_cost(FILE *to, const Profbpf__Control__SessionInfo *session);

/* sessions_json - as an array under "sessions" */
void sessions_json(struct json *json, Profbpf__Control__SessionInfo *const *sessions, size_t count);

#endif /* PROFBPF_DAEMON_PROFCTL_SESSIONS_H */
