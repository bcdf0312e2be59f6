/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/map_events.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/probe/buffer_losses.h"

#define PAGES 16 /* per CPU */
/* The longest delay of a report; a half full buffer is read at once. */
#define LOOK_MS 5
#define LOOK_SELDOM_MS 20 /* after a second in which nothing was reported */
#define QUIET_NS 1000000000ull
#define WAKES 4 /* descriptors that are reported at once; all buffers are read in any case */
#define KEPT_MAX 1024 /* pending events per listener */

struct mapped {
	uint64_t ts_ns;
	pid_t pid;
	bool of_file;
};

/* A listener. The watch's lock protects all members except the handler and the descriptor. */
struct map_events {
	struct map_events_handler handler;
	struct map_watch *watch;
	struct map_ear *ear;
	struct map_events *next;
	int fd;
	struct mapped kept[KEPT_MAX];
	size_t count;
	bool missed;
};

/* Exists while there are listeners. */
struct map_ear {
	struct map_watch *watch;
	struct buffer_losses losses; /* has the buffers */
	int map; /* the map for the buffer's perf events, which the buffer does not keep open */
	int stop_fd;
	pthread_t thread;
	struct map_events *first;
	uint64_t heard_ns; /* the last report, or the start of the last listener */
};

struct map_watch {
	pthread_mutex_t lock;
	struct map_ear *ear; /* NULL: no listeners */
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

/* The time is at the end of the record, after a name of any length. */
static uint64_t record_time(const struct perf_event_header *record)
{
	uint64_t ts_ns;

	memcpy(&ts_ns, (const char *)record + record->size - sizeof(ts_ns), sizeof(ts_ns));
	return ts_ns;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void wake(struct map_events *events)
{
	events->ear->heard_ns = now_ns();
	eventfd_write(events->fd, 1);
}

static void keep(struct map_events *events, const struct mapping *mapping)
{
	if (!events->handler.wanted(events->handler.context, (pid_t)mapping->pid))
		return;
	if (events->count == KEPT_MAX)
		events->missed = true;
	else
		events->kept[events->count++] = (struct mapped){
			.ts_ns = record_time(&mapping->header),
			.pid = (pid_t)mapping->pid,
			.of_file = mapping->inode != 0,
		};
	wake(events);
}

static void miss(struct map_events *events)
{
	events->missed = true;
	wake(events);
}

static enum bpf_perf_event_ret on_event(void *context, int cpu, struct perf_event_header *record)
{
	const struct mapping *mapping = (const void *)record;
	struct map_ear *ear = context;

	if (record->type == PERF_RECORD_LOST)
		ear->losses.told = true;
	if (record->type != PERF_RECORD_MMAP2 || record->size < sizeof(*mapping) + sizeof(uint64_t))
		return LIBBPF_PERF_EVENT_CONT;
	for (struct map_events *events = ear->first; events; events = events->next)
		keep(events, mapping);
	return LIBBPF_PERF_EVENT_CONT;
}

static void read_buffers(struct map_ear *ear)
{
	if (buffer_losses_read(&ear->losses))
		for (struct map_events *events = ear->first; events; events = events->next)
			miss(events);
}

/* Reads what the buffers have; returns the milliseconds until the next time. */
static int listen_once(struct map_ear *ear)
{
	uint64_t heard_ns;

	pthread_mutex_lock(&ear->watch->lock);
	read_buffers(ear);
	heard_ns = ear->heard_ns;
	pthread_mutex_unlock(&ear->watch->lock);
	return now_ns() - heard_ns < QUIET_NS ? LOOK_MS : LOOK_SELDOM_MS;
}

/* The ear itself stands for its descriptor in the buffers' epoll instance. */
static bool is_stopped(const struct map_ear *ear, const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++)
		if (events[i].data.ptr == ear)
			return true;
	return false;
}

static int watch_stop(struct map_ear *ear)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = ear };

	return epoll_ctl(perf_buffer__epoll_fd(ear->losses.buffer), EPOLL_CTL_ADD, ear->stop_fd, &event);
}

static void *listen_on(void *context)
{
	struct map_ear *ear = context;
	int fd = perf_buffer__epoll_fd(ear->losses.buffer), wait_ms = LOOK_MS, count;
	struct epoll_event events[WAKES];

	pthread_setname_np(pthread_self(), "profbpfd/maps");
	priority_patient(true);
	while ((count = epoll_wait(fd, events, WAKES, wait_ms)) >= 0 || errno == EINTR) {
		if (is_stopped(ear, events, count))
			break;
		wait_ms = listen_once(ear);
	}
	return NULL;
}

