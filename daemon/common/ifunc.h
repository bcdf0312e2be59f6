/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ifunc.h - the functions that a running process's IFUNCs stand for.
 *
 * The code of an IFUNC symbol picks a function when the loader binds the symbol. The
 * address it picked stands in the global offset tables of those who call it: of
 * libraries that import it, and of its own.
 */
#ifndef PROFBPF_DAEMON_COMMON_IFUNC_H
#define PROFBPF_DAEMON_COMMON_IFUNC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/probed_file.h"
#include "lib/elf/process_maps.h"

/*
 * ifunc_resolve - replace refused IFUNCs of a file by the functions they stand for in a process
 *
 * @file was read of @fd, which @map of @pid maps; @maps are all its files. What some library's
 * table holds, and lies in the same file, becomes a probed function under the IFUNC's name: several,
 * if tables differ. Refused stay those that nobody imports (found by dlsym()), that are
 * bound when first called and were not yet, those picked in another file, and those whose tables
 * are not in memory. Reads nothing if no IFUNC is refused. Returns 0, also when nothing could be found out; -ENOMEM.
 */
int ifunc_resolve(struct probed_file *file, int fd, pid_t pid, const struct process_maps *maps,
		  const struct process_map *map, bool optimized_nop);

#endif /* PROFBPF_DAEMON_COMMON_IFUNC_H */
