/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/catalog/catalog_set.h"
#include "daemon/profbpfd/control/answer.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/control/reload.h"
#include "daemon/profbpfd/control/snapshots.h"
#include "daemon/profbpfd/control/trigger_requests.h"

#define REASON_MAX 200

static void stop(struct services *services, struct client *client, uint32_t id,
		 const Profbpf__Control__StopSession *request)
{
	struct roster_entry *entry;
	char reason[REASON_MAX];

	snprintf(reason, sizeof(reason), "%s",
		 *request->reason ? request->reason : "stopped by user");
	if (!request->session) {
		/* This client is notified of the sessions' ends anyway, so there is no other answer. */
		if (!roster_stop_all(&services->roster, client, reason))
			client_refuse(client, id, "no session was started on this connection");
		return;
	}
	entry = roster_find(&services->roster, request->session);
	if (entry && entry->of_recorder && access_session(&client->peer, entry->owner)) {
		client_refuse(client, id, "this session belongs to the flight recorder, which ends with profbpfd");
		return;
	}
	if (!entry || !access_session(&client->peer, entry->owner)) {
		char message[128];

		snprintf(message, sizeof(message),
			 "no session %u; profctl list shows the sessions that you may stop", request->session);
		client_refuse(client, id, message);
		return;
	}
	if (!roster_wait(entry, client, id)) {
		client_refuse(client, id, "too many clients already wait for the end of this session");
		return;
	}
	session_stop(entry->session, reason);
}

static void status_work(struct request_job *job)
{
	const struct services *services = job->services;
	struct catalogs *catalogs = catalog_set_load(services->catalog_directories,
						     services->catalog_directory_count,
						     &job->catalog_errors);
	struct obstacle_facts found;

	obstacles_look(&found, &services->features);
	if (obstacles_judge(&found, &job->obstacles, &job->limits) || !catalogs ||
	    catalog_set_describe(catalogs, &job->catalogs))
		job->error = strdup("profbpfd is out of memory");
	catalogs_free(catalogs);
}

static void status_finish(struct services *services, struct request_job *job)
{
	struct status_facts facts = {
		.features = &services->features,
		.catalogs = &job->catalogs,
		.catalog_errors = &job->catalog_errors,
		.obstacles = &job->obstacles,
		.limits = &job->limits,
		.start_ns = services->start_ns,
		.private_daemon = services->private_daemon,
	};

	answer_status(job->client, job->request->id, &services->roster, &facts);
}

/* ---- Requests that other threads handle */

static void work(struct job *of)
{
	struct request_job *job = (struct request_job *)of;

	if (job->request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_START)
		request_start_work(job);
	else
		status_work(job);
}

void request_drop(struct job *of)
{
	struct request_job *job = (struct request_job *)of;

	profbpf__control__request__free_unpacked(job->request, NULL);
	descriptors_drop(&job->fds, &job->peer);
	roster_entry_free(job->entry);
	words_free(&job->catalogs);
	words_free(&job->catalog_errors);
	words_free(&job->obstacles);
	words_free(&job->limits);
	free(job->error);
	free(job);
}

struct client *request_finish(struct job *of)
{
	struct request_job *job = (struct request_job *)of;
	struct client *client = job->client;

	if (client) {
		client->job = NULL;
		if (job->error)
			client_refuse(client, job->request->id, job->error);
		else if (job->request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_START)
			request_start_finish(job->services, job);
		else
			status_finish(job->services, job);
	}
	request_drop(of);
	return client;
}

static void refuse_busy(struct client *client, uint32_t id, int err)
{
	char message[192];

	if (err == -EBUSY)
		snprintf(
			message, sizeof(message),
			"profbpfd is processing %d of your requests, the maximum for one user; try "
			"again when they are answered",
			JOB_QUEUE_PER_USER);
	else
		snprintf(message, sizeof(message),
			 "profbpfd is processing %d requests of all users, the maximum; try again later",
			 JOB_QUEUE_MAX);
	client_refuse(client, id, message);
}

static void have_worked_on(struct services *services, struct client *client,
			   Profbpf__Control__Request **request, struct control_fds *fds)
{
	struct request_job *job = calloc(1, sizeof(*job));
	uint32_t id = (*request)->id;
	int err;

	if (!job) {
		client_refuse(client, id, "profbpfd is out of memory");
		return;
	}
	job->job = (struct job){ .work = work,
				 .user = client->peer.uid,
				 .trusted = client->peer.trusted };
	job->services = services;
	job->client = client;
	job->peer = client->peer;
	job->request = *request;
	job->fds = *fds;
	err = job_queue_add(services->jobs, &job->job);
	if (err) {
		free(job);
		refuse_busy(client, id, err);
		return;
	}
	client->job = job;
	*request = NULL;
	fds->count = 0;
}

static void start(struct services *services, struct client *client,
		  Profbpf__Control__Request **request, struct control_fds *fds)
{
	char *error = request_start_check(services, &client->peer, (*request)->start);

	if (error)
		client_refuse(client, (*request)->id, error);
	else
		have_worked_on(services, client, request, fds);
	free(error);
}

void request_handle(struct services *services, struct client *client,
		    Profbpf__Control__Request **request, struct control_fds *fds)
{
	uint32_t id = (*request)->id;

	switch ((*request)->what_case) {
	case PROFBPF__CONTROL__REQUEST__WHAT_START: start(services, client, request, fds); break;
	case PROFBPF__CONTROL__REQUEST__WHAT_STOP:
		stop(services, client, id, (*request)->stop);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_LIST:
		answer_sessions(client, id, &services->roster);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_STATUS:
		have_worked_on(services, client, request, fds);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_SNAPSHOT:
		snapshot_request(services, client, id, (*request)->snapshot, fds);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_ADD_TRIGGER:
	case PROFBPF__CONTROL__REQUEST__WHAT_REMOVE_TRIGGER:
	case PROFBPF__CONTROL__REQUEST__WHAT_LIST_TRIGGERS:
		trigger_request(services, client, *request);
		break;
	case PROFBPF__CONTROL__REQUEST__WHAT_RELOAD: reload_request(services, client, id); break;
	default:
		client_refuse(client, id,
			      "profbpfd " PROFBPF_VERSION
			      " does not know this request; use the profctl of the same version");
	}
}
