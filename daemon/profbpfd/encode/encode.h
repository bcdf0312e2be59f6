/* SPDX-License-Identifier: Apache-2.0 */
/* encode.h - converts batches of raw records to the columns of proto/trace.proto. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/encode/message_buffer.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/texts.h"
#include "lib/base/strings.h"

struct encode;

/* encode_new - the state that is kept between batches; NULL without memory. encode_free() accepts NULL. */
struct encode *encode_new(void);

/* encode_limit - names files only of processes that @right, which the caller keeps, allows to look into */
void encode_limit(struct encode *encode, const struct right *right);

void encode_free(struct encode *encode);

/*
 * encode_item - encodes one item of kind RECORDS, TASKS, DEVICE, STACKS, COVERAGE, ENDS or SHED
 *
 * Strings are added to @strings, whose ids the message then uses; @texts holds
 * the string arguments of calls. Returns 0, -ENOMEM, or -EINVAL for an item of
 * another kind.
 */
int encode_item(struct encode *encode, const struct item *item, struct string_table *strings,
		struct texts *texts, struct encoded *out);

/*
 * encode_objects - the objects that the last item referred to for the first time in the segment
 *
 * To be written before that item, whose message stays valid. Returns false if there are none.
 */
bool encode_objects(struct encode *encode, struct encoded *out);

/* encode_segment - a new segment begins: objects must be described again */
void encode_segment(struct encode *encode);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_H */
