/* SPDX-License-Identifier: Apache-2.0 */
/* import_rows.h - adds rows of importers to the model: each thing once, by its name in the file. */
#ifndef PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H
#define PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H

#include <stdint.h>

#include "analyzer/import/importer.h"
#include "lib/base/map.h"

/*
 * Rows of the processes, threads, functions and devices of one file, or of all files of one result (import_part()),
 * where device 0 is the same in each file. Zeroed is empty.
 */
struct import_identities {
	struct map processes; /* pid -> row */
	struct map threads; /* hash of process row and the file's thread id -> row */
	struct map functions; /* string id of name, and kind of scope << 32 -> row */
	struct map devices; /* the file's number -> row */
};

void import_identities_free(struct import_identities *identities);

#define IMPORT_TRACKS_MAX (1u << 20) /* per file */
/* Limits per file. Each new process is searched for among all, and analyses compare pairs of devices. */
#define IMPORT_PROCESSES_MAX (1u << 15)
#define IMPORT_DEVICES_MAX (1u << 14)

/*
 * Streams and threads seen in a file. Each takes more memory and time than an event, so a file with a new track for
 * each event would use up the memory. Zeroed is empty.
 */
struct import_tracks {
	struct map seen;
	uint64_t last; /* key of the previous event, which is usually the same */
};

void import_tracks_free(struct import_tracks *tracks);

/*
 * import_track - notes an event of a track (@kind: any number for tracks of one kind, @owner: a device or process)
 *
 * Returns 0, -ENOMEM, or -E2BIG with import->error if the file has too many tracks.
 */
int import_track(struct import *import, struct import_tracks *tracks, unsigned int kind,
		 uint64_t owner, uint64_t number);

/*
 * import_device_step - add a step of a device; the caller has checked its times
 *
 * An end of the backward pass outside of the step is dropped, with a finding. Returns 0 or -ENOMEM.
 */
int import_device_step(struct import *import, const struct device_step *step);

/* import_too_many_tracks - sets import->error accordingly. Returns -E2BIG. */
int import_too_many_tracks(struct import *import);

