/* SPDX-License-Identifier: Apache-2.0 */
/* encode_records.h - the part of encode.h for records that come in millions. */
#ifndef PROFBPF_DAEMON_ENCODE_RECORDS_H
#define PROFBPF_DAEMON_ENCODE_RECORDS_H

#include "daemon/profbpfd/encode.h"
#include "daemon/profbpfd/packed.h"

#define RECORD_COLUMNS 11

/* All zeros at first; kept from batch to batch. */
struct encode_records {
	struct packed column[RECORD_COLUMNS];
	struct packed_message message;
};

/*
 * encode_calls, encode_switches, encode_wakes - a batch of such records
 *
 * @out points into @e. Return 0 or -ENOMEM.
 */
int encode_calls(struct encode_records *e, const struct item *item, struct string_table *strings,
		 struct texts *texts, struct encoded *out);
int encode_switches(struct encode_records *e, const struct item *item, struct encoded *out);
int encode_wakes(struct encode_records *e, const struct item *item, struct encoded *out);
void encode_records_free(struct encode_records *e);

#endif /* PROFBPF_DAEMON_ENCODE_RECORDS_H */
