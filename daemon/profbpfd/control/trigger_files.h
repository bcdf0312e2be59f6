/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger_files.h - the files that triggers have the flight recorder write: in one directory, which is the
 * administrator's, within a budget, the oldest removed.
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
 * trigger_files_new - @directory is made, mode 0700, when it is needed; its parent has to be there
 *
 * Removes from it what a daemon that was killed had not written to its end. NULL without memory.
 */
struct trigger_files *trigger_files_new(const char *directory, uint64_t space_bytes);

/* trigger_files_reload - from the next file on; 0 or -ENOMEM */
int trigger_files_reload(struct trigger_files *files, const char *directory, uint64_t space_bytes);
const char *trigger_files_directory(const struct trigger_files *files);
uint64_t trigger_files_space(const struct trigger_files *files);

/*
 * trigger_files_write - begin to write a file about what has happened; says on standard error what becomes of it
 *
 * Makes room for it first, as much as the recorder may have in memory.
 */
void trigger_files_write(struct services *services, const struct trigger *trigger, const struct trigger_event *event);

/* trigger_files_free - NULL is fine */
void trigger_files_free(struct trigger_files *files);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_TRIGGER_FILES_H */
