/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.h - slices on tracks, for formats without a notion of devices: decides which slices are tasks of a device.
 *
 * Only evidence makes a device: the file's statement about a slice (enum slice_evidence), or names. If some
 * processes are named as devices ("/device:GPU:0" of TensorFlow and JAX, not "/device:CPU:0"), they are devices,
 * except their tracks that sum up others ("XLA Modules"); else tracks and processes with a device's name ("gpu0",
 * "stream 7", "6 GPU0" of rocprof, "COMPUTE AGENT [4] QUEUE [1] (GPU)", "PID:17/Worker:0/neuron_hw"; slice_words.c). Each process is a device
 * then, each track a stream. All other tracks are threads of the host: without a trace, their slices are calls, or
 * host slices if the process is "/host:CPU" of TensorFlow and JAX.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H
#define PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

/*
 * The process of torch.autograd.profiler (until PyTorch 1.8) whose threads are devices: the device time of
 * operators, between CUDA events. Nested operators are subtracted from the outer one.
 */
#define SLICES_OPERATORS "CUDA functions"

/* A file's statement about a single slice. */
enum slice_evidence { SLICE_UNTOLD, SLICE_ON_DEVICE, SLICE_ON_HOST };

struct slice {
	int64_t start_ns;
	int64_t dur_ns; /* -1 = not ended */
	uint32_t track; /* index into tracks */
	uint32_t name; /* strings of the model */
	uint32_t runtime; /* string: the runtime, if the file names it; else 0 */
	uint32_t type; /* string: type of a device's operation, "convolution"; 0 = unknown */
	uint64_t step; /* number of the step, plus 1; 0 = not a step */
	uint64_t correlation; /* of a call and of the work that it launched; 0 = unknown */
	bool operation; /* an operation of XLA: it has an hlo_op */
	bool holds_others; /* SLICES_OPERATORS, by slices_finish(): has nested ones; its self time is in other slices */
	uint8_t evidence; /* enum slice_evidence */
};

enum track_role { TRACK_HOST, TRACK_DEVICE, TRACK_STEPS, TRACK_SUM };

struct slice_track {
	uint64_t device; /* number of its process */
	uint64_t stream; /* the track's number */
	uint32_t process; /* strings: names */
	uint32_t name;
	uint32_t open; /* latest slice without an end, MAP_NONE = none */
	uint32_t open_count;
	uint32_t last; /* 1 + index of the slice added last; 0 = none */
	bool told; /* its slices have evidence that they are of a device, whatever its role */
	uint8_t role; /* enum track_role, set by slices_finish() */
};

/*
 * Processes and threads may be identified by words: such words are represented by numbers from here on, which no
 * file uses.
 */
#define SLICES_WORDS (UINT64_MAX - UINT32_MAX)

/* slices_word - the number that represents a word, a string of the model */
static inline uint64_t slices_word(uint32_t string)
{
	return UINT64_MAX - string;
}

/* slices_word_of - the string that a number represents; 0 = an ordinary number, or absent */
static inline uint32_t slices_word_of(uint64_t number)
{
	return number > SLICES_WORDS ? (uint32_t)(UINT64_MAX - number) : 0;
}

/* Initialised with zeros, then slices_open(). */
struct slices {
	struct import *import;
	struct import_rows rows;
	const char *source; /* device.source */
	bool own; /* an export of profbpf */
	bool proton; /* a trace of Triton's proton: kernels have evidence, all else is ranges of the host */
	int64_t move_ns; /* added to all times; set by slices_finish() */
	uint8_t clock; /* Profbpf__DeviceClock; may be set until slices_finish() */
	MODEL_ARRAY(struct slice_track) tracks;
	MODEL_ARRAY(struct slice) slices;
	MODEL_ARRAY(uint32_t) outer; /* per slice: the slice that was open on its track when it began */
};

void slices_open(struct slices *slices, struct import *import, const char *source, uint8_t clock);
void slices_free(struct slices *slices);

/*
 * Row of a new track; names and numbers may be set until slices_finish(). Returns INDEX_NONE if out of memory, or
 * if there are too many tracks.
 */
uint32_t slices_track(struct slices *slices);

/*
 * Adds a complete slice with times, track and name; begins a slice; ends the slice of the track that began last.
 * Returns 0 or -ENOMEM.
 */
int slices_add(struct slices *slices, const struct slice *slice);
int slices_begin(struct slices *slices, uint32_t track, int64_t start_ns, uint32_t name);
int slices_end(struct slices *slices, uint32_t track, int64_t end_ns);

/* Adds all slices to the model, after the whole file is read. Returns 0 or -ENOMEM. */
int slices_finish(struct slices *slices);

/* slices_choose - decides which tracks belong to devices; called by slices_finish() */
void slices_choose(struct slices *slices);

#endif /* PROFBPF_ANALYZER_IMPORT_GENERIC_SLICES_H */
