/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - converts the daemon's structures to response messages. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ANSWER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/capture/features.h"
#include "daemon/profbpfd/control/roster_entry.h"

/* The session is live: its facts and all warnings so far, the daemon's own first. */
void answer_started(struct client *client, uint32_t request, const struct roster_entry *entry,
		    const struct session_info *info);

/* A session could be started as requested. */
void answer_checked(struct client *client, uint32_t request);

/* The session has ended: sends its summary, and its warnings from number @told on. */
void answer_ended(struct client *client, uint32_t request, const struct session_info *info,
		  size_t told);

/* The sessions this client may see. */
void answer_sessions(struct client *client, uint32_t request, const struct roster *roster);

struct status_facts {
	const struct features *features;
	const struct words *catalogs;
	const struct words *catalog_errors;
	const struct words *obstacles; /* reasons why nothing can be traced */
	const struct words *limits; /* what cannot be traced */
	uint64_t start_ns; /* start of the daemon, CLOCK_MONOTONIC */
	bool private_daemon;
};

/* Sends the features of this kernel and daemon, and the sessions that this client may see. */
void answer_status(struct client *client, uint32_t request, const struct roster *roster,
		   const struct status_facts *facts);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ANSWER_H */
