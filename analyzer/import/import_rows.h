/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_rows.h - what importers add to the model: each thing once, by its name in the file.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H
#define PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/*
 * Who is who in one file, or in all files of one result (import_part()): its device 0 is the same in
 * each of them. Zeroed is empty.
 */
struct import_identities {
	struct map processes; /* pid -> row */
	struct map threads; /* hash of process row and the file's thread id -> row */
	struct map functions; /* string id of name, and kind of scope << 32 -> row */
	struct map devices; /* the file's number -> row */
};

void import_identities_free(struct import_identities *identities);

#define IMPORT_TRACKS_MAX (1u << 20) /* of a file */
/* Of a file. Each new process is looked for among all, and analyses look at pairs of devices. */
#define IMPORT_PROCESSES_MAX (1u << 15)
#define IMPORT_DEVICES_MAX (1u << 14)

/*
 * Streams and threads that a file told of. Each takes more room and time than an event does, so that a
 * file with another track for each event would take all of the memory. Zeroed is empty.
 */
struct import_tracks {
	struct map seen;
	uint64_t last; /* key of the event before, which is most often the same */
};

void import_tracks_free(struct import_tracks *tracks);

/*
 * import_track - an event of this track (@kind: any number for tracks of one kind, @owner: a device or process)
 *
 * Returns 0, -ENOMEM, or -E2BIG with import->error if the file has too many.
 */
int import_track(struct import *import, struct import_tracks *tracks, unsigned int kind,
		 uint64_t owner, uint64_t number);

/*
 * import_device_step - a step of a device, whose times are usable
 *
 * A backward pass that does not end within it is unknown, and a finding. Returns 0 or -ENOMEM.
 */
int import_device_step(struct import *import, const struct device_step *step);

/* import_too_many_tracks - import->error says so. Returns -E2BIG. */
int import_too_many_tracks(struct import *import);

/* Zeroed and then import_rows_begin(). */
struct import_rows {
	struct import *import;
	/* The thread that was asked for last, and 1 + its row: the next one mostly is the same. */
	uint64_t last_tid;
	uint32_t last_pid;
	uint32_t last_thread;
	struct import_identities own; /* unused where import->shared is there */
	struct import_tracks streams; /* of tasks that import_task() added */
	struct map same; /* hash of number and source -> row that import_same_device() found */
};

void import_rows_begin(struct import_rows *rows, struct import *import);
void import_rows_free(struct import_rows *rows);

/*
 * import_task - add a task of a device
 *
 * Returns 0, -ENOMEM, or -E2BIG with import->error if the file has too many streams.
 */
int import_task(struct import_rows *rows, const struct device_task *task);

/*
 * Row of a process, thread, function or device, made when it is new; INDEX_NONE without memory, and with import->error
 * if the file has too many threads, processes or devices.
 *
 * With a trace, processes and threads are those of the trace, and INDEX_NONE where it has none.
 * @tid need not fit 32 bits: thread ids of libraries (pthread_self()) are kept as their low half.
 */
uint32_t import_process(struct import_rows *rows, uint32_t pid);
uint32_t import_thread(struct import_rows *rows, uint32_t pid, uint64_t tid, uint64_t ts_ns);
/* The row of a thread that import_thread() made already, or INDEX_NONE. Without a trace only. */
uint32_t import_known_thread(struct import_rows *rows, uint32_t pid, uint64_t tid);
uint32_t import_function(struct import_rows *rows, const char *runtime, const char *name,
			 uint8_t kind);

/* The row of a function that import_function() made already, by its name as a string of the model; or INDEX_NONE. */
uint32_t import_known_function(struct import_rows *rows, uint32_t name);

/* The same of a kind of scope (enum host_scope): names of runtimes and of what the host was in are kept apart. */
uint32_t import_function_row(struct import_rows *rows, const char *runtime, const char *name,
			     uint8_t kind, uint8_t scope);

/*
 * import_scope - what a thread of the host was in: a call of the file's own timeline of the host
 *
 * @scope: enum host_scope, not SCOPE_NONE. Nothing is done with a trace, which knows better. Returns 0 or -ENOMEM.
 */
int import_scope(struct import_rows *rows, uint32_t thread, const char *name, uint8_t scope,
		 uint64_t start_ns, uint64_t end_ns);

/* scope_of_range - the kind of a range by its name: SCOPE_OPTIMIZER, SCOPE_DATA or SCOPE_RANGE */
uint8_t scope_of_range(const char *name);

/* scope_of_operator - the kind of what a framework of PyTorch's sort calls an operator: until 2022 ranges are, too */
uint8_t scope_of_operator(const char *name);

/* scope_of_python - the kind of a function of Python by its name, "train.py(12): step" or "<built-in ...>" */
uint8_t scope_of_python(const char *name);

/* @number: the file's own; @process: row or INDEX_NONE; @clock: Profbpf__DeviceClock of the file */
uint32_t import_device(struct import_rows *rows, uint64_t number, uint32_t process,
		       const char *name, const char *kind, const char *source, uint8_t clock);

/*
 * import_same_device - the row of a device that another file of the same result told of
 *
 * By number and source. Made, if there is none, or more than one; INDEX_NONE without memory.
 */
uint32_t import_same_device(struct import_rows *rows, uint64_t number, const char *name,
			    const char *kind, const char *source, uint8_t clock);

/*
 * import_marks_of_device - marks of steps are of the file's device, if it told of one only
 *
 * Rows from @first_device and @first_mark on are the file's.
 */
void import_marks_of_device(struct model *model, uint32_t first_device, uint32_t first_mark);

/*
 * import_host_time - an instant of the file's clock as one of the model's
 *
 * The same instant if the file is alone; else CLOCK_MONOTONIC by the trace's snapshots, 0 if
 * that is not possible.
 */
uint64_t import_host_time(const struct import_rows *rows, uint8_t clock, uint64_t ns);

/*
 * import_instants - a time of a file's clock, moved, as instants of the model
 *
 * False for one that cannot be: it begins before 1 (0 stands for "not reported"), ends before it begins, or is
 * beyond what can be counted.
 */
bool import_instants(int64_t start_ns, int64_t end_ns, int64_t move_ns, uint64_t *from,
		     uint64_t *to);

/* The same of a time whose duration is told. */
bool import_instants_of(int64_t start_ns, int64_t dur_ns, int64_t move_ns, uint64_t *from,
			uint64_t *to);

/* IMPORT_EARLIEST - *@first_ns is then at most the start_ns of each row of a MODEL_ARRAY */
#define IMPORT_EARLIEST(rows, first_ns)                                        \
	do {                                                                   \
		for (uint32_t i_ = 0; i_ < (rows)->count; i_++)                \
			if ((rows)->row[i_].start_ns < *(first_ns))            \
				*(first_ns) = (rows)->row[i_].start_ns;        \
	} while (0)

/* By how much all times of a file are moved whose first one is this, so that it is 1 at least; 0 if that cannot be. */
int64_t import_move_of(int64_t first_ns);

/*
 * call_kind_of_name - Profbpf__Function__Kind of a runtime's function by its name
 *
 * For CUDA's and HIP's runtime and driver calls, and those of Intel's Unified Runtime and Level Zero, as profilers write
 * them, with or without a
 * version suffix ("cuLaunchKernel", "hipMemcpyWithStream", "cudaMemcpyAsync_v3020").
 */
uint8_t call_kind_of_name(const char *name);

/* Is it a kernel of a communication library (nccl, rccl, hccl, oneccl)? */
int is_communication_name(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H */