/* Returns 0 or a negative errno. */
static int open_buffers(struct map_ear *ear)
{
	size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
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
		.wakeup_watermark = (uint32_t)(bytes / 2),
	};

	ear->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "profbpf_maps", sizeof(int),
				  sizeof(int), libbpf_num_possible_cpus(), NULL);
	return ear->map < 0 ? ear->map : buffer_losses_open(&ear->losses, ear->map, PAGES, &attr, on_event, ear);
}

static void release_ear(struct map_ear *ear)
{
	int err = errno;

	buffer_losses_close(&ear->losses);
	if (ear->map >= 0)
		close(ear->map);
	if (ear->stop_fd >= 0)
		close(ear->stop_fd);
	free(ear);
	errno = err;
}

static void stop_ear(struct map_ear *ear)
{
	if (!ear)
		return;
	eventfd_write(ear->stop_fd, 1);
	pthread_join(ear->thread, NULL);
	release_ear(ear);
}

static struct map_ear *start_ear(struct map_watch *watch)
{
	struct map_ear *ear = calloc(1, sizeof(*ear));
	int err;

	if (!ear)
		return NULL;
	ear->watch = watch;
	ear->map = -1;
	ear->stop_fd = eventfd(0, EFD_CLOEXEC);
	err = ear->stop_fd < 0 ? -errno : open_buffers(ear);
	if (!err && watch_stop(ear))
		err = -errno;
	if (!err)
		err = -pthread_create(&ear->thread, NULL, listen_on, ear);
	if (!err)
		return ear;
	errno = -err;
	release_ear(ear);
	return NULL;
}

struct map_watch *map_watch_new(void)
{
	struct map_watch *watch = calloc(1, sizeof(*watch));

	if (watch)
		pthread_mutex_init(&watch->lock, NULL);
	return watch;
}

void map_watch_free(struct map_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

static bool begin_to_listen(struct map_events *events)
{
	struct map_watch *watch = events->watch;

	pthread_mutex_lock(&watch->lock);
	if (!watch->ear)
		watch->ear = start_ear(watch);
	events->ear = watch->ear;
	if (events->ear) {
		events->next = events->ear->first;
		events->ear->first = events;
		events->ear->heard_ns = now_ns();
	}
	pthread_mutex_unlock(&watch->lock);
	return events->ear != NULL;
}

struct map_events *map_events_new(struct map_watch *watch, const struct map_events_handler *handler)
{
	struct map_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return NULL;
	events->handler = *handler;
	events->watch = watch;
	events->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (events->fd >= 0 && begin_to_listen(events))
		return events;
	err = errno;
	map_events_free(events);
	errno = err;
	return NULL;
}

int map_events_fd(const struct map_events *events)
{
	return events->fd;
}

/*
 * Moves the pending events, at most KEPT_MAX, to @taken. Returns their number. The signals are taken last: what is found
 * here needs none, and would wake the listener again at once, as long as there are events.
 */
static size_t take(struct map_events *events, struct mapped *taken, bool *missed)
{
	eventfd_t signals;
	size_t count;

	pthread_mutex_lock(&events->watch->lock);
	read_buffers(events->ear);
	eventfd_read(events->fd, &signals);
	count = events->count;
	memcpy(taken, events->kept, count * sizeof(*taken));
	*missed = events->missed;
	events->count = 0;
	events->missed = false;
	pthread_mutex_unlock(&events->watch->lock);
	return count;
}

void map_events_read(struct map_events *events)
{
	const struct map_events_handler *h = &events->handler;
	struct mapped taken[KEPT_MAX];
	size_t count;
	bool missed;

	count = take(events, taken, &missed);
	for (size_t i = 0; i < count; i++)
		h->mapped(h->context, taken[i].pid, taken[i].ts_ns, taken[i].of_file);
	if (missed)
		h->missed(h->context);
}

/* Removes a listener. Returns the ear, which the caller stops, after the last listener; else NULL. */
static struct map_ear *end_to_listen(struct map_events *events)
{
	struct map_watch *watch = events->watch;
	struct map_ear *ear = events->ear;
	struct map_events **at;

	pthread_mutex_lock(&watch->lock);
	for (at = &ear->first; *at != events; at = &(*at)->next)
		;
	*at = events->next;
	if (ear->first)
		ear = NULL;
	else
		watch->ear = NULL;
	pthread_mutex_unlock(&watch->lock);
	return ear;
}

void map_events_free(struct map_events *events)
{
	if (!events)
		return;
	if (events->ear)
		stop_ear(end_to_listen(events));
	if (events->fd >= 0)
		close(events->fd);
	free(events);
}
