/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_files.h - files and folders that importers find below VIRTUAL_ROOT, though no disk has them.
 *
 * Instead of input_file.c, whose own work is fuzz_import.c's, and of the C library's functions for files
 * and folders (with the linker's --wrap, see tests.mk), which still do what they do for other paths.
 * What else an importer asks the kernel for, random numbers and the size of the memory, is here, too:
 * the same at each input.
 */
#ifndef PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H
#define PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H

#include <stddef.h>

#include "tests/fuzz/input.h"

/* As deep as importers look upwards. */
#define VIRTUAL_ROOT "/fuzz/1/2/3"
#define VIRTUAL_FILES_MAX 16

/* No files, but @folder if not NULL; @part: what input_file_part() says from now on. */
void virtual_files_clear(const char *folder, size_t part);

/* A file, instead of one of that path; both must stay as they are until the next clear. */
void virtual_files_put(const char *path, struct input bytes);

#endif /* PROFBPF_TESTS_FUZZ_VIRTUAL_FILES_H */
