/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ifunc.h - the functions that a running process's IFUNC symbols resolve to.
 *
 * The code of an IFUNC symbol selects a function when the loader binds the symbol. The
 * selected address is in the global offset tables of its callers: of libraries that
 * import it, and of its own library.
 */
#ifndef PROFBPF_DAEMON_COMMON_IFUNC_H
#define PROFBPF_DAEMON_COMMON_IFUNC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/probed_file.h"
#include "lib/elf/process_maps.h"

/*
 * ifunc_resolve - replaces refused IFUNCs of a file by the functions that they resolve to in a process
 *
 * @file was read from @fd, which @map of @pid maps; @maps are all mapped files. An address in some library's table
 * that is in the same file becomes a probed function under the IFUNC's name; there are several if tables differ. An
 * IFUNC stays refused if no library imports it (it is found by dlsym()), if it is bound lazily and was not called
 * yet, if the selected function is in another file, and if the tables are not in memory. Reads nothing if no
 * IFUNC is refused. Returns 0, also if nothing was found; -ENOMEM.
 */
int ifunc_resolve(struct probed_file *file, int fd, pid_t pid, const struct process_maps *maps,
		  const struct process_map *map, bool optimized_nop);

#endif /* PROFBPF_DAEMON_COMMON_IFUNC_H */
