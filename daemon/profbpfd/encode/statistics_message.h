/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_message.h - makes message Statistics: the records that each source of a session produced, delivered and lost. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_STATISTICS_MESSAGE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_STATISTICS_MESSAGE_H

#include <stdint.h>

#include "daemon/profbpfd/session/item.h"
#include "proto/trace.pb-c.h"

/* The counts of one source. The reasons are constants. */
struct source_books {
	uint64_t produced, delivered;
	struct lost_count lost[LOST_REASONS + 2];
	uint32_t lost_count;
	/* Flight recorder: records delivered before the window, which were dropped or are outside of the request. */
	uint64_t dropped_old, dropped_room;
};

struct session_books {
	struct source_books source[TRACE_SOURCES];
	uint64_t daemon_cpu_ns;
	uint64_t bytes;
};

/* source_books_lose - adds @count lost records for @reason, a constant; does nothing if there is no room or @count is 0 */
void source_books_lose(struct source_books *books, const char *reason, uint64_t count);

/* source_books_lost - for all reasons together */
uint64_t source_books_lost(const struct source_books *books);

/*
 * source_books_close - computes the counts of a source
 *
 * @count comes from its reader; @delivered and @unwritten are the writer's counts. @final: there will be no more records.
 */
void source_books_close(struct source_books *books, const struct source_count *count, uint64_t delivered,
			uint64_t unwritten, bool final);

/*
 * session_books_since - subtracts the counts @before from @books
 *
 * For each source, produced becomes the sum of delivered and lost since then: records that were waiting to be read at
 * either end belong to neither side.
 */
void session_books_since(struct session_books *books, const struct session_books *before);

struct statistics_message;

/*
 * statistics_message_new - @row has the time, the reason and the counts of unrecorded calls; @books the rest
 *
 * The caller owns both, and they outlive the message. NULL without memory. Free with statistics_message_free().
 */
struct statistics_message *statistics_message_new(const struct statistics_row *row, const struct session_books *books);
const ProtobufCMessage *statistics_message_base(const struct statistics_message *message);
void statistics_message_free(struct statistics_message *message);

/* Names of the sources in traces: "api", "ioctl", "sched", "task", "device". */
const char *trace_source_name(unsigned int source);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_STATISTICS_MESSAGE_H */
