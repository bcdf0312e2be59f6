/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_writer.h - streaming writer of Chrome's JSON trace events.
 *
 * The trace is a bare array of events, one a line, so that a torn file can still
 * be read. Instants are microseconds since the export's window began with exactly
 * three decimals, made by integer arithmetic: readers keep them in doubles, which
 * cannot hold nanoseconds since 1970. Errors are sticky; chrome_writer_close()
 * returns the first one.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_WRITER_H
#define PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/strings.h"

struct chrome_writer {
	FILE *out;
	char *buffer; /* buffer of the stream */
	uint64_t base_ns; /* instant 0 */
	uint64_t events;
	bool in_args;
	struct string_table *texts; /* quoted so far */
	char **quoted; /* by id in texts */
	uint32_t quoted_capacity;
	int error;
};

/* Returns 0 or a negative errno. chrome_writer_close() is to be called in any case. */
int chrome_writer_open(struct chrome_writer *writer, const char *path, uint64_t base_ns);

/* End the array, close the file. Returns 0 or the first error: a negative errno. */
int chrome_writer_close(struct chrome_writer *writer);

/* A text as a JSON string with its quotes, valid UTF-8, owned by the writer. */
const char *chrome_quote(struct chrome_writer *writer, const char *text);

/*
 * One event: chrome_event(), any of the fields, arguments last, chrome_event_end().
 * @phase: 'X' complete, 'M' metadata, 's' and 'f' flows, 'C' counter, 'i' instant.
 * @name and @category are plain text; category may be NULL.
 */
void chrome_event(struct chrome_writer *writer, char phase, const char *name, const char *category,
		  uint32_t pid, uint32_t tid);
void chrome_time(struct chrome_writer *writer, uint64_t ns);
void chrome_duration(struct chrome_writer *writer, uint64_t ns);
void chrome_id(struct chrome_writer *writer, uint64_t id);
/* A field given as JSON text, e.g. "\"bp\":\"e\"". */
void chrome_raw(struct chrome_writer *writer, const char *json);

void chrome_arg_uint(struct chrome_writer *writer, const char *key, uint64_t value);
void chrome_arg_int(struct chrome_writer *writer, const char *key, int64_t value);
/* Writes a string "0x...", because JSON numbers do not hold 64 bits. */
void chrome_arg_hex(struct chrome_writer *writer, const char *key, uint64_t value);
void chrome_arg_true(struct chrome_writer *writer, const char *key);
void chrome_arg_text(struct chrome_writer *writer, const char *key, const char *value);
/* Writes a number with three decimals. */
void chrome_arg_decimal(struct chrome_writer *writer, const char *key, double value);

void chrome_event_end(struct chrome_writer *writer);

#endif /* PROFBPF_ANALYZER_EXPORT_CHROME_CHROME_WRITER_H */
