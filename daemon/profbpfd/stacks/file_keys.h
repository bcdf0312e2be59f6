/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_keys.h - what tells a file from others
 *
 * Its device, inode, size and instants, or its build id, which copies share. Anybody can write down another file's build id, so
 * only files of one owner are the same by that.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/elf/elf_file.h"

/* Compared as bytes: what does not count is 0. */
struct file_key {
	uint64_t dev, inode, size, owner; /* by build id the device, the inode and the instants are 0 */
	uint64_t derived; /* 1: with rules from its instructions, if there are any */
	uint64_t refused; /* 0, or one more than the user to whom it was refused: another one may have room for it */
	int64_t mtime_ns, ctime_ns;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
};

struct file_keys {
	struct file_key by_stat, by_id;
	bool has_id;
};

/* file_keys_of - of @elf, which is as @st says */
struct file_keys file_keys_of(const struct elf_file *elf, const struct stat *st);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_FILE_KEYS_H */
