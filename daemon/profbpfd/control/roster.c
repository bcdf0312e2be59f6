/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/profbpfd/control/answer.h"
#include "daemon/profbpfd/control/priority.h"

#define LOGGED_PIDS_MAX 16

int roster_init(struct roster *roster, bool quiet)
{
	memset(roster, 0, sizeof(*roster));
	roster->quiet = quiet;
	roster->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return roster->event_fd < 0 ? -errno : 0;
}

void roster_entry_free(struct roster_entry *entry)
{
	if (!entry)
		return;
	if (entry->session)
		session_free(entry->session);
	if (entry->catalogs)
		catalogs_free(entry->catalogs);
	words_free(&entry->warnings);
	for (size_t i = 0; entry->held && i < entry->pid_count; i++)
		held_let_go(&entry->held[i]);
	free(entry->held);
	free(entry->pids);
	free(entry->output_name);
	free(entry);
}

void roster_free(struct roster *roster)
{
	while (roster->first) {
		struct roster_entry *entry = roster->first;

		roster->first = entry->next;
		roster_entry_free(entry);
	}
	if (roster->event_fd >= 0)
		close(roster->event_fd);
	roster->event_fd = -1;
}

uint32_t roster_new_id(struct roster *roster)
{
	/* In a request to stop, 0 means all sessions of the client. */
	do {
		roster->last_id++;
	} while (!roster->last_id || roster_find(roster, roster->last_id));
	return roster->last_id;
}

/* Logs for the journal which user traces which processes. */
static void log_start(const struct roster_entry *entry)
{
	if (entry->of_recorder) {
		fprintf(stderr, "profbpfd: session %u: flight recorder of processes of user %u\n", entry->id,
			(unsigned int)entry->owner);
		return;
	}
	fprintf(stderr, "profbpfd: session %u: user %u, process %d, traces", entry->id,
		(unsigned int)entry->owner, (int)entry->starter->peer.pid);
	if (entry->system_wide)
		fputs(" everything", stderr);
	for (size_t i = 0; i < entry->pid_count && i < LOGGED_PIDS_MAX; i++)
		fprintf(stderr, " %u", entry->pids[i]);
	fputs(entry->pid_count > LOGGED_PIDS_MAX ? " ...\n" : "\n", stderr);
}

void roster_add(struct roster *roster, struct roster_entry *entry)
{
	struct roster_entry **end = &roster->first;

	while (*end)
		end = &(*end)->next;
	entry->next = NULL;
	*end = entry;
	if (!roster->quiet)
		log_start(entry);
}

bool roster_wait(struct roster_entry *entry, struct client *client, uint32_t request)
{
	if (entry->waiter_count == ROSTER_WAITERS_MAX)
		return false;
	entry->waiters[entry->waiter_count++] = (struct roster_waiter){ client, request };
	return true;
}

/* The session has ended before its start was confirmed: its end is the answer to the start request. */
static void tell_failed_start(struct roster_entry *entry, const struct session_info *info)
{
	if (info->failed)
		client_refuse(entry->starter, entry->start_request, info->reason);
	else
		answer_ended(entry->starter, entry->start_request, info, 0);
}

static void tell(struct roster_entry *entry, const struct session_info *info)
{
	bool ended = info->state >= SESSION_ENDED, live = session_was_live(info);

	if (entry->starter && !entry->announced && live) {
		answer_started(entry->starter, entry->start_request, entry, info);
		entry->warnings_told = info->warning_count;
	}
	entry->announced |= live;
	if (!ended || entry->ended)
		return;
	entry->ended = true;
	if (entry->starter && entry->announced)
		answer_ended(entry->starter, 0, info, entry->warnings_told);
	else if (entry->starter)
		tell_failed_start(entry, info);
	for (size_t i = 0; i < entry->waiter_count; i++)
		answer_ended(entry->waiters[i].client, entry->waiters[i].request, info,
			     entry->warnings_told);
}

void roster_update(struct roster *roster)
{
	struct roster_entry **link = &roster->first;
	uint64_t changes;

	/* Reset before checking the sessions, so that no change is missed. */
	while (read(roster->event_fd, &changes, sizeof(changes)) < 0 && errno == EINTR)
		;
	while (*link) {
		struct roster_entry *entry = *link;
		bool ended_before = entry->ended;
		struct session_info info;

		session_info(entry->session, &info);
		if (info.probe_costs.by_class[INSTRUCTION_EMULATED].whole_ns)
			roster->probe_costs = info.probe_costs;
		/* Before it is announced, so that a reader of that sees it. */
		if (roster->quiet && !entry->announced && (session_was_live(&info) || info.state >= SESSION_ENDED))
			priority_group_lower();
		tell(entry, &info);
		if (entry->ended && !ended_before && !roster->quiet)
			fprintf(stderr, "profbpfd: session %u ended: %s\n", entry->id, info.reason);
		if (info.state == SESSION_RELEASED) {
			*link = entry->next;
			roster_entry_free(entry);
		} else {
			link = &entry->next;
		}
	}
}

void roster_forget(struct roster *roster, const struct client *client)
{
	for (struct roster_entry *e = roster->first; e; e = e->next) {
		size_t kept = 0;

		for (size_t i = 0; i < e->waiter_count; i++)
			if (e->waiters[i].client != client)
				e->waiters[kept++] = e->waiters[i];
		e->waiter_count = kept;
		if (e->starter != client)
			continue;
		e->starter = NULL;
		if (!e->announced)
			session_stop(e->session, "the client left before it was live");
	}
}

size_t roster_stop_all(struct roster *roster, const struct client *starter, const char *reason)
{
	size_t count = 0;

	if (roster->quiet)
		priority_group_lower();
	for (struct roster_entry *e = roster->first; e; e = e->next) {
		if (e->ended || (starter && e->starter != starter))
			continue;
		session_stop(e->session, reason);
		count++;
	}
	return count;
}
