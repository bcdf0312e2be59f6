/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_fields.h - reads protobuf field by field, without building messages.
 *
 * An XSpace or a Perfetto trace is one message as large as the file; libraries that unpack it whole take several
 * times its size. Here one field of the root is in memory at a time, and nothing in it is copied. Wire format:
 * protobuf.dev/programming-guides/encoding.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message, or its unread rest. */
struct proto_message {
	const uint8_t *at;
	const uint8_t *end;
};

struct proto_field {
	uint32_t number;
	uint64_t value; /* of numbers; of fixed-size ones the bits */
	struct proto_message bytes; /* of texts and messages; empty for numbers */
	bool cut; /* root only: the file ended inside the field; these are its first bytes */
};

/*
 * proto_next - reads the next field; returns 1, 0 at the end, -1 if the rest cannot be read (field->number may be
 * set)
 */
int proto_next(struct proto_message *message, struct proto_field *field);

/* proto_length - number of bytes of a text; texts are not NUL-terminated */
size_t proto_length(const struct proto_message *bytes);

/* proto_is - is the field's text equal to @text? */
bool proto_is(const struct proto_message *bytes, const char *text);

/*
 * proto_file_each - call @field for each field of the message in file @path, plain or gzip
 *
 * Values are valid during the call. Returns 0, the value of @field if it is not 0, or a negative errno with @error;
 * -EBADMSG if the file ends inside a field, is no message, or decompresses to too much (input_file.h), after the
 * complete fields and the existing bytes of the incomplete one.
 */
int proto_file_each(const char *path, int (*field)(void *context, const struct proto_field *field),
		    void *context, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H */
