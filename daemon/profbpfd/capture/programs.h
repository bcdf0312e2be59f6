/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - shared by the loaders of BPF programs. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CAPTURE_PROGRAMS_H
#define PROFBPF_DAEMON_PROFBPFD_CAPTURE_PROGRAMS_H

#include "daemon/profbpfd/capture/features.h"

struct bpf_object_open_opts;

#define PROGRAMS_PATH_SIZE 40

/*
 * programs_options - makes libbpf relocate programs by the picked types, if there are any
 *
 * @path must last until they are loaded.
 */
void programs_options(struct bpf_object_open_opts *options, const struct features *features,
		      char path[PROGRAMS_PATH_SIZE]);

/* programs_wait - waits until running programs have ended: a few milliseconds, more on a busy machine */
void programs_wait(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_CAPTURE_PROGRAMS_H */
