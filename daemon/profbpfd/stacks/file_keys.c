/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/file_keys.h"

#include <string.h>

struct file_keys file_keys_of(const struct elf_file *elf, const struct stat *st)
{
	struct file_keys keys = { .by_stat = { .dev = st->st_dev,
					       .inode = st->st_ino,
					       .size = (uint64_t)st->st_size,
					       .owner = st->st_uid,
					       .mtime_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec,
					       .ctime_ns = st->st_ctim.tv_sec * 1000000000ll + st->st_ctim.tv_nsec } };
	const uint8_t *id;
	size_t id_size = elf_file_build_id(elf, &id);

	keys.by_id = (struct file_key){ .size = keys.by_stat.size, .owner = keys.by_stat.owner };
	keys.has_id = id_size;
	if (id_size)
		memcpy(keys.by_id.build_id, id, id_size);
	return keys;
}
