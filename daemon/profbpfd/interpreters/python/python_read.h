/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_read.h - reads the threads and stacks of a CPython process from its memory.
 *
 * The process is not stopped: its memory changes while it is read, and may contain
 * anything. So every pointer is only ever passed to the reader, every count is
 * bounded, code objects are checked by their type, and inconsistent data are left
 * out.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_READ_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/interpreters/python/python_offsets.h"

#define PYTHON_DEPTH_MAX 64 /* recorded frames of a thread, from the innermost */
#define PYTHON_THREADS_MAX 512 /* threads of a process */
#define PYTHON_NAME_MAX 256 /* bytes of a name, with its NUL; longer names are cut */
#define PYTHON_LINES_MAX 65536 /* bytes of a line table; longer tables are not used */

/* Memory of a process. read returns 0, or another value if not all of it could be read. */
struct python_reader {
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
};

/* The version of a process' interpreter, and the addresses of its runtime. */
struct python_place {
	const struct python_offsets *offsets;
	uint64_t runtime; /* address of _PyRuntime */
	uint64_t code_type; /* address of PyCode_Type */
};

struct python_frame {
	uint64_t code; /* address of its code object */
	int64_t instruction; /* offset in its code, -1 = unknown */
};

struct python_thread {
	uint64_t state; /* address of its PyThreadState */
	uint64_t thread_id; /* pthread_t */
	uint32_t native_id; /* tid in its own namespace; 0 = this version does not store it */
	bool has_lock; /* it holds the interpreter's lock */
	uint32_t depth;
	struct python_frame frame[PYTHON_DEPTH_MAX]; /* innermost first */
};

struct python_lock {
	uint64_t address;
	uint64_t first, last; /* addresses that threads sleep on while they wait for it */
	uint64_t holder; /* the last thread state that held it */
	bool locked;
};

struct python_code {
	char name[PYTHON_NAME_MAX]; /* the qualified name if the version has it */
	char file[PYTHON_NAME_MAX];
	int32_t first_line;
};

/*
 * python_identify - determines the version of the layout in a process
 *
 * Tries all known versions, or only @version if that is not 0 (major << 8 | minor),
 * and sets @place->offsets. Returns true if one matches: the interpreters' list leads
 * to threads that point back, and 3.13's own table of offsets agrees.
 */
bool python_identify(const struct python_reader *reader, struct python_place *place,
		     uint16_t version);

/*
 * python_free_threaded - the version, if the runtime (3.13 or later) states that it is a free-threaded build; else 0
 *
 * Such a build has another layout.
 */
uint16_t python_free_threaded(const struct python_reader *reader, const struct python_place *place);

/* python_version_known - is the layout of major << 8 | minor known? */
bool python_version_known(uint16_t version);

/* python_frame_read - converts a frame that a BPF program read to the form of python_threads() */
struct python_frame python_frame_read(const struct python_place *place, uint64_t code, uint64_t instruction);

/* python_lock_read - reads the lock of the first interpreter; returns false if it is not found */
bool python_lock_read(const struct python_reader *reader, const struct python_place *place,
		      struct python_lock *lock);

/* python_threads - passes each thread to @each; the pointer is valid during the call. Returns their number. */
size_t python_threads(const struct python_reader *reader, const struct python_place *place,
		      void (*each)(void *context, const struct python_thread *thread),
		      void *context);

/* python_code_read - reads the names of a code object; returns false if it is none */
bool python_code_read(const struct python_reader *reader, const struct python_place *place,
		      uint64_t code, struct python_code *out);

/* python_code_mark - two numbers that very probably differ if the address has another code object */
bool python_code_mark(const struct python_reader *reader, const struct python_place *place,
		      uint64_t code, uint64_t mark[2]);

/* python_line - the current line of @frame; 0 if unknown */
uint32_t python_line(const struct python_reader *reader, const struct python_place *place,
		     const struct python_frame *frame);

/*
 * python_line_in - the same, in a copy of a line table
 *
 * @version picks the format: Objects/lnotab_notes.txt (until 3.9), PEP 626 (3.10),
 * Objects/locations.md (3.11 and later). Never reads beyond @size.
 */
uint32_t python_line_in(uint16_t version, const uint8_t *table, size_t size, int32_t first_line,
			int64_t instruction);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_READ_H */
