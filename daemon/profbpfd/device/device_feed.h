/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_feed.h - the device task streams of a session's targets, as items.
 *
 * A target may load its runtime, and with it the layer that writes the stream, at any time:
 * targets are checked when they map a library, and once a second while no stream was
 * found (by their descriptors; their maps are read every 8, 16, ... 64 seconds). Used by a
 * session's reader thread only.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FEED_H
#define PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"
#include "daemon/profbpfd/session/item.h"

struct device_feed;

#define DEVICE_FEED_LOOKS 128

/* device_feed_new - items go to @queue; warnings to @warn. NULL without memory. */
struct device_feed *device_feed_new(struct item_queue *queue,
				    void (*warn)(void *context, const char *text), void *context);

/* device_feed_free - after the writer has ended: batches refer to names kept here */
/* device_feed_limit - only for processes that @right, which the caller keeps, allows to look into */
void device_feed_limit(struct device_feed *feed, const struct right *right);

void device_feed_free(struct device_feed *feed);

/* device_feed_watch - searches @pid for streams now and later; to be called again after it has mapped a file */
void device_feed_watch(struct device_feed *feed, pid_t pid);

/*
 * device_feed_forget - the process has ended, at @ended_ns (CLOCK_MONOTONIC); its open streams are still read to their end
 *
 * One that has the id since is searched at once. UINT64_MAX: whatever process has the id by now is forgotten.
 */
void device_feed_forget(struct device_feed *feed, pid_t pid, uint64_t ended_ns);

/* device_feed_is_open - is there a stream to read? Its writer may overwrite tasks that are not read soon. */
bool device_feed_is_open(const struct device_feed *feed);

/*
 * device_feed_poll - opens new streams, renews leases, reads tasks; queues full batches, or all with @flush
 *
 * At most DEVICE_FEED_LOOKS processes are searched for new streams, because each takes about 50 us while rings fill.
 */
void device_feed_poll(struct device_feed *feed, uint64_t now_ns, bool flush);

/*
 * device_feed_finish - reads the remaining tasks; the counts are final then
 *
 * Waits for layers whose runtime still holds tasks, usually 100 ms, at most a second or two; then warns about layers that
 * did not deliver them.
 * Tasks that were enqueued at @end_ns or later are not part of the session.
 */
void device_feed_finish(struct device_feed *feed, uint64_t now_ns, uint64_t end_ns);

/* device_feed_count - the produced and lost tasks of all streams */
void device_feed_count(const struct device_feed *feed, struct source_count *count);

#endif /* PROFBPF_DAEMON_PROFBPFD_DEVICE_DEVICE_FEED_H */
