/* SPDX-License-Identifier: Apache-2.0 */
/* encode_records.h - the part of encode.h for records that come in millions. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_RECORDS_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_RECORDS_H

#include "daemon/profbpfd/capture/sleep_objects.h"
#include "daemon/profbpfd/encode/coder.h"
#include "daemon/profbpfd/encode/message_buffer.h"
#include "daemon/profbpfd/encode/packed.h"
#include "daemon/profbpfd/host/interrupt_names.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/texts.h"
#include "lib/base/strings.h"

#define RECORD_COLUMNS 16
#define RECENT_TEXTS 256 /* a power of two */

/* Ids of strings in calls of this batch; the last bits of a key give its place. */
struct recent_texts {
	uint64_t key[RECENT_TEXTS]; /* 0 = none */
	uint32_t id[RECENT_TEXTS];
};

/* All zeros at first; kept from batch to batch. */
struct encode_records {
	struct packed column[RECORD_COLUMNS];
	struct coder shapes;	/* rows that are equal except for their times and values */
	struct coder values;	/* arguments and returned values of calls */
	struct packed_message message;
	struct recent_texts texts;
	struct sleep_objects *objects;
	struct interrupt_names interrupts;
};

/*
 * encode_calls, encode_switches, encode_wakes - encode a batch of calls, of switches, of wake-ups
 *
 * @out points into @e. Return 0 or -ENOMEM.
 */
int encode_calls(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct texts *texts, struct encoded *out);
int encode_switches(struct encode_records *e, const struct item *item,
		    struct string_table *strings, struct encoded *out);
int encode_wakes(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct encoded *out);
void encode_records_free(struct encode_records *e);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_ENCODE_RECORDS_H */
