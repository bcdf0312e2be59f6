/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_files.h - the files that a command will map when it starts: its
 * executable and the libraries the loader gives it. They are opened with the
 * user's rights and passed on, so that probes are in place before the first
 * instruction.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_COMMAND_FILES_H
#define PROFBPF_DAEMON_PROFCTL_COMMAND_FILES_H

#include <stddef.h>

#include "daemon/catalog/catalog.h"
#include "daemon/common/control.h"

/*
 * command_files_open - finds the command as execvp would, and opens its files
 *
 * Appends to @files as many as fit beside the output: the executable, then
 * libraries that @catalogs hint at, then others. For a script the interpreter is
 * used instead. Files that cannot be opened or do not fit are left out: they are
 * probed when they are mapped. Returns 0; -ENOENT or -EACCES if there is no such command or it cannot be executed.
 */
int command_files_open(const char *command, const struct catalogs *catalogs,
		       struct control_fds *files);

#endif /* PROFBPF_DAEMON_PROFCTL_COMMAND_FILES_H */
