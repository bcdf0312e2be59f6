/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - slices on tracks, of files that do not say what a device is: which are tasks of one.
 *
 * If some processes call themselves devices ("/device:GPU:0" of TensorFlow and JAX), only they are
 * taken; else, if some tracks do ("gpu0", "stream 7"), or their processes ("6 GPU0" of rocprof),
 * only those; else everything, and that is said. Each process is a device, each track a stream.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_SLICES_H
#define PROFBPF_ANALYZER_IMPORT_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

struct slice {
	int64_t start_ns;
	int64_t dur_ns; /* -1 = it has not ended */
	uint32_t track; /* index into tracks */
	uint32_t name; /* strings of the model */
};

struct slice_track {
	uint64_t device; /* number of its process */
	uint64_t stream; /* its own number */
	uint32_t process; /* strings: names */
	uint32_t name;
	uint32_t open; /* latest begun slice without an end, MAP_NONE = none */
	uint32_t open_count;
	bool taken;
};

/* Zeroed and then slices_open(). */
struct slices {
	struct import *import;
	struct import_rows rows;
	const char *source; /* device.source */
	uint8_t clock; /* Profbpf__DeviceClock; may be set until slices_finish() */
	MODEL_ARRAY(struct slice_track) tracks;
	MODEL_ARRAY(struct slice) slices;
	MODEL_ARRAY(uint32_t) outer; /* per slice: the one begun before it on its track */
};

void slices_open(struct slices *slices, struct import *import, const char *source, uint8_t clock);
void slices_free(struct slices *slices);

/* Row of a new track; names and numbers may be set until slices_finish(). INDEX_NONE without memory. */
uint32_t slices_track(struct slices *slices);

/* A whole slice; one that begins; the end of the one that began last on the track. 0 or -ENOMEM. */
int slices_add(struct slices *slices, uint32_t track, int64_t start_ns, int64_t dur_ns,
	       uint32_t name);
int slices_begin(struct slices *slices, uint32_t track, int64_t start_ns, uint32_t name);
int slices_end(struct slices *slices, uint32_t track, int64_t end_ns);

/* When all is read: into the model. 0 or -ENOMEM. */
int slices_finish(struct slices *slices);

#endif /* PROFBPF_ANALYZER_IMPORT_SLICES_H */
