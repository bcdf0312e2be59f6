/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_loader.h - ask the program loader which libraries it would load. */
#ifndef PROFBPF_DAEMON_PROFCTL_DYNAMIC_LOADER_H
#define PROFBPF_DAEMON_PROFCTL_DYNAMIC_LOADER_H

#include "daemon/common/words.h"

/*
 * loader_list - the libraries that @loader would load for @program
 *
 * Runs "LOADER --list PROGRAM", as ldd does, in this process's environment; the
 * program itself does not run. Appends absolute paths to @libraries. Gives up
 * after 5 s. Returns 0 or a negative errno; the list may be short then.
 */
int loader_list(const char *loader, const char *program, struct words *libraries);

#endif /* PROFBPF_DAEMON_PROFCTL_DYNAMIC_LOADER_H */