/* Initialised with zeros, then import_rows_begin(). */
struct import_rows {
	struct import *import;
	/* The thread of the last look-up, and 1 + its row: the next look-up is usually for the same thread. */
	uint64_t last_tid;
	uint32_t last_pid;
	uint32_t last_thread;
	struct import_identities own; /* unused if import->shared is set */
	struct import_tracks streams; /* of the tasks added by import_task() */
	struct map same; /* hash of number and source -> row found by import_same_device() */
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
 * Row of a process, thread, function or device, created if it is new. Returns INDEX_NONE if out of memory, and with
 * import->error if the file has too many threads, processes or devices.
 *
 * With a trace, processes and threads are the trace's, and INDEX_NONE if the trace does not contain them. @tid need
 * not fit into 32 bits: thread ids of libraries (pthread_self()) are stored as their low half.
 */
uint32_t import_process(struct import_rows *rows, uint32_t pid);
uint32_t import_thread(struct import_rows *rows, uint32_t pid, uint64_t tid, uint64_t ts_ns);
/* The existing row of import_thread(), or INDEX_NONE. Only for imports without a trace. */
uint32_t import_known_thread(struct import_rows *rows, uint32_t pid, uint64_t tid);
uint32_t import_function(struct import_rows *rows, const char *runtime, const char *name,
			 uint8_t kind);

/* The existing row of import_function(), by the name as a string of the model; or INDEX_NONE. */
uint32_t import_known_function(struct import_rows *rows, uint32_t name);

/*
 * import_function() for a kind of scope (enum host_scope): runtime functions and scopes of the same name are
 * different rows.
 */
uint32_t import_function_row(struct import_rows *rows, const char *runtime, const char *name,
			     uint8_t kind, uint8_t scope);

/*
 * import_scope - adds a host slice: a call from the file's own timeline of the host
 *
 * @scope: enum host_scope, not SCOPE_NONE. With a trace, which has better data, it does nothing. Returns 0 or
 * -ENOMEM.
 */
int import_scope(struct import_rows *rows, uint32_t thread, const char *name, uint8_t scope,
		 uint64_t start_ns, uint64_t end_ns);

/* scope_of_range - the kind of a range by its name: SCOPE_OPTIMIZER, SCOPE_DATA or SCOPE_RANGE */
uint8_t scope_of_range(const char *name);

/*
 * scope_of_operator - the kind of a PyTorch-style operator by its name: until 2022, files record ranges as
 * operators, too
 */
uint8_t scope_of_operator(const char *name);

/* scope_of_python - the kind of a Python function by its name, "train.py(12): step" or "<built-in ...>" */
uint8_t scope_of_python(const char *name);

/* Row of a device. @number: the file's; @process: row or INDEX_NONE; @clock: Profbpf__DeviceClock of the file */
uint32_t import_device(struct import_rows *rows, uint64_t number, uint32_t process,
		       const char *name, const char *kind, const char *source, uint8_t clock);

/*
 * import_same_device - the row of a device that another file of the same result describes
 *
 * Devices are compared by number and source. Creates a row if there is no such device, or more than one. Returns
 * INDEX_NONE if out of memory.
 */
uint32_t import_same_device(struct import_rows *rows, uint64_t number, const char *name,
			    const char *kind, const char *source, uint8_t clock);

/*
 * import_marks_of_device - assigns a file's marks of steps to its device if it has only one
 *
 * Rows from @first_device and @first_mark on are the file's.
 */
void import_marks_of_device(struct model *model, uint32_t first_device, uint32_t first_mark);

/*
 * import_host_time - converts an instant of the file's clock to the model's clock
 *
 * Without a trace it is the same instant; else it is converted to CLOCK_MONOTONIC by the trace's clock snapshots.
 * Returns 0 if that is not possible.
 */
uint64_t import_host_time(const struct import_rows *rows, uint8_t clock, uint64_t ns);

/*
 * import_instants - an interval of a file's clock, shifted by @move_ns, as instants of the model
 *
 * Returns false for an impossible interval: it begins before 1 (0 stands for "not reported"), ends before it
 * begins, or overflows.
 */
bool import_instants(int64_t start_ns, int64_t end_ns, int64_t move_ns, uint64_t *from,
		     uint64_t *to);

/* import_instants() for a start and a duration. */
bool import_instants_of(int64_t start_ns, int64_t dur_ns, int64_t move_ns, uint64_t *from,
			uint64_t *to);

/* IMPORT_EARLIEST - lowers *@first_ns to the smallest start_ns of the rows of a MODEL_ARRAY */
#define IMPORT_EARLIEST(rows, first_ns)                                        \
	do {                                                                   \
		for (uint32_t i_ = 0; i_ < (rows)->count; i_++)                \
			if ((rows)->row[i_].start_ns < *(first_ns))            \
				*(first_ns) = (rows)->row[i_].start_ns;        \
	} while (0)

/* The shift that makes the first time of a file, @first_ns, at least 1; 0 if it needs none or would overflow. */
int64_t import_move_of(int64_t first_ns);

/*
 * call_kind_of_name - Profbpf__Function__Kind of a runtime's function by its name
 *
 * Knows CUDA's and HIP's runtime and driver calls, and those of Intel's Unified Runtime and Level Zero, as
 * profilers write them, with or without a version suffix ("cuLaunchKernel", "hipMemcpyWithStream",
 * "cudaMemcpyAsync_v3020").
 */
uint8_t call_kind_of_name(const char *name);

/* Is it a kernel of a communication library (nccl, rccl, hccl, oneccl)? */
int is_communication_name(const char *name);

#endif /* PROFBPF_ANALYZER_IMPORT_IMPORT_ROWS_H */
