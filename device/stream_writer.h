/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_writer.h - the part of a device stream (stream.h) in the traced
 * program: makes the shared memory and writes tasks into it.
 *
 * Any thread may call every function at any time; functions print nothing and
 * never wait for a reader. After fork() the child gets its own stream with its
 * first call of stream_writer_live().
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
 * Makes the stream of this process. source names the reporting layer ("opencl-layer"),
 * slots is a power of two. Returns NULL if it cannot get the memory (no memfd,
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
 * Adds a device and returns its index, or -1 if the table is full.
 * kind is "cpu", "gpu" or "accelerator"; strings are copied, long ones cut. The
 * clock is UNDECLARED until stream_writer_declare_clock().
 */
int stream_writer_add_device(struct stream_writer *writer, const char *name, const char *kind);
void stream_writer_declare_clock(struct stream_writer *writer, int device, enum stream_clock clock);

/* Returns the offset of a name in the arena, for stream_task.name; 0 (no name) if the arena is full. */
uint32_t stream_writer_name(struct stream_writer *writer, const char *name);

/* Returns the id of the calling thread in its own pid namespace, for stream_task.tid. */
uint32_t stream_writer_tid(struct stream_writer *writer);

/*
 * Counts an accepted task and returns its number, for stream_task.correlation. Exactly
 * one stream_writer_put() or stream_writer_untimed() must follow when the task ends.
 */
uint64_t stream_writer_begin(struct stream_writer *writer);

/* Publishes a task; this function sets its sequence. */
void stream_writer_put(struct stream_writer *writer, const struct stream_task *task);

/* Counts an ended task for which the runtime reports no times. */
void stream_writer_untimed(struct stream_writer *writer);

/*
 * For layers whose runtime delivers tasks in batches. stream_writer_asked() returns a number
 * other than 0 if a reader is about to end and wants all remaining tasks; the layer writes them and
 * then calls stream_writer_answer() with that number. A layer announces this with an answer of 1 in
 * advance; the answer UINT64_MAX means that no more tasks will come.
 */
uint64_t stream_writer_asked(struct stream_writer *writer);
void stream_writer_answer(struct stream_writer *writer, uint64_t asked);

/*
 * Waits until every accepted task has ended, at most timeout_ns. Returns whether
 * all have ended. Returns at once when no lease runs.
 */
bool stream_writer_drain(struct stream_writer *writer, uint64_t timeout_ns);

/*
 * Called around fork() (pthread_atfork), so that the child does not inherit a
 * lock held by another thread: lock before, unlock after in both processes.
 */
void stream_writer_lock(struct stream_writer *writer);
void stream_writer_unlock(struct stream_writer *writer);

#endif /* PROFBPF_DEVICE_STREAM_WRITER_H */
