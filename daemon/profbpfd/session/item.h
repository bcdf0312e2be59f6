/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item.h - the items that a session's reader sends to its writer, and the bounded
 * queue between them.
 *
 * The reader never waits for the writer: when the queue is full, batches of
 * records are dropped and counted. Small items that other records refer to
 * (functions, tasks, statistics) are always accepted.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_ITEM_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_ITEM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "bpf/events.h"
#include "device/stream.h"
#include "proto/trace.pb-c.h"

enum item_kind {
	ITEM_RECORDS,	/* raw records of one type from one CPU */
	ITEM_TASKS,	/* struct task_row[] */
	ITEM_DEVICE,	/* struct device_row[] of one device */
	ITEM_STACKS,	/* struct stack_row[] */
	ITEM_COVERAGE,	/* struct coverage_row[] */
	ITEM_ENDS,	/* struct ends_row[] */
	ITEM_SHED,	/* struct shed_row[] */
	ITEM_BODY,	/* a packed message, written as it is */
	ITEM_STATISTICS,	/* one struct statistics_row */
	ITEM_CUT,	/* one struct cut_row */
	ITEM_END,	/* no more items will come */
};

struct task_row {
	struct rec_task record;
	char *cmdline;		/* allocated, or NULL */
	char *exe;
	uint32_t turn;		/* for the writer: the last turn with a record of it (known_tasks.h) */
};

struct device_row {
	struct stream_task task;
	const char *name;	/* lives as long as the session */
	uint32_t tid;		/* in the initial pid namespace */
};

struct stack_row {
	uint64_t ts_ns;
	uint64_t dur_ns;
	uint32_t tid, tgid;
	uint32_t stack;		/* id in the session's stack table */
	uint32_t flags;		/* as in message StackSamples */
	uint32_t cpu;
	uint32_t rate;
	uint32_t waker;
	uint32_t reserved;
};

struct coverage_row {
	uint32_t tgid;
	uint32_t functions;
	uint64_t mapped_ns;	/* 0 = before the session */
	uint64_t probed_ns;
	uint32_t state;		/* as in message Coverage */
	char *path;		/* allocated */
};

/* From @ts_ns on the ends of a function's calls are seen, or only the entries. */
struct ends_row {
	uint32_t function;
	uint32_t calls_per_second;	/* the rate that caused the change */
	uint64_t ts_ns;
	bool seen;
};

/* From @ts_ns on this part of a kind of records is recorded: see message Shed. */
struct shed_row {
	uint32_t what, reason;
	uint32_t kept_permille;
	uint32_t cost_ppm;
	uint64_t ts_ns;
};

/* The sources in the trace's counts: enum source, then the device streams. */
#define SOURCE_DEVICE SOURCES
#define TRACE_SOURCES (SOURCES + 1)
#define LOST_REASONS 10

struct lost_count {
	const char *reason;	/* a constant */
	uint64_t count;
};

/* A source's counts outside of the writer, which adds its counts of delivered and unwritten records. */
struct source_count {
	uint64_t produced;
	uint64_t used;		/* delivered to the daemon itself, not to the file */
	struct lost_count lost[LOST_REASONS];
	uint32_t lost_count;
};

struct short_row {
	uint32_t probe;
	uint32_t tgid;
	uint64_t count;
	uint64_t total_ns;
	uint64_t unended;	/* calls among them without a known duration */
};

struct statistics_row {
	uint64_t ts_ns;
	bool final;
	char end_reason[512];
	uint64_t daemon_cpu_ns;
	struct source_count sources[TRACE_SOURCES];
	struct short_row *short_calls;	/* allocated */
	uint32_t short_count;
};

struct flight_window;

/* A request for the last seconds of a flight recorder (encode/flight_store.h). */
struct flight_ask {
	/* Called once, by any thread: the callee owns @window; NULL if there is nothing. */
	void (*take)(void *context, struct flight_window *window);
	void *context;
	uint64_t from_ns; /* data that ended before are not requested */
	bool sleepers; /* record the stacks of sleeping threads first */
	pid_t sleepers_of; /* only of this process; 0: of all recorded ones */
};

/* A flight recorder's segment ends and the next begins. */
struct cut_row {
	uint64_t ts_ns;
	struct flight_ask ask;	/* take NULL: no request */
	bool open;		/* the step that a session waited for has begun: write the kept data, and continue to write */
	pid_t *targets;		/* allocated; with an ask only */
	size_t target_count;
};

struct item {
	struct item *next;
	enum item_kind kind;
	enum rec_type type;		/* ITEM_RECORDS */
	enum source source;		/* ITEM_RECORDS: the source whose losses include it if it is dropped */
	uint32_t cpu;			/* ITEM_RECORDS */
	uint32_t device;		/* ITEM_DEVICE */
	Profbpf__Packet__Kind body;	/* ITEM_BODY */
	bool repeated;			/* ITEM_BODY: belongs into every segment */
	uint32_t count;
	size_t size;			/* bytes of data in use */
	size_t capacity;
	void *data;
};

/* item_new - an empty item with room for @capacity bytes; NULL without memory */
struct item *item_new(enum item_kind kind, size_t capacity);

/* item_free - also frees the memory that the rows own; @item may be NULL */
void item_free(struct item *item);

/* item_grow - room for @size bytes more; 0 or -ENOMEM */
int item_grow(struct item *item, size_t size);

/* item_append - appends @size bytes as one row, growing if needed; 0 or -ENOMEM */
static inline int item_append(struct item *item, const void *row, size_t size)
{
	if (item->capacity - item->size < size && item_grow(item, size))
		return -ENOMEM;
	memcpy((char *)item->data + item->size, row, size);
	item->size += size;
	item->count++;
	return 0;
}

struct item_queue;

/* item_queue_new - holds at most @limit_bytes of records */
struct item_queue *item_queue_new(size_t limit_bytes);
void item_queue_free(struct item_queue *queue);

/*
 * item_queue_push - queues an item, which the queue owns from then on
 *
 * Returns false, and leaves the item to the caller, if it holds records and the
 * queue is full.
 */
bool item_queue_push(struct item_queue *queue, struct item *item);

/* item_queue_pop - the next item, waiting for it; the caller frees it */
struct item *item_queue_pop(struct item_queue *queue);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_ITEM_H */
