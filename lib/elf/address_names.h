/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_names.h - names of code by address: the kernel's symbols, and the map
 * that a program which makes code at run time leaves for profilers.
 *
 * Formats: /proc/kallsyms is "ADDRESS TYPE NAME [MODULE]" by line, hexadecimal,
 * sorted or not; /tmp/perf-PID.map is "START SIZE NAME", hexadecimal, the name
 * being the rest of the line (tools/perf/Documentation/jit-interface.txt in
 * Linux). Both are read as they are found: lines that make no sense are left
 * out, names are cut at ADDRESS_NAMES_LENGTH bytes, no more than ADDRESS_NAMES_MAX of
 * them are kept, and no more than ADDRESS_NAMES_BYTES are read of a file, which may grow meanwhile. Of a perf map the last lines are kept and
 * win where they overlap others: code is overwritten, its name is not.
 */
#ifndef PROFBPF_LIB_ELF_ADDRESS_NAMES_H
#define PROFBPF_LIB_ELF_ADDRESS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ADDRESS_NAMES_MAX (2u << 20)
#define ADDRESS_NAMES_LENGTH 512
#define ADDRESS_NAMES_BYTES (256ull << 20)

struct address_names;

/*
 * address_names_kernel - read a file in the format of /proc/kallsyms: functions only
 * address_names_perf_map - read a perf map
 *
 * @file stays the caller's. Return NULL without memory. A file in which nothing
 * was found gives an object without names, as does one of a kernel that hides
 * its addresses (all zeros).
 */
struct address_names *address_names_kernel(FILE *file);
struct address_names *address_names_perf_map(FILE *file);
void address_names_free(struct address_names *names);

size_t address_names_count(const struct address_names *names);

/* address_names_is_bpf - is it one that kernels say is a BPF program's? False of a perf map's. */
bool address_names_is_bpf(const struct address_names *names, uint64_t address);

/*
 * address_names_find - the name of what is at @address; NULL if nothing is known to be
 *
 * The kernel's symbols have no size: each reaches to the next one, the last one
 * 64 KiB. The text is owned by @names.
 */
const char *address_names_find(const struct address_names *names, uint64_t address);

#endif /* PROFBPF_LIB_ELF_ADDRESS_NAMES_H */
