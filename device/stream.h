/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - the shared memory through which a device layer, loaded into the
 * traced program, passes its device's task times to the daemon.
 *
 * The layer creates a sealed memfd named STREAM_MEMFD_NAME; the daemon finds it
 * under /proc/PID/fd, so the two need no common configuration, the job may start
 * long before the daemon, and mount, pid and network namespaces do not matter.
 * The layout is a header, a table of devices, an arena of names and a ring of
 * task slots:
 *
 *   0                        struct stream_header (with the device table)
 *   names_offset             arena of NUL-terminated names, append-only
 *   slots_offset             slot_count slots of struct stream_task
 *
 * The ring is a broadcast. A writer takes the next number n from head and claims
 * slot n % slot_count by swapping its sequence for STREAM_WRITING | (n + 1),
 * which works only while the slot holds a finished, earlier number; it fills the
 * slot and publishes it by storing n + 1. A writer that finds the slot claimed or
 * holding a later number was overtaken by a whole lap: it drops its task, so that
 * two writers never fill one slot at once. Writers never wait for readers. A reader
 * keeps its own position, copies a slot and checks the sequence before and after;
 * a slot with a later number was overwritten before it was read; for a slot that
 * stays unpublished the task was dropped or the writer died: the reader counts both
 * as lost. So several, slow or dead readers do not disturb the program.
 *
 * Writers record tasks only while lease_until_ns lies in the future; readers
 * only move it forward. A layer that finds an expired lease replaces it by 0, so
 * that without a reader each call costs one comparison.
 *
 * A stream belongs to one process: after fork the child makes its own when it
 * first uses the device. A stream whose pid differs from that of the process in
 * which it was found is the parent's stream, and is not read there.
 *
 * The memory belongs to the traced program: a reader checks the seals (the file
 * cannot shrink while it is mapped) and validates every number in it.
 */
#ifndef PROFBPF_DEVICE_STREAM_H
#define PROFBPF_DEVICE_STREAM_H

#include <stdint.h>

/* /proc/PID/fd/N -> "/memfd:profbpf-device-stream (deleted)" */
#define STREAM_MEMFD_NAME "profbpf-device-stream"
#define STREAM_MAGIC 0x31764644464250ull /* "PBFDFv1" */
#define STREAM_VERSION 1
#define STREAM_DEVICES 32
#define STREAM_NAME_LEN 128 /* of a device */
/* Longest task name, with its NUL. C++ template symbols have thousands of characters; a cut one cannot be demangled. */
#define STREAM_TASK_NAME_MAX 4096u
#define STREAM_LEASE_NS 3000000000ull /* length of a lease, from now */
#define STREAM_MAX_SIZE (64u << 20) /* readers refuse larger ones */
#define STREAM_WRITING (1ull << 63) /* in stream_task.sequence */

/* Clock of a device's task times. */
enum stream_clock {
	STREAM_CLOCK_UNDECLARED = 0,
	STREAM_CLOCK_MONOTONIC = 1,
	STREAM_CLOCK_MONOTONIC_RAW = 2,
	STREAM_CLOCK_BOOTTIME = 3,
	STREAM_CLOCK_REALTIME = 4,
};

enum stream_kind {
	STREAM_OTHER = 0,
	STREAM_KERNEL = 1,
	STREAM_COPY = 2,
	STREAM_FILL = 3,
	STREAM_MAP = 4,
	STREAM_SYNC = 5,
	STREAM_COMMUNICATION = 6,
};

struct stream_device {
	uint32_t ready; /* 1 once the other fields are valid */
	uint32_t clock; /* enum stream_clock; may change once, from UNDECLARED to a clock */
	char kind[16]; /* "cpu", "gpu", "accelerator" */
	char name[STREAM_NAME_LEN];
};

struct stream_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* sizeof(struct stream_header) */
	uint64_t total_size;
	uint32_t names_offset;
	uint32_t names_size;
	uint32_t slots_offset;
	uint32_t slot_count; /* a power of two */
	uint32_t slot_size; /* sizeof(struct stream_task) */
	uint32_t pid; /* in the program's own pid namespace */
	char source[32]; /* "opencl-layer", "cupti", "mspti" */
	/* Written by the layer. */
	uint64_t head; /* slots taken so far = tasks produced */
	uint64_t untimed; /* tasks without times from the runtime; they are in no slot */
	uint64_t enqueued; /* tasks accepted = head + untimed + still in flight */
	uint32_t names_used; /* bytes of the arena in use, at least 1: offset 0 is "" */
	uint32_t device_count;
	/* Written by readers: the layer records until this CLOCK_MONOTONIC time. */
	uint64_t lease_until_ns;
	/*
	 * A reader that is about to end writes CLOCK_MONOTONIC here (only increasing values) and waits a
	 * moment; the layer then delivers the records that its runtime still holds and writes the same
	 * number to answered_ns. 0 in answered_ns: the layer writes each task when it ends, so the
	 * reader does not wait.
	 */
	uint64_t asked_ns;
	uint64_t answered_ns;
	uint64_t reserved[5];
	struct stream_device devices[STREAM_DEVICES];
};

/* One task, 128 bytes. Times are the device clock's nanoseconds, 0 = not reported. */
struct stream_task {
	/* number + 1 once valid, with STREAM_WRITING while being written, 0 = never used */
	uint64_t sequence;
	uint64_t queued_ns;
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t enqueue_ns; /* CLOCK_MONOTONIC at entry of the enqueue call */
	uint64_t enqueue_dur_ns; /* time in the runtime below the layer */
	uint64_t stream; /* the runtime's queue handle */
	uint64_t bytes; /* moved or filled; 0 for kernels */
	uint64_t
		correlation; /* the layer's own number of the task, or of the call that launched it; from 1 */
	uint32_t tid; /* enqueuing thread, in the program's pid namespace */
	uint32_t name; /* offset into the arena */
	uint32_t device; /* index into devices */
	uint16_t kind; /* enum stream_kind */
	uint16_t reserved0;
	int32_t status; /* negative: the runtime's error */
	uint32_t reserved1[7];
};

_Static_assert(sizeof(struct stream_task) == 128, "slots are two cache lines");
_Static_assert(sizeof(struct stream_device) == 152, "layout is shared between builds");
_Static_assert(sizeof(struct stream_header) == 176 + 152 * STREAM_DEVICES,
	       "layout is shared between builds");

#endif /* PROFBPF_DEVICE_STREAM_H */
