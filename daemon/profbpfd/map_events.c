/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/map_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#define PAGES 16 /* per CPU */

struct map_events {
	struct map_events_handler handler;
	struct perf_buffer *buffer;
	int map;		/* the buffer needs one to keep its events in, and keeps none open */
};

/* PERF_RECORD_MMAP2 up to the file's name. */
struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

/* The time stands at the end of the record, behind a name of any length. */
static uint64_t record_time(const struct perf_event_header *record)
{
	uint64_t ts_ns;

	memcpy(&ts_ns, (const char *)record + record->size - sizeof(ts_ns), sizeof(ts_ns));
	return ts_ns;
}

static enum bpf_perf_event_ret on_event(void *context, int cpu, struct perf_event_header *record)
{
	const struct mapping *mapping = (const void *)record;
	struct map_events *events = context;
	const struct map_events_handler *h = &events->handler;

	if (record->type == PERF_RECORD_LOST)
		h->missed(h->context);
	else if (record->type == PERF_RECORD_MMAP2 &&
		 record->size >= sizeof(*mapping) + sizeof(uint64_t))
		h->mapped(h->context, mapping->pid, record_time(record), mapping->inode != 0);
	return LIBBPF_PERF_EVENT_CONT;
}

struct map_events *map_events_new(const struct map_events_handler *handler)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.exclude_kernel = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct map_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return NULL;
	events->handler = *handler;
	events->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "profbpf_maps", sizeof(int),
				     sizeof(int), libbpf_num_possible_cpus(), NULL);
	if (events->map >= 0)
		events->buffer =
			perf_buffer__new_raw(events->map, PAGES, &attr, on_event, events, NULL);
	if (events->buffer)
		return events;
	err = errno;
	map_events_free(events);
	errno = err;
	return NULL;
}

int map_events_fd(const struct map_events *events)
{
	return perf_buffer__epoll_fd(events->buffer);
}

void map_events_read(struct map_events *events)
{
	perf_buffer__consume(events->buffer);
}

void map_events_free(struct map_events *events)
{
	if (!events)
		return;
	perf_buffer__free(events->buffer);
	if (events->map >= 0)
		close(events->map);
	free(events);
}
