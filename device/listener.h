/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h - a thread in the traced program that makes a runtime's profiler record while
 * a reader listens to the stream, for profilers that deliver records in batches.
 *
 * Without a reader the thread only checks the lease 20 times a second.
 */
#ifndef PROFBPF_DEVICE_LISTENER_H
#define PROFBPF_DEVICE_LISTENER_H

#include <stdbool.h>

#include "device/stream_writer.h"

/* Functions that the thread calls; the exiting thread of the program makes the last call of deliver(). */
struct listener {
	const char *thread_name;
	/* Returns whether the runtime is ready. Called repeatedly until it is. */
	bool (*ready)(void);
	/* A reader listens. Returns false on failure: then recording waits for the next reader. */
	bool (*begin)(void);
	/* Called every 100 ms while recording; last: deliver all remaining records, a reader or the process ends. */
	void (*deliver)(bool last);
	/* The last reader has stopped. */
	void (*end)(void);
};

/* Starts the thread; called once in a process. Returns 0 or an error number. */
int listener_start(struct stream_writer *writer, const struct listener *listener);

/* Prints one line on standard error if PROFBPF_VERBOSE is set; else nothing. */
__attribute__((format(printf, 1, 2))) void listener_say(const char *format, ...);

#endif /* PROFBPF_DEVICE_LISTENER_H */
