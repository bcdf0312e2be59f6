/* SPDX-License-Identifier: Apache-2.0 */
/* encode_block.h - the part of encode.h for page faults and block requests. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_BLOCK_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_BLOCK_H

#include "daemon/profbpfd/encode/message_buffer.h"
#include "daemon/profbpfd/host/mapped_files.h"
#include "daemon/profbpfd/session/item.h"
#include "lib/base/strings.h"

/*
 * encode_faults, encode_blocks - encode a batch of page faults, of block requests
 *
 * @out points into @buffer. Return 0 or -ENOMEM.
 */
int encode_faults(struct message_buffer *buffer, const struct item *item, struct mapped_files *files,
		  struct string_table *strings, struct encoded *out);
int encode_blocks(struct message_buffer *buffer, const struct item *item, struct encoded *out);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_BLOCK_H */
