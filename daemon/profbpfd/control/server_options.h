/* SPDX-License-Identifier: Apache-2.0 */
/* server_options.h - settings of the daemon, from its command line and its configuration. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_OPTIONS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_OPTIONS_H

#include <stddef.h>

#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/control/quotas.h"

struct server_options {
	/*
	 * Reads the settings again, for `profctl reload' and SIGHUP. The result stays valid as long as the server; NULL
	 * with a message on failure. May be NULL: settings are never read again.
	 */
	const struct server_options *(*read_again)(void *context, char *error, size_t error_size);
	void *context;
	const char *socket; /* path to listen on; unused by a private daemon */
	int private_fd; /* connected socket of the only client; -1 = listen */
	const char *const *catalog_directories;
	size_t catalog_directory_count;
	const char *const *metrics; /* addresses of the metrics (metrics/endpoint.h); unused by a private daemon */
	size_t metrics_count;
	const char *btf; /* file with the kernel's types; NULL: from the kernel; only compared */
	const char *const *recorded; /* text of the rules for the recorder's processes; only compared */
	size_t recorded_count;
	struct quotas quotas; /* for an ordinary user */
	struct flight_recorder_options recorder; /* unused by a private daemon */
};

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_OPTIONS_H */
