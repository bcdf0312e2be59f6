/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_offsets.h - offsets in CPython's structures for reading them from outside, by version.
 *
 * The numbers were printed with offsetof() by a program compiled against each
 * version's own internal headers (Include/internal/pycore_*.h, default build;
 * x86-64 and AArch64 have the same). Releases of one minor version do not change them; other builds
 * (free-threaded, debug) do, which the checks of python_read.h detect.
 * Tags of pointers: _PyStackRef in Include/internal/pycore_stackref.h.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_OFFSETS_H
#define PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHON_NONE UINT16_MAX /* this version has no such member */

/* Offset of glibc's struct pthread.tid (nptl/descr.h), which is at pthread_t; libc.so states it: _thread_db_pthread_tid */
#if defined(__x86_64__)
#define PYTHON_TID_IN_PTHREAD 720
#else
#define PYTHON_TID_IN_PTHREAD 208
#endif

struct python_offsets {
	uint16_t version; /* major << 8 | minor */
	/* _PyRuntimeState, PyInterpreterState, PyThreadState */
	uint16_t interpreters_head;
	uint16_t interp_threads;
	uint16_t interp_next;
	uint16_t thread_next;
	uint16_t thread_interp;
	uint16_t thread_id; /* pthread_t */
	uint16_t native_thread_id; /* as gettid() gives it */
	uint16_t thread_cframe; /* pointer to the structure with thread_frame */
	uint16_t thread_frame;
	/* PyFrameObject until 3.10, then _PyInterpreterFrame */
	uint16_t frame_previous;
	uint16_t frame_code;
	uint16_t frame_code_tags; /* bits of that pointer with another meaning */
	uint16_t frame_instruction; /* until 3.10 an index, then a pointer */
	uint16_t frame_owner;
	uint16_t frame_entry; /* byte: entered the interpreter's loop from C code; PYTHON_NONE: see python_live.c */
	/* PyCodeObject */
	uint16_t code_instructions; /* PYTHON_NONE: the frame has an index */
	uint16_t code_qualname;
	uint16_t code_lines;
	uint16_t code_filename;
	uint16_t code_name;
	uint16_t code_first_line;
	/* PyUnicodeObject, PyBytesObject, PyObject */
	uint16_t ascii_data;
	uint16_t compact_data;
	uint16_t unicode_length;
	uint16_t unicode_state;
	uint16_t bytes_data;
	uint16_t bytes_size;
	uint16_t object_type;
	/* The interpreter's lock: in the runtime until 3.11, then behind a pointer in the interpreter */
	uint16_t runtime_lock;
	uint16_t interp_lock;
	uint16_t lock_locked;
	uint16_t lock_holder;
	uint16_t lock_first; /* first address on which threads sleep for the lock */
	uint16_t lock_last; /* to here */
};

/* python_offsets_at - the offsets of the version with this index in the table; NULL past the last */
const struct python_offsets *python_offsets_at(size_t index);

#endif /* PROFBPF_DAEMON_PROFBPFD_INTERPRETERS_PYTHON_PYTHON_OFFSETS_H */
