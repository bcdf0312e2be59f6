/* SPDX-License-Identifier: Apache-2.0 */
/* start_message.h - makes the request that starts a session from the user's options. */
#ifndef PROFBPF_DAEMON_PROFCTL_START_MESSAGE_H
#define PROFBPF_DAEMON_PROFCTL_START_MESSAGE_H

#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/live_request.h"
#include "daemon/profctl/trace_file.h"

/*
 * start_ask - would the daemon start this session?
 *
 * To know before an earlier trace is overwritten. Returns 0, or -EPERM after
 * saying why not.
 */
int start_ask(const struct live_request *request, struct client *client);

/*
 * start_send - read the user's catalogs and send the request
 *
 * Sets *@id to the request's. Returns 0 or a negative errno after saying why.
 */
int start_send(const struct live_request *request, struct client *client,
	       const struct output *output, uint32_t *id);

/* start_check - finds errors that are detectable before anything is changed; returns 0, or an errno after printing the reason */
int start_check(const struct live_request *request);

/* start_announce - the line that says that capture is live */
void start_announce(const struct live_request *request, const Profbpf__Control__Started *started);

#endif /* PROFBPF_DAEMON_PROFCTL_START_MESSAGE_H */
