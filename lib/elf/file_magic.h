/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_magic.h - recognises the format of a file by its first bytes, for messages about files of the wrong kind.
 */
#ifndef PROFBPF_LIB_ELF_FILE_MAGIC_H
#define PROFBPF_LIB_ELF_FILE_MAGIC_H

#include <stddef.h>
#include <stdint.h>

#define FILE_MAGIC_BYTES 64 /* this many first bytes are enough */

enum file_magic_class {
	FILE_MAGIC_OTHER, /* of no use to profbpf */
	FILE_MAGIC_PACKED, /* compressed or an archive: may hold a trace */
	FILE_MAGIC_DEVICE, /* a format that device profilers write */
};

struct file_magic {
	const char *what; /* with its article: "a JPEG image" */
	enum file_magic_class class;
};

/*
 * file_magic_of - recognises a file by its first @size bytes
 *
 * Returns NULL if the format is unknown.
 */
const struct file_magic *file_magic_of(const uint8_t *data, size_t size);

#endif /* PROFBPF_LIB_ELF_FILE_MAGIC_H */
