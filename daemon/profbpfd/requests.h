/* SPDX-License-Identifier: Apache-2.0 */
/* requests.h - what clients ask for, checked and done. */
#ifndef PROFBPF_DAEMON_REQUESTS_H
#define PROFBPF_DAEMON_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/control.h"
#include "daemon/profbpfd/client.h"
#include "daemon/profbpfd/features.h"
#include "daemon/profbpfd/file_cache.h"
#include "daemon/profbpfd/roster.h"
#include "proto/control.pb-c.h"

#define REQUEST_PIDS_MAX 1024
#define REQUEST_CATALOGS_MAX 64

/* What requests act upon. */
struct services {
	struct roster roster;
	struct features features;
	struct file_cache *file_cache; /* of all sessions; NULL: none */
	const char *const *catalog_directories; /* the administrator's */
	size_t catalog_directory_count;
	uint64_t start_ns; /* of the daemon, CLOCK_MONOTONIC */
	bool private_daemon;
	bool stopping; /* no new sessions */
};

/*
 * request_handle - answer one request
 *
 * Uses up what it takes from @fds; the caller drops the rest.
 */
void request_handle(struct services *services, struct client *client,
		    const Profbpf__Control__Request *request, struct control_fds *fds);

/*
 * request_start - start a session (request_start.c)
 *
 * Answers only if that fails; else the roster does when it is live or has failed.
 */
void request_start(struct services *services, struct client *client, uint32_t id,
		   const Profbpf__Control__StartSession *start, struct control_fds *fds);


#endif /* PROFBPF_DAEMON_REQUESTS_H */
