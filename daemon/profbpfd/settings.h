/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - what the daemon is told by its command line and its configuration. */
#ifndef PROFBPF_DAEMON_PROFBPFD_SETTINGS_H
#define PROFBPF_DAEMON_PROFBPFD_SETTINGS_H

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
	struct words recorded; /* whom the flight recorder is for, as it is written */
	struct words kept; /* values of the configuration */
	const char *btf; /* NULL: the kernel's own */
	const char *place; /* FILE:LINE that is being read; NULL: the command line */
	char *error; /* while they are read again: where the first mistake goes */
	size_t error_size;
};

/*
 * settings_read - the file, then the command line, whose word is the last
 *
 * Ends the program with status 2 and a message where they are wrong, and with 0 where only that was asked. Texts of
 * @argv are kept.
 */
void settings_read(struct settings *settings, int argc, char **argv);

/*
 * settings_read_again - the same while the daemon runs, as its files are now
 *
 * Changes nothing else, and ends nothing. Returns 0, or -EINVAL with a message in @error; then there is nothing to free.
 */
int settings_read_again(struct settings *settings, int argc, char **argv, char *error, size_t error_size);
void settings_free(struct settings *settings);

#endif /* PROFBPF_DAEMON_PROFBPFD_SETTINGS_H */
