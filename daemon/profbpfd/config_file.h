/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_file.h - reads the daemon's configuration: options of its command line, one per line, without the dashes.
 *
 *     # a comment
 *     recorder = 60s
 *     trigger = no-launch=30s
 *
 * Blanks around names and values are ignored; a # begins a comment only at the beginning of a line.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONFIG_FILE_H
#define PROFBPF_DAEMON_PROFBPFD_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_FILE "/etc/profbpf/profbpfd.conf"

/*
 * config_file_read - calls @option for each option, in order
 *
 * @line counts from 1; @name and @value are NULL for a line that is not NAME = VALUE with a name and a value. Returns 0,
 * or a negative errno with a message in @error if the file cannot be read: -ENOENT there is no such file. If @option does
 * not return 0, reading ends, and its value is returned without a message.
 */
int config_file_read(const char *path,
		     int (*option)(void *context, const char *name, const char *value, unsigned int line),
		     void *context, char *error, size_t error_size);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONFIG_FILE_H */
