/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h - what clients ask for, checked and done.
 *
 * A start and a question for the status take long: files and processes are looked at. They become
 * jobs of job_queue.h, and what is left of them is done when these are done. Everything else is
 * answered at once.
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
 * A request that is worked on. While a thread of the queue does that, the job is its own but for @client,
 * and of @services only what never changes is for it.
 */
struct request_job {
	struct job job;
	struct services *services;
	struct client *client; /* NULL = it is gone; for the control loop only */
	struct peer peer;
	Profbpf__Control__Request *request;
	struct control_fds fds;
	char *error; /* why it is refused; NULL = it is not */
	struct roster_entry *entry; /* a start's */
	unsigned int topics;
	struct words catalogs, catalog_errors, obstacles, limits; /* what the status tells */
};

/*
 * request_handle - answer one request, or have it worked on
 *
 * In the latter case *@request and what is in @fds are taken over, the first becomes NULL and the
 * second empty, and @client->job is set.
 */
void request_handle(struct services *services, struct client *client,
		    Profbpf__Control__Request **request, struct control_fds *fds);

/* request_finish - answer a request that was worked on; returns who asked, NULL if it is gone */
struct client *request_finish(struct job *job);

/* request_drop - free a request that was worked on, or was to be, without an answer */
void request_drop(struct job *job);

/*
 * What becomes of a start (request_start.c), in this order
 *
 * request_start_check: may this client start anything like it now? On the control loop, before and
 * after the work. Returns NULL, or an allocated text that says why not.
 * request_start_work: look at processes and catalogs. On a thread of the queue.
 * request_start_finish: answer a check, or start the session. If that fails it is answered; else the
 * roster does when the session is live or has failed.
 */
char *request_start_check(struct services *services, const struct peer *peer,
			  const Profbpf__Control__StartSession *start);
void request_start_work(struct request_job *job);
void request_start_finish(struct services *services, struct request_job *job);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_REQUESTS_H */
