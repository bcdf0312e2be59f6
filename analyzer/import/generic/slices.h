/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - slices on tracks, of files that do not say what a device is: which are tasks of one.
 *
 * Only evidence makes a device: what the file says of a slice (enum slice_evidence), or names. If some
 * processes call themselves devices ("/device:GPU:0" of TensorFlow and JAX, not "/device:CPU:0"), they
 * are, but for their tracks that sum up others ("XLA Modules"); else tracks and processes whose names
 * say it ("gpu0", "stream 7", "6 GPU0" of rocprof, "COMPUTE AGENT [4] QUEUE [1] (GPU)"; slice_words.c).
 * Each process is a device then, each track a stream. All other tracks are threads of the host: of a
 * file without a trace their slices are calls, or, in a process "/host:CPU" of TensorFlow and JAX, what threads were in.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H
#define PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

/*
 * The process of torch.autograd.profiler (until PyTorch 1.8) whose threads are devices: what operators took there, between
 * events of CUDA. Of those that others lie in, what is left is their own.
 */
#define SLICES_OPERATORS "CUDA functions"

/* What a file says of a slice by itself. */
enum slice_evidence { SLICE_UNTOLD, SLICE_ON_DEVICE, SLICE_ON_HOST };

struct slice {
	int64_t start_ns;
	int64_t dur_ns; /* -1 = it has not ended */
	uint32_t track; /* index into tracks */
	uint32_t name; /* strings of the model */
	uint32_t runtime; /* string: what called it, if the file tells; else 0 */
	uint32_t type; /* string: of a device's operation, "convolution"; 0 = not told */
	uint64_t step; /* the number of one, plus 1; 0 = it is none */
	bool operation; /* one of XLA's: it has an hlo_op */
	bool holds_others; /* from slices_finish() on: of SLICES_OPERATORS, operators lie in it; its own time is in further slices */
	uint8_t evidence; /* enum slice_evidence */
};

enum track_role { TRACK_HOST, TRACK_DEVICE, TRACK_STEPS, TRACK_SUM };

struct slice_track {
	uint64_t device; /* number of its process */
	uint64_t stream; /* its own number */
	uint32_t process; /* strings: names */
	uint32_t name;
	uint32_t open; /* latest begun slice without an end, MAP_NONE = none */
	uint32_t open_count;
	bool told; /* its slices say themselves that they are of a device: whatever its role */
	uint8_t role; /* enum track_role, from slices_finish() on */
};

/* Processes and threads may have words for numbers: numbers that no file would use stand for them, from this one on. */
#define SLICES_WORDS (UINT64_MAX - UINT32_MAX)

/* slices_word - the number that stands for a word, a string of the model */
static inline uint64_t slices_word(uint32_t string)
{
	return UINT64_MAX - string;
}

/* slices_word_of - the string that a number stands for; 0 = it is a number, or there was nothing */
static inline uint32_t slices_word_of(uint64_t number)
{
	return number > SLICES_WORDS ? (uint32_t)(UINT64_MAX - number) : 0;
}

/* Zeroed and then slices_open(). */
struct slices {
	struct import *import;
	struct import_rows rows;
	const char *source; /* device.source */
	bool own; /* an export of profbpf */
	uint8_t clock; /* Profbpf__DeviceClock; may be set until slices_finish() */
	MODEL_ARRAY(struct slice_track) tracks;
	MODEL_ARRAY(struct slice) slices;
	MODEL_ARRAY(uint32_t) outer; /* per slice: the one begun before it on its track */
};

void slices_open(struct slices *slices, struct import *import, const char *source, uint8_t clock);
void slices_free(struct slices *slices);

/* Row of a new track; names and numbers may be set until slices_finish(). INDEX_NONE without memory, or with too many. */
uint32_t slices_track(struct slices *slices);

/* A whole slice, of which times, track and name are told; one that begins; the end of the one that began last on the track. 0 or -ENOMEM. */
int slices_add(struct slices *slices, const struct slice *slice);
int slices_begin(struct slices *slices, uint32_t track, int64_t start_ns, uint32_t name);
int slices_end(struct slices *slices, uint32_t track, int64_t end_ns);

/* When all is read: into the model. 0 or -ENOMEM. */
int slices_finish(struct slices *slices);

/* slices_choose - which tracks are of devices; by slices_finish() */
void slices_choose(struct slices *slices);

#endif /* PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H */
