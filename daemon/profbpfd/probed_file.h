/* SPDX-License-Identifier: Apache-2.0 */
/* probed_file.h - the functions of one file that the catalogs want, and where to probe them. */
#ifndef PROFBPF_DAEMON_PROBED_FILE_H
#define PROFBPF_DAEMON_PROBED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/catalog.h"
#include "lib/elf_file.h"
#include "lib/instruction.h"

struct probed_function {
	const struct catalog_function *entry;
	char *name;
	uint64_t offset;		/* of the probed instruction, in the file */
	enum instruction_class class;
};

struct probed_file {
	struct probed_function *functions;
	size_t count;
	size_t indirect;		/* wanted, but only found as IFUNC resolvers: not probed */
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_size;
};

/*
 * probed_file_read - find the wanted functions of an ELF file
 *
 * One entry per address: of several names for the same code the one that a
 * catalog names exactly. Returns 0, also when nothing is wanted or the file is
 * no usable ELF file (count 0, @error says why it is not usable), or -ENOMEM.
 */
int probed_file_read(struct probed_file *file, int fd, const char *path,
		     const struct catalogs *catalogs, bool optimized_nop, char *error,
		     size_t error_size);
void probed_file_free(struct probed_file *file);

#endif /* PROFBPF_DAEMON_PROBED_FILE_H */
