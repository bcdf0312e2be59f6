/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_read.h - reads a Perfetto trace back, for tests of the writer.
 *
 * The reader is independent of the writer: it decodes with protobuf-c and a schema that has upstream's names and
 * numbers. It checks the rules that Perfetto's own reader applies silently (a slice's end closes the newest slice of
 * its track), and fails the test if one is broken.
 */
#ifndef PROFBPF_TESTS_UNIT_PERFETTO_READ_H
#define PROFBPF_TESTS_UNIT_PERFETTO_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/perfetto_subset.pb-c.h"

struct read_slice {
	uint64_t track;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *name;
	const char *category; /* "" = none */
	uint32_t depth; /* depth on its track, 0 = outermost */
	const Perfetto__TrackEvent *event;
};

struct read_track {
	uint64_t uuid;
	const Perfetto__TrackDescriptor *descriptor;
};

/* One switch on a CPU, in the verbose or compact form. */
struct read_switch {
	uint32_t cpu;
	uint64_t ns;
	int64_t prev_state;
	int32_t next_tid;
	const char *next_comm;
	bool verbose;
};

struct read_wake {
	uint32_t cpu;
	uint64_t ns;
	int32_t tid;
	int32_t waker; /* -1: the thread that is shown on the CPU */
	uint32_t common_flags;
};

struct perfetto_read {
	Perfetto__Trace **chunks;
	size_t chunk_count;
	Perfetto__TracePacket **packets; /* of all chunks, in order */
	size_t packet_count;
	char *texts[4][4096]; /* interned texts: categories, events, args, values */
	struct read_slice *slices; /* in order of their begin event in the file */
	size_t slice_count;
	struct read_track *tracks;
	size_t track_count;
	struct read_switch *switches; /* in order of (CPU, time) */
	size_t switch_count;
	struct read_wake *wakes;
	size_t wake_count;
	size_t counters;
	size_t instants;
};

/* Reads a file; fails the test if it is not a valid trace. The caller frees the result with perfetto_read_free(). */
struct perfetto_read *perfetto_read(const char *path);
void perfetto_read_free(struct perfetto_read *read);

const struct read_track *read_track(const struct perfetto_read *read, uint64_t uuid);

/* Returns an argument of a slice by name; NULL if it has none. */
const Perfetto__DebugAnnotation *read_arg(const struct perfetto_read *read,
					  const struct read_slice *slice, const char *name);
const char *read_value(const struct perfetto_read *read, uint64_t iid);

/* Returns a trace attribute's text, or its number as text; NULL if there is none. Valid until the next call. */
const char *read_attribute(const struct perfetto_read *read, const char *key);

#endif /* PROFBPF_TESTS_UNIT_PERFETTO_READ_H */
