/* SPDX-License-Identifier: Apache-2.0 */
/* encode_stack.h - converts rows of samples and sleeps to columns. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_STACK_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_STACK_H

#include "daemon/profbpfd/encode/message_buffer.h"
#include "daemon/profbpfd/session/item.h"

/* encode_stacks - encodes an item of kind STACKS; @out points into @buffer. 0 or -ENOMEM */
int encode_stacks(struct message_buffer *buffer, const struct item *item, struct encoded *out);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_STACK_H */
