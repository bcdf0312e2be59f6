/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - sorts the records of the rings into batches for the writer, and
 * acts on records about new processes and libraries.
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

#define RECORDER_BATCH 4096	/* records in a full batch, which is queued */
#define RECORDER_BATCH_MAX 65536

/* Callbacks for events that the session handles at once. */
struct recorder_events {
	void (*process_started)(void *context, pid_t pid, pid_t parent, uint64_t ts_ns); /* fork; @parent 0: exec */
	void (*process_exited)(void *context, pid_t pid, uint64_t ts_ns);
	/* The process may no longer be looked into; may be NULL. */
	void (*process_dropped)(void *context, pid_t pid);
	/* Figures of a process have arrived, with the id of its cgroup (0 = unknown); they may be its last. */
	void (*process_seen)(void *context, pid_t pid, uint64_t cgroup, bool target, bool last);
	void (*code_seen)(void *context);	/* @code_names has addresses to look up */
	/* Traced function @probe tail-jumped there; may be NULL. */
	void (*tail_seen)(void *context, pid_t pid, uint64_t address, uint32_t probe);
	void (*texts_forgotten)(void *context);	/* strings of calls must be sent again */
	struct code_names *code_names;		/* NULL: addresses are not looked up */
	const struct right *right;		/* limits the processes whose command lines are recorded; NULL: all */
	void *context;
};

struct recorder;

/* recorder_new - @cpus is the number of possible CPUs; NULL without memory */
struct recorder *recorder_new(int cpus, struct item_queue *queue, struct texts *texts,
			      const struct recorder_events *events);
void recorder_free(struct recorder *recorder);

/* recorder_handle - a capture_handler: takes one record */
void recorder_handle(void *recorder, const struct rec_header *record);

/*
 * recorder_texts_missing - since the last question, was there a call whose string had not arrived?
 *
 * The string was sent before the call, but into a ring that had already been read: the
 * next drain brings it.
 */
bool recorder_texts_missing(struct recorder *recorder);

/* recorder_pass - to be called after each drain: queues full batches, or all if @flush */
void recorder_pass(struct recorder *recorder, bool flush);

/* recorder_dropped - the number of a source's records that were dropped because the writer is too slow */
uint64_t recorder_dropped(const struct recorder *recorder, unsigned int source);

/* recorder_used - the number of a source's records that were for the daemon, not for the file */
uint64_t recorder_used(const struct recorder *recorder, unsigned int source);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_RECORDER_H */
