/* SPDX-License-Identifier: Apache-2.0 */
/* message_buffer.h - messages of proto/trace.proto, packed into a buffer that is used again. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_MESSAGE_BUFFER_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_MESSAGE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/* A packed message; the packer owns data, which is valid until its next use. */
struct encoded {
	Profbpf__Packet__Kind kind;
	const void *data;
	size_t size;
};

/* All zeros is empty. */
struct message_buffer {
	uint8_t *data;
	size_t capacity;
};

/* message_pack - @out points into @buffer; 0 or -ENOMEM */
int message_pack(struct message_buffer *buffer, Profbpf__Packet__Kind kind,
		 const ProtobufCMessage *message, struct encoded *out);
void message_buffer_free(struct message_buffer *buffer);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_MESSAGE_BUFFER_H */
