/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - sizes as users write and read them: 64M, 512K, 1.5G. */
#ifndef PROFBPF_LIB_BASE_SIZE_H
#define PROFBPF_LIB_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define SIZE_MAX_BYTES (1ull << 40)

/*
 * size_parse - a decimal number of bytes with an optional unit K, M or G
 *
 * Units are powers of 1024; KiB, MiB and GiB are understood too. Returns 0 with
 * the bytes in @bytes, or -EINVAL or -ERANGE (above SIZE_MAX_BYTES) with a
 * message that quotes @text in @error.
 */
int size_parse(const char *text, uint64_t *bytes, char *error, size_t error_size);

/* size_format - for people: "812 bytes", "13.4 KiB", "64.0 MiB"; writes to @text, returns it */
char *size_format(uint64_t bytes, char *text, size_t size);

#endif /* PROFBPF_LIB_BASE_SIZE_H */
