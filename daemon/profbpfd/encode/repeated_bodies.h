/* SPDX-License-Identifier: Apache-2.0 */
/* repeated_bodies.h - packed messages that every segment of a trace repeats, in the order of their arrival. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_REPEATED_BODIES_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_REPEATED_BODIES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/session/item.h"

struct repeated_body {
	struct repeated_body *next;
	Profbpf__Packet__Kind kind;
	size_t size;
	uint8_t data[];
};

/* All zeros: none yet. */
struct repeated_bodies {
	struct repeated_body *first, *last;
};

/* repeated_bodies_add - adds a copy of an ITEM_BODY's message; 0 or -ENOMEM */
int repeated_bodies_add(struct repeated_bodies *bodies, const struct item *item);

/* repeated_bodies_free - frees all messages; the list is empty then */
void repeated_bodies_free(struct repeated_bodies *bodies);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_REPEATED_BODIES_H */
