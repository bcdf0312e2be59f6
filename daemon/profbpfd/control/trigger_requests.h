/* SPDX-License-Identifier: Apache-2.0 */
/* trigger_requests.h - clients' requests about triggers. Only for users who may do everything. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_REQUESTS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_REQUESTS_H

#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/services.h"
#include "proto/control.pb-c.h"

/* trigger_request - answers a request to add, list or remove */
void trigger_request(struct services *services, struct client *client, const Profbpf__Control__Request *request);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_REQUESTS_H */
