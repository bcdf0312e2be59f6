/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/message_buffer.h"

#include <errno.h>
#include <stdlib.h>

int message_pack(struct message_buffer *buffer, Profbpf__Packet__Kind kind,
		 const ProtobufCMessage *message, struct encoded *out)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	if (size > buffer->capacity) {
		uint8_t *data = realloc(buffer->data, size);

		if (!data)
			return -ENOMEM;
		buffer->data = data;
		buffer->capacity = size;
	}
	out->kind = kind;
	out->data = buffer->data;
	out->size = protobuf_c_message_pack(message, buffer->data);
	return 0;
}

void message_buffer_free(struct message_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct message_buffer){ 0 };
}
