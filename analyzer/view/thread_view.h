/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_view.h - threads in the section of processes.
 */
#ifndef PROFBPF_ANALYZER_VIEW_THREAD_VIEW_H
#define PROFBPF_ANALYZER_VIEW_THREAD_VIEW_H

#include "analyzer/view/view.h"

/* Columns of a row with source, has_bytes and bytes: a thread or a process. */
#define KNOWN (row->source != USAGE_UNKNOWN)
#define BYTES(COLUMN)                                              \
	COLUMN(read_bytes, BYTES, "disk read", "from devices",     \
	       cell_known(row->has_bytes, row->bytes.read_bytes))  \
	COLUMN(write_bytes, BYTES, "disk written", "to devices",   \
	       cell_known(row->has_bytes, row->bytes.write_bytes)) \
	COLUMN(read_chars, BYTES, "read", "by system calls",       \
	       cell_known(row->has_bytes, row->bytes.read_chars))  \
	COLUMN(write_chars, BYTES, "written", "by system calls",   \
	       cell_known(row->has_bytes, row->bytes.write_chars))

/* The threads of a row of process_usage, with the functions they slept in. */
extern const struct view thread_view;

/* JSON: writes times by reason of a thread or of a whole process; reasons that did not occur are left out. */
void write_reasons(struct json *json, const uint64_t *reason_ns, uint64_t throttled_ns);

/*
 * Text: writes the functions in which the targets' threads slept, after the table of processes. Returns 0 or a
 * negative errno.
 */
int print_sleepers(const struct report *report);

#endif /* PROFBPF_ANALYZER_VIEW_THREAD_VIEW_H */
