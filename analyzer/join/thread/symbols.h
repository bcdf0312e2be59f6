/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - names for frames that are known as a place in a file.
 *
 * The traced job's files are read from this machine, under the paths they had in
 * the job's view, and only if they are the very same: by build-id, or, for files
 * without one, by size and instant of the last change. What lies in no function of
 * .symtab and .dynsym stays without a name, but for those that the C library has for each
 * kind of CPU (libc_names.h), as do frames in files that are not to be had here, or lie in
 * a container. C++ names are demangled, without parameters.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H
#define PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H

#include "analyzer/model/model.h"

/* symbols_resolve - fill in code_frames[].name where it is 0; 0 or -ENOMEM */
int symbols_resolve(struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_SYMBOLS_H */
