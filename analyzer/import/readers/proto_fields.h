/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto_fields.h - reads protobuf field by field, without building messages.
 *
 * An XSpace or a Perfetto trace is one message as large as the file; libraries that unpack it whole take
 * several times its size. Here a field of the root is in memory at a time, and inside it
 * nothing is copied. Wire format: protobuf.dev/programming-guides/encoding.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message, or what is left of it. */
struct proto_message {
	const uint8_t *at;
	const uint8_t *end;
};

struct proto_field {
	uint32_t number;
	uint64_t value; /* of numbers; fixed ones as their bits */
	struct proto_message bytes; /* of texts and messages; empty of numbers */
	bool cut; /* of the root: the file ended inside of it, these are its first bytes */
};

/* proto_next - the next field; 1, 0 at the end, -1 if the rest cannot be read (field->number may tell) */
int proto_next(struct proto_message *message, struct proto_field *field);

/* proto_length - bytes of a text; a text is not NUL-terminated */
size_t proto_length(const struct proto_message *bytes);

/* proto_is - is a text this one? */
bool proto_is(const struct proto_message *bytes, const char *text);

/*
 * proto_file_each - call @field for each field of the message that file @path, plain or gzip, is
 *
 * Values are valid during the call. Returns 0, what @field returned if that is not 0, or a
 * negative errno with @error; -EBADMSG if the file ends inside a field, is none, or unpacks to too much (input_file.h),
 * after the fields before that and what is there of that one.
 */
int proto_file_each(const char *path, int (*field)(void *context, const struct proto_field *field),
		    void *context, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_PROTO_FIELDS_H */
