/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_files.h - finds the file that is mapped at an address of a process. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

struct mapped_files;

/* mapped_files_new - a cache of processes' mappings, which are read again after a second */
struct mapped_files *mapped_files_new(void);
/* mapped_files_limit - only for processes that @right, which the caller keeps, allows to look into */
void mapped_files_limit(struct mapped_files *files, const struct right *right);

void mapped_files_free(struct mapped_files *files);

/*
 * mapped_files_find - the path of the file, as the process sees it, and the offset in it
 *
 * Returns "" if no file is mapped there or the process is gone. @files owns the text, which is
 * valid until the next call.
 */
const char *mapped_files_find(struct mapped_files *files, pid_t pid, uint64_t address,
			      uint64_t *offset);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_MAPPED_FILES_H */
