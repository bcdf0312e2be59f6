/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_stream.h - reads the device task stream (device/stream.h) of a process.
 *
 * The process is not trusted: sizes and offsets are checked once against the file,
 * which is sealed, and never read again; the caller gets copies. Times, handles and
 * sizes in a task are still the process's own claims.
 *
 * A stream stays readable after its process has ended, until it is closed, so that
 * the last tasks can be read. Not to be used from two threads at once.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_STREAM_H
#define PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "device/stream.h"

#define DEVICE_STREAM_STUCK_NS 200000000ull /* a slot that is taken but not published for this time is lost */

struct device_stream;

/* Since the stream was opened. produced = delivered + lost + pending. */
struct device_stream_counts {
	uint64_t produced; /* tasks that got a slot, at the last read */
	uint64_t delivered;
	uint64_t lost; /* overwritten before they were read, or never published */
	uint64_t pending; /* not read yet */
	uint64_t untimed; /* ended without times, in no slot */
	uint64_t in_flight; /* enqueued but not ended */
};

/*
 * device_stream_open - find and map the stream of process @pid
 *
 * A process may have several streams, one per kind of runtime, and an exec makes
 * a new one: streams whose device_stream_id() is in @known are skipped. Reading
 * starts with tasks produced from now on. Costs one reading of the process's
 * maps when there is nothing to open.
 *
 * Returns 0 and *@stream, to be freed with device_stream_close(); -ENOENT if
 * there is no (other) stream, which is no error to report; -ESRCH if the process
 * is gone; else another negative errno with a message in @error (-EACCES, -EPERM: no
 * permission, or not sealed; -EBADMSG: its header is invalid or of another version).
 */
int device_stream_open(pid_t pid, const uint64_t *known, size_t known_count,
		       struct device_stream **stream, char *error, size_t error_size);

/* device_stream_close - unmaps and frees it; accepts NULL */
void device_stream_close(struct device_stream *stream);

/* device_stream_id - number of the memory file, unique while the host is up */
uint64_t device_stream_id(const struct device_stream *stream);

/* device_stream_source - the writer's name, "opencl-layer"; printable, valid as long as the stream */
const char *device_stream_source(const struct device_stream *stream);

/*
 * device_stream_renew - makes the process record for STREAM_LEASE_NS more
 *
 * @now_ns is CLOCK_MONOTONIC. To be called at least once a second. The lease cannot
 * be withdrawn, because other readers may depend on it: it expires.
 */
void device_stream_renew(struct device_stream *stream, uint64_t now_ns);

/*
 * device_stream_read - copy tasks, in the order in which they ended
 *
 * Copies at most @max and returns how many; 0: no more for now, and -EBADMSG if
 * the process has broken its stream, which ends it. @now_ns is CLOCK_MONOTONIC.
 * Thread ids are translated to the daemon's pid namespace, 0 if the thread is
 * gone; unknown kinds become STREAM_OTHER.
 */
ssize_t device_stream_read(struct device_stream *stream, uint64_t now_ns, struct stream_task *out,
			   size_t max);

/*
 * device_stream_ask - asks the layer for the tasks that its runtime still holds, for a reader that ends
 *
 * The layer delivers them within about 100 ms; then device_stream_answered() is true. It is true at once for
 * layers that hold no tasks back.
 */
void device_stream_ask(struct device_stream *stream, uint64_t now_ns);
bool device_stream_answered(const struct device_stream *stream);

/*
 * device_stream_finish - counts pending tasks as lost; to be called once, after
 * the last read, so that produced = delivered + lost
 */
void device_stream_finish(struct device_stream *stream);

/*
 * device_stream_name - a name by its offset, stream_task.name
 *
 * Copies at most @size - 1 bytes and a NUL; control characters become '?',
 * bytes that aren't UTF-8 stay. Returns the length, or -EINVAL (and "") for an offset outside.
 */
ssize_t device_stream_name(const struct device_stream *stream, uint32_t offset, char *buf,
			   size_t size);

/* device_stream_devices - devices known so far, at most STREAM_DEVICES */
unsigned int device_stream_devices(const struct device_stream *stream);

/*
 * device_stream_device - a copy of a device's entry, strings cleaned as by
 * device_stream_name()
 *
 * The clock may be UNDECLARED at first and known a few tasks later. Returns 0 or
 * -ENOENT (also for a task whose device index is invalid).
 */
int device_stream_device(const struct device_stream *stream, uint32_t index,
			 struct stream_device *device);

/* device_stream_count - the counts at the last read */
void device_stream_count(const struct device_stream *stream, struct device_stream_counts *counts);

#endif /* PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_STREAM_H */
