/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger_files.h - the files that the flight recorder writes for triggers: in one directory, which belongs to the
 * administrator, within a budget, the oldest removed.
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_FILES_H

#include <stdint.h>

#include "daemon/profbpfd/control/services.h"
#include "daemon/profbpfd/session/triggers.h"

#define TRIGGER_DIRECTORY "/var/lib/profbpf"
#define TRIGGER_SPACE_DEFAULT (1ull << 30)

struct trigger_files;

/*
 * trigger_files_new - the manager of the files in @directory, which is made with mode 0700 when needed; its parent must exist
 *
 * Removes the incomplete files of a daemon that was killed. NULL without memory.
 */
struct trigger_files *trigger_files_new(const char *directory, uint64_t space_bytes);

/* trigger_files_reload - changes the settings for the following files; 0 or -ENOMEM */
int trigger_files_reload(struct trigger_files *files, const char *directory, uint64_t space_bytes);
const char *trigger_files_directory(const struct trigger_files *files);
uint64_t trigger_files_space(const struct trigger_files *files);

/*
 * trigger_files_write - begins to write a file for an event; reports success or failure on standard error
 *
 * First makes room for it, as much as the recorder may keep in memory.
 */
void trigger_files_write(struct services *services, const struct trigger *trigger, const struct trigger_event *event);

/* trigger_files_free - accepts NULL */
void trigger_files_free(struct trigger_files *files);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_FILES_H */
