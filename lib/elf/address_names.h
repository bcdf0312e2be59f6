/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_names.h - names of code by address: the kernel's symbols, and the map
 * that a program which makes code at run time leaves for profilers.
 *
 * Formats: /proc/kallsyms is "ADDRESS TYPE NAME [MODULE]" by line, hexadecimal,
 * sorted or not; /tmp/perf-PID.map is "START SIZE NAME", hexadecimal, the name
 * being the rest of the line (tools/perf/Documentation/jit-interface.txt in
 * Linux). Malformed lines are skipped, names are cut at ADDRESS_NAMES_LENGTH bytes, at most
 * ADDRESS_NAMES_MAX names are kept, and at most ADDRESS_NAMES_BYTES are read of a file, which may grow
 * meanwhile. In a perf map later lines win over earlier ones that they overlap: a program appends a
 * line for new code, but does not remove the line of the code that it overwrites.
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
 * The caller keeps @file. They return NULL without memory. A file without usable lines gives an
 * object without names, and so does the file of a kernel that hides its addresses (all zeros).
 */
struct address_names *address_names_kernel(FILE *file);
struct address_names *address_names_perf_map(FILE *file);
void address_names_free(struct address_names *names);

size_t address_names_count(const struct address_names *names);

/* address_names_is_bpf - is @address in a BPF program, by the kernel's symbols? False for a perf map. */
bool address_names_is_bpf(const struct address_names *names, uint64_t address);

/*
 * address_names_find - the name of the function at @address; NULL if none is known
 *
 * The kernel's symbols have no size: each reaches to the next one, the last one
 * 64 KiB. The text is owned by @names.
 */
const char *address_names_find(const struct address_names *names, uint64_t address);

#endif /* PROFBPF_LIB_ELF_ADDRESS_NAMES_H */
