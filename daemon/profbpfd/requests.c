/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/requests.h"

#include <stdio.h>

#include "daemon/common/catalog_set.h"
#include "daemon/profbpfd/answer.h"
#include "daemon/profbpfd/obstacles.h"

#define REASON_MAX 200

static void stop(struct services *services, struct client *client, uint32_t id,
		 const Profbpf__Control__StopSession *request)
{
	struct roster_entry *entry;
	char reason[REASON_MAX];

	snprintf(reason, sizeof(reason), "%s",
		 *request->reason ? request->reason : "stopped by user");
	if (!request->session) {
		/* Their ends are told to this client anyway, so nothing further is answered. */
		if (!roster_stop_all(&services->roster, client, reason))
			client_refuse(client, id, "this connection has started no session");
		return;
	}
	entry = roster_find(&services->roster, request->session);
	if (!entry || !access_session(&client->peer, entry->owner)) {
		char message[128];

		snprintf(message, sizeof(message),
			 "no session %u; profctl list shows those you may stop", request->session);
		client_refuse(client, id, message);
		return;
	}
	if (!roster_wait(entry, client, id)) {
		client_refuse(client, id, "too many clients wait for this session's end already");
		return;
	}
	session_stop(entry->session, reason);
}

static void status(struct services *services, struct client *client, uint32_t id)
{
	struct words lines = { 0 }, problems = { 0 }, obstacles = { 0 }, limits = { 0 };
	struct obstacle_facts found;
	struct catalogs *catalogs = catalog_set_load(services->catalog_directories,
						     services->catalog_directory_count, &problems);
	struct status_facts facts = {
		.features = &services->features,
		.catalogs = &lines,
		.catalog_errors = &problems,
		.obstacles = &obstacles,
		.limits = &limits,
		.start_ns = services->start_ns,
		.private_daemon = services->private_daemon,
	};

	obstacles_look(&found, &services->features);
	if (obstacles_judge(&found, &obstacles, &limits) || !catalogs ||
	    catalog_set_describe(catalogs, &lines))
		client_refuse(client, id, "profbpfd is out of memory");
	else
		answer_status(client, id, &services->roster, &facts);
	catalogs_free(catalogs);
	words_free(&lines);
	words_free(&problems);
	words_free(&obstacles);
	words_free(&limits);
}

void request_handle(struct services *services, struct client *client,
		    const Profbpf__Control__Request *request, struct control_fds *fds)
{
	switch (request->what_case) {
	case PROFBPF__CONTROL__REQUEST__WHAT_START:
		request_start(services, client, request->id, request->start, fds);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_STOP:
		stop(services, client, request->id, request->stop);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_LIST:
		answer_sessions(client, request->id, &services->roster);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_STATUS: status(services, client, request->id); break;
	default:
		client_refuse(client, request->id,
			      "profbpfd " PROFBPF_VERSION
			      " does not know this request; use the profctl of the same version");
	}
}
