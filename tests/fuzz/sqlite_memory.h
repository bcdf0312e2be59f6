/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_memory.h - memory for SQLite that costs a fuzzer less than the sanitizer's.
 *
 * SQLite is not instrumented, so that there is little to be found in its memory; what it hands out is
 * looked at by fuzz_import.c, which does without this.
 */
#ifndef PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H
#define PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H

/* Before anything else of SQLite is used; for one thread. */
void sqlite_memory_use(void);

#endif /* PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H */
