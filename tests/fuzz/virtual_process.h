/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_process.h - stands in for a traced process: its files in /proc, its memory, and its root.
 *
 * What is looked for in /proc/VIRTUAL_PID is looked for in a folder on a file system in memory, which
 * is removed at the end (the linker puts __wrap_open() and others in the place of the C library's).
 * Everything ends the program where something fails that has nothing to do with the input.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H

#include <sys/types.h>

#include "tests/fuzz/input.h"

#define VIRTUAL_PID 4711
#define VIRTUAL_FILES 32 /* that a target may use */

/* virtual_process_folder - make it, at the first call; the path of the folder */
const char *virtual_process_folder(void);

/*
 * virtual_process_put - give a file of the process these bytes
 *
 * @name: below /proc/PID: "maps", "task/4711/status", "root/etc/ld.so.conf"; its folders are made.
 * Returns the file's inode. The bytes must stay until virtual_process_clear().
 */
ino_t virtual_process_put(const char *name, struct input bytes);

/* virtual_process_clear - for each input: the files that were put are empty, those with a text stay */
void virtual_process_clear(void);

/* virtual_process_text - the same with a text, which is not freed */
ino_t virtual_process_text(const char *name, const char *text);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_PROCESS_H */
