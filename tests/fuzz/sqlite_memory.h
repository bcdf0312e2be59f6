/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_memory.h - an allocator for SQLite that is cheaper for a fuzzer than the sanitizer's.
 *
 * SQLite is not instrumented, so checks of its memory find little; fuzz_import.c, which does not use this
 * allocator, checks the memory that SQLite returns.
 */
#ifndef PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H
#define PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H

/* Called before any other use of SQLite; for one thread only. */
void sqlite_memory_use(void);

#endif /* PROFBPF_TESTS_FUZZ_SQLITE_MEMORY_H */
