/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the daemon's settings, from its command line and its configuration file. */
#ifndef PROFBPF_DAEMON_PROFBPFD_SETTINGS_H
#define PROFBPF_DAEMON_PROFBPFD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/common/words.h"
#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/control/quotas.h"

struct settings {
	const char *socket;
	struct words catalogs;
	struct quotas quotas;
	struct flight_recorder_options recorder;
	int private_fd;
	struct words metrics; /* addresses */
	struct words recorded; /* rules for the processes that the flight recorder records, as text */
	struct words kept; /* values from the configuration file */
	const char *btf; /* file with type information; NULL: the kernel's own */
	const char *place; /* FILE:LINE that is being read; NULL: the command line */
	char *error; /* buffer for the first error while settings are read again; else NULL */
	size_t error_size;
	bool only_check; /* the configuration file is only checked: reading goes on behind an error */
};

/*
 * settings_read - reads the configuration file, then the command line, which overrides it
 *
 * Ends the program with status 2 and a message after an error. If only the check of the configuration was requested, ends
 * it with 0, or with 2 after a message for each wrong line. Keeps pointers into @argv.
 */
void settings_read(struct settings *settings, int argc, char **argv);

/*
 * settings_read_again - the same while the daemon runs, with the present files
 *
 * Has no other effect and does not end the program. Returns 0, or -EINVAL with a message in @error; then there is
 * nothing to free.
 */
int settings_read_again(struct settings *settings, int argc, char **argv, char *error, size_t error_size);
void settings_free(struct settings *settings);

#endif /* PROFBPF_DAEMON_PROFBPFD_SETTINGS_H */
