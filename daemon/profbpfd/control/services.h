/* SPDX-License-Identifier: Apache-2.0 */
/* services.h - the daemon's objects that all requests and sessions share. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVICES_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/capture/features.h"
#include "daemon/profbpfd/control/job_queue.h"
#include "daemon/profbpfd/control/roster.h"
#include "daemon/profbpfd/probe/file_cache.h"

struct flight_recorder;
struct metric_triggers;
struct metrics;
struct reload_report;
struct snapshots;
struct trigger_files;
struct triggers;

/* The shared objects. */
struct services {
	struct roster roster;
	struct job_queue *jobs;
	struct quotas quotas; /* for an ordinary user */
	struct features features;
	struct file_cache *file_cache; /* for all sessions; NULL: none */
	struct map_watch *map_watch; /* for code that processes map, for all sessions */
	struct gate *gate; /* to scheduler events, for all sessions */
	struct kernel_names *kernel_names; /* for all sessions */
	struct unwinder *unwinder; /* for all sessions */
	struct prices *prices; /* costs of probes, for all sessions */
	struct flight_recorder *recorder; /* NULL: none */
	struct snapshots *snapshots;
	struct triggers *triggers;
	struct trigger_files *trigger_files;
	struct metric_triggers *metric_triggers;
	struct metrics *metrics; /* NULL: metrics are off */
	const char *const *catalog_directories; /* the administrator's */
	size_t catalog_directory_count;
	uint64_t start_ns; /* start of the daemon, CLOCK_MONOTONIC */
	bool private_daemon;
	bool stopping; /* no new sessions */
	/* Reads the settings again; 0 or a negative errno with a message. NULL: not possible. */
	int (*reload)(void *context, struct reload_report *report, char *error, size_t error_size);
	void *reload_context;
};

/* services_lend - passes the shared objects, which outlive all sessions, to a session */
void services_lend(const struct services *services, struct session_request *request);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVICES_H */
