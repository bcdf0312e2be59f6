/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h - checks and executes the requests of clients.
 *
 * A start and a status request take long, because they read files and processes. They become jobs of
 * job_queue.h, and are completed when the job is done. All other requests are answered at once.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_REQUESTS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/control.h"
#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/job_queue.h"
#include "daemon/profbpfd/control/services.h"
#include "proto/control.pb-c.h"

#define REQUEST_PIDS_MAX 16384
#define REQUEST_CATALOGS_MAX 64

/*
 * A request that is being processed. While a thread of the queue works on it, that thread owns the job except @client,
 * and may only use the parts of @services that never change.
 */
struct request_job {
	struct job job;
	struct services *services;
	struct client *client; /* NULL = it is gone; used only by the control loop */
	struct peer peer;
	Profbpf__Control__Request *request;
	struct control_fds fds;
	char *error; /* the reason of a refusal; NULL = accepted */
	struct roster_entry *entry; /* for requests to start a session */
	unsigned int topics;
	struct words catalogs, catalog_errors, obstacles, limits; /* the parts of the status */
};

/*
 * request_handle - answers one request, or makes it a job
 *
 * In the latter case the job takes over *@request, which becomes NULL, and the descriptors in @fds, which becomes
 * empty; @client->job is set.
 */
void request_handle(struct services *services, struct client *client,
		    Profbpf__Control__Request **request, struct control_fds *fds);

/* request_finish - answers the request of a finished job; returns its client, NULL if the client is gone */
struct client *request_finish(struct job *job);

/* request_drop - frees a request, handled or not, without an answer */
void request_drop(struct job *job);

/*
 * The phases of a start (request_start.c), in this order:
 *
 * request_start_check: may this client start such a session now? On the control loop, before and
 * after the work. Returns NULL, or an allocated text with the reason for the refusal.
 * request_start_work: reads processes and catalogs. On a thread of the queue.
 * request_start_finish: answers a check, or starts the session. A failure is answered at once; else the
 * roster answers when the session is live or has failed.
 */
char *request_start_check(struct services *services, const struct peer *peer,
			  const Profbpf__Control__StartSession *start);
void request_start_work(struct request_job *job);
void request_start_finish(struct services *services, struct request_job *job);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_REQUESTS_H */
