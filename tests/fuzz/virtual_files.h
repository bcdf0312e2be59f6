/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_files.h - files and folders in memory that importers find below VIRTUAL_ROOT.
 *
 * Replaces input_file.c, which fuzz_import.c tests, and the C library's functions for files and folders
 * (with the linker's --wrap, see tests.mk), which work as usual for other paths. Also replaces the other
 * kernel queries of importers, random numbers and the size of the memory, by values that are the same for
 * each input.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H

#include <stddef.h>

#include "tests/fuzz/input.h"

/* As deep as the number of parent folders that importers search. */
#define VIRTUAL_ROOT "/fuzz/1/2/3"
#define VIRTUAL_FILES_MAX 16

/* Removes all files; keeps @folder, if not NULL. @part: the value of input_file_part() from now on. */
void virtual_files_clear(const char *folder, size_t part);

/* Adds or replaces a file; path and bytes must stay unchanged until the next clear. */
void virtual_files_put(const char *path, struct input bytes);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H */
