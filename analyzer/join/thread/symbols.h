/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - names for frames that are known as an offset in a file.
 *
 * The traced job's files are read from this machine, under the paths they had in the job's mount namespace, and only
 * if they are identical: by build-id, or, for files without one, by size and modification time. Addresses in no
 * function of .symtab and .dynsym stay without a name, except the C library's functions for each kind of CPU
 * (libc_names.h). Frames in files that are not available here, or lie in a container, have no names either. C++ names
 * are demangled, without parameters.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H
#define PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H

#include "analyzer/model/model.h"

/* symbols_resolve - fills in code_frames[].name where it is 0; returns 0 or -ENOMEM */
int symbols_resolve(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H */
