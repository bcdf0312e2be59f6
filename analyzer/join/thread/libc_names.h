/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc_names.h - names of functions of the C library that exist once for each kind of CPU.
 *
 * What memcpy() runs is chosen when a program starts; stripped libraries have no name for it. Where the library
 * is the one that this program itself runs with, its own choice tells; on a machine with other CPUs than the
 * traced one's what ran then stays without a name.
 */
#ifndef PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H
#define PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H

#include <stdint.h>

#include "lib/elf/elf_file.h"

#define LIBC_NAMES_MAX 24

struct libc_name {
	const char *name;
	uint64_t first, end; /* in the file */
};

/* libc_names_find - fill @names, LIBC_NAMES_MAX of them; returns how many. 0 where @elf is another library. */
size_t libc_names_find(const struct elf_file *elf, struct libc_name *names);

#endif /* PROFBPF_ANALYZER_JOIN_THREAD_LIBC_NAMES_H */
