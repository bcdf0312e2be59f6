/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_keys.h - keys that identify a file
 *
 * Either device, inode, size and times of change, or the build id, which copies share. Any user can copy another file's build
 * id, so files are the same by build id only if they have the same owner.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/elf/elf_file.h"

/* Compared as bytes: unused members are 0. */
struct file_key {
	uint64_t dev, inode, size, owner; /* in a key by build id the device, the inode and the times are 0 */
	uint64_t derived; /* 1: with rules from its instructions, if there are any */
	uint64_t refused; /* 0, or 1 + the user whose request was refused: another user may have room for it */
	int64_t mtime_ns, ctime_ns;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
};

struct file_keys {
	struct file_key by_stat, by_id;
	bool has_id;
};

/* file_keys_of - the keys of @elf, whose attributes are @st */
struct file_keys file_keys_of(const struct elf_file *elf, const struct stat *st);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H */
