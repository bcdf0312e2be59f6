/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_writer.h - the side of a device stream (stream.h) that lives in the
 * traced program: makes the shared memory and writes tasks into it.
 *
 * Every function may be called from any thread at any time, prints nothing and
 * never waits for a reader. After fork() the child gets a stream of its own the
 * first time it asks stream_writer_live().
 */
#ifndef PROFBPF_DEVICE_STREAM_WRITER_H
#define PROFBPF_DEVICE_STREAM_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "device/stream.h"

#define STREAM_WRITER_SLOTS 65536u
#define STREAM_WRITER_NAMES (4u << 20) /* bytes of the arena of names */
#define STREAM_WRITER_NAME_MAX (STREAM_TASK_NAME_MAX - 1) /* longer names are cut */

struct stream_writer;

/*
 * Makes the stream of this process. source says who reports ("opencl-layer"),
 * slots is a power of two. Returns NULL if the memory can't be had (no memfd,
 * RLIMIT_FSIZE too small, out of memory). The caller owns the result; destroying
 * it while another thread uses it is an error.
 */
struct stream_writer *stream_writer_create(const char *source, uint32_t slots);
void stream_writer_destroy(struct stream_writer *writer);

/*
 * True while a reader's lease runs; *now_ns is then CLOCK_MONOTONIC. The first
 * call in a forked child makes the child's stream, with the same devices and
 * names.
 */
bool stream_writer_live(struct stream_writer *writer, uint64_t *now_ns);

/*
 * Adds a device and returns its index, or -1 if there is room for no more.
 * kind is "cpu", "gpu" or "accelerator"; strings are copied, long ones cut. The
 * clock is UNDECLARED until stream_writer_declare_clock().
 */
int stream_writer_add_device(struct stream_writer *writer, const char *name, const char *kind);
void stream_writer_declare_clock(struct stream_writer *writer, int device, enum stream_clock clock);

/* Offset of a name in the arena, for stream_task.name; 0 (no name) if it's full. */
uint32_t stream_writer_name(struct stream_writer *writer, const char *name);

/* Id of the calling thread in its own pid namespace, for stream_task.tid. */
uint32_t stream_writer_tid(struct stream_writer *writer);

/*
 * A task was accepted: returns its number, for stream_task.correlation. Exactly
 * one stream_writer_put() or stream_writer_untimed() must follow when it ends.
 */
uint64_t stream_writer_begin(struct stream_writer *writer);

/* Publishes a task; its sequence is filled in here. */
void stream_writer_put(struct stream_writer *writer, const struct stream_task *task);

/* A task ended whose times the runtime would not tell. */
void stream_writer_untimed(struct stream_writer *writer);

/*
 * For layers whose runtime hands out tasks in batches. stream_writer_asked() tells whether a
 * reader wants all that there is, because it ends: not 0, and the layer then calls
 * stream_writer_answer() with that number once it is written. A layer says by answering 1 in
 * advance that it does so, and by UINT64_MAX that nothing will come any more.
 */
uint64_t stream_writer_asked(struct stream_writer *writer);
void stream_writer_answer(struct stream_writer *writer, uint64_t asked);

/*
 * Waits until every task accepted has ended, at most timeout_ns. Returns whether
 * they all have. Returns at once when no lease runs.
 */
bool stream_writer_drain(struct stream_writer *writer, uint64_t timeout_ns);

/*
 * To be called around fork() (pthread_atfork), so that the child doesn't inherit
 * a lock that another thread held: lock before, unlock after in both processes.
 */
void stream_writer_lock(struct stream_writer *writer);
void stream_writer_unlock(struct stream_writer *writer);

#endif /* PROFBPF_DEVICE_STREAM_WRITER_H */
