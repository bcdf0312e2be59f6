/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - sorts the records of the rings into batches for the writer, and
 * acts on those that tell of new processes and libraries.
 *
 * Used by a session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_RECORDER_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "daemon/profbpfd/probe/code_names.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/session/texts.h"

#define RECORDER_BATCH 4096	/* records after which a batch is handed over */
#define RECORDER_BATCH_MAX 65536

/* What the session wants to know of at once. */
struct recorder_events {
	void (*process_started)(void *context, pid_t pid, uint64_t ts_ns);	/* fork or exec */
	void (*process_exited)(void *context, pid_t pid);
	/* It may not be looked into any more; may be NULL. */
	void (*process_dropped)(void *context, pid_t pid);
	/* Figures of a process have come, with the id of its cgroup (0 = unknown); maybe its last. */
	void (*process_seen)(void *context, pid_t pid, uint64_t cgroup, bool target, bool last);
	void (*code_seen)(void *context);	/* addresses wait in @code_names to be looked up */
	void (*tail_seen)(void *context, pid_t pid, uint64_t address); /* a function went on there; may be NULL */
	void (*texts_forgotten)(void *context);	/* strings of calls are to be sent again */
	struct code_names *code_names;		/* NULL: nobody wants them */
	const struct right *right;		/* whose command lines may be told; NULL: everybody's */
	void *context;
};

struct recorder;

/* recorder_new - @cpus is the number of possible CPUs; NULL without memory */
struct recorder *recorder_new(int cpus, struct item_queue *queue, struct texts *texts,
			      const struct recorder_events *events);
void recorder_free(struct recorder *recorder);

/* recorder_handle - a capture_handler: take one record */
void recorder_handle(void *recorder, const struct rec_header *record);

/*
 * recorder_texts_missing - since it was asked last, was there a call whose string had not come?
 *
 * The string was sent before the call, but into a ring that had been read before it: the
 * next drain brings it.
 */
bool recorder_texts_missing(struct recorder *recorder);

/* recorder_pass - after each drain: hand over full batches, or all if @flush */
void recorder_pass(struct recorder *recorder, bool flush);

/* recorder_dropped - records of a source dropped because the writer is too slow */
uint64_t recorder_dropped(const struct recorder *recorder, unsigned int source);

/* recorder_used - records of a source that were for the daemon, not for the file */
uint64_t recorder_used(const struct recorder *recorder, unsigned int source);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_RECORDER_H */
