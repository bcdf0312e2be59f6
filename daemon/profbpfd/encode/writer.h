/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - the thread that turns items into packets and writes them.
 *
 * It divides the stream into segments that can be read alone: after SEGMENT_BYTES
 * it begins a new one and repeats the objects that later packets refer to.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_WRITER_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_WRITER_H

#include <stdint.h>

#include "daemon/profbpfd/control/right.h"
#include "daemon/catalog/catalog.h"
#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/metrics/live_figures.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/step_gate.h"
#include "daemon/profbpfd/session/texts.h"
#include "daemon/profbpfd/session/trigger_watch.h"
#include "proto/trace.pb-c.h"

#define SEGMENT_BYTES (64ull << 20)

struct writer;

/* Consumers in addition to, or in place of, a descriptor; each may be NULL. All must outlive the writer. */
struct writer_others {
	struct flight *flight; /* takes the packets in place of the descriptor */
	struct step_gate *gate; /* with a flight: packets are written once the first requested step has begun (ITEM_CUT) */
	/* These get each item: */
	struct trigger_watch *watch;
	struct live_figures *live;
};

/*
 * writer_new - begins the first segment and starts the thread
 *
 * @segment is the header of every segment except its index; it, @queue, @texts,
 * @catalogs (which name the commands of drivers) and @fd must outlive the writer. With a flight and no gate @fd is not used. @others is
 * copied; NULL for none. @wake_fd is an eventfd that is signalled when writing
 * fails. Returns NULL without memory or threads.
 */
struct writer *writer_new(int fd, const struct writer_others *others, const Profbpf__Segment *segment, struct item_queue *queue,
			  struct texts *texts, const struct catalogs *catalogs, int wake_fd,
			  const struct right *right);

/* writer_error - 0, or the negative errno with which writing failed; from any thread */
int writer_error(const struct writer *writer);

/* writer_bytes, writer_delivered - the amounts so far; may be called by any thread */
uint64_t writer_bytes(const struct writer *writer);
uint64_t writer_delivered(const struct writer *writer, unsigned int source);

/* writer_repeated - with a flight: the size of the data that each segment repeats at its start; from any thread */
uint64_t writer_repeated(const struct writer *writer);

/*
 * writer_opened_ns - with a gate: the start of the written part, CLOCK_MONOTONIC; 0 = nothing is written yet. From any thread
 * writer_before - with a gate, once that is known: the counts at that time
 */
uint64_t writer_opened_ns(const struct writer *writer);
const struct session_books *writer_before(const struct writer *writer);

/* writer_unwritten - rows of a source that could not be written; from any thread */
uint64_t writer_unwritten(const struct writer *writer, unsigned int source);

/* writer_give_up - stops waiting for a reader that does not read */
void writer_give_up(struct writer *writer);

/* writer_cpu_ns - CPU time the thread used */
uint64_t writer_cpu_ns(const struct writer *writer);

/* writer_ended - the thread has handled ITEM_END; from any thread */
bool writer_ended(const struct writer *writer);

/* writer_finish - wait until ITEM_END was handled and the thread has ended */
void writer_finish(struct writer *writer);
void writer_free(struct writer *writer);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_WRITER_H */
