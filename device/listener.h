/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h - a thread in the traced program that has a runtime's profiler record while
 * somebody listens to the stream, for profilers that hand out what happened in batches.
 *
 * While nobody does, the thread looks at the lease 20 times a second and does nothing else.
 */
#ifndef PROFBPF_DEVICE_LISTENER_H
#define PROFBPF_DEVICE_LISTENER_H

#include <stdbool.h>

#include "device/stream_writer.h"

/* What the thread calls; also the last deliver(), which the exiting thread of the program calls. */
struct listener {
	const char *thread_name;
	/* Is the runtime ready to be asked? Asked each time until it is. */
	bool (*ready)(void);
	/* Somebody listens: false = no recording until another one comes. */
	bool (*begin)(void);
	/* Every 100 ms while recording; last: whatever is left, a reader or the process ends. */
	void (*deliver)(bool last);
	/* Nobody listens any more. */
	void (*end)(void);
};

/* Starts the thread; once in a process. Returns 0 or an error number. */
int listener_start(struct stream_writer *writer, const struct listener *listener);

/* Where PROFBPF_VERBOSE is set, one line on standard error; else nothing is ever printed. */
__attribute__((format(printf, 1, 2))) void listener_say(const char *format, ...);

#endif /* PROFBPF_DEVICE_LISTENER_H */
