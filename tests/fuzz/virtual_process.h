/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_process.h - replaces a traced process: its files in /proc, its memory, and its root.
 *
 * Paths in /proc/VIRTUAL_PID are redirected to a folder on a file system in memory, which is removed at
 * the end (the linker replaces the C library's functions by __wrap_open() and others).
 * All functions end the program on a failure that does not depend on the input.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H

#include <sys/types.h>

#include "tests/fuzz/input.h"

#define VIRTUAL_PID 4711
#define VIRTUAL_FILES 32 /* the most files of a target */

/* virtual_process_folder - returns the path of the folder; makes it at the first call */
const char *virtual_process_folder(void);

/*
 * virtual_process_put - sets the content of a file of the process
 *
 * @name: below /proc/PID: "maps", "task/4711/status", "root/etc/ld.so.conf"; its folders are made.
 * Returns the file's inode. The bytes must stay until virtual_process_clear().
 */
ino_t virtual_process_put(const char *name, struct input bytes);

/* virtual_process_clear - called for each input: empties the files that were put, keeps those with a text */
void virtual_process_clear(void);

/* virtual_process_text - like virtual_process_put() with a text, which must never be freed */
ino_t virtual_process_text(const char *name, const char *text);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H */
