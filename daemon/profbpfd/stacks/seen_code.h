/* SPDX-License-Identifier: Apache-2.0 */
/* seen_code.h - addresses at which a process was recently seen to run, whose tables are made first. */
#ifndef PROFBPF_DAEMON_PROFBPFD_STACKS_SEEN_CODE_H
#define PROFBPF_DAEMON_PROFBPFD_STACKS_SEEN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/elf/code_maps.h"

#define SEEN_CODE_MAX 32 /* the most recent addresses, which are kept */

struct seen_code {
	uint64_t address[SEEN_CODE_MAX];
	size_t count; /* all addresses since the last reset */
};

void seen_code_add(struct seen_code *seen, uint64_t address);

/* seen_code_first - moves the mappings with seen addresses to the front of @places, @count indices into @maps; drops the addresses */
void seen_code_first(struct seen_code *seen, const struct code_maps *maps, uint32_t *places, uint32_t count);

#endif /* PROFBPF_DAEMON_PROFBPFD_STACKS_SEEN_CODE_H */
