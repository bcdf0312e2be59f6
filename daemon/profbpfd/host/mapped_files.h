/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_files.h - which file lies at an address of a process. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

struct mapped_files;

/* What is read of processes' mappings is used for a second. */
struct mapped_files *mapped_files_new(void);
/* mapped_files_limit - of processes alone into which @right, which stays the caller's, allows to look */
void mapped_files_limit(struct mapped_files *files, const struct right *right);

void mapped_files_free(struct mapped_files *files);

/*
 * mapped_files_find - the path of the file, in the process's view, and where in the file
 *
 * Returns "" if that is no file or the process is gone. The text belongs to @files and is
 * valid until the next call.
 */
const char *mapped_files_find(struct mapped_files *files, pid_t pid, uint64_t address,
			      uint64_t *offset);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H */
