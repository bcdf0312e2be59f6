/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc_names.h - names of functions of the C library that have a variant for each kind of CPU.
 *
 * The code that memcpy() runs is selected when a program starts; stripped libraries have no name for it. If this
 * program runs with the same library, its own selection gives the name; on a machine with other CPUs than the traced
 * one's the code stays without a name.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H

#include <stdint.h>

#include "lib/elf/elf_file.h"

#define LIBC_NAMES_MAX 24

struct libc_name {
	const char *name;
	uint64_t first, end; /* offsets in the file */
};

/* libc_names_find - fills @names (LIBC_NAMES_MAX entries) and returns their number. 0 if @elf is another library. */
size_t libc_names_find(const struct elf_file *elf, struct libc_name *names);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H */
