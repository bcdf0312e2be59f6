/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/device/device_feed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/device/device_find.h"
#include "daemon/profbpfd/device/device_stream.h"
#include "daemon/profbpfd/encode/trace_values.h"
#include "lib/base/map.h"
#include "lib/base/strings.h"

#define READ_MAX 512
#define BATCH 4096
#define LOOK_AGAIN_NS 1000000000ull
#define SEARCH_MIN_NS 8000000000ull /* interval of searching the maps, which costs more; doubles each time */
#define SEARCH_MAX_NS 64000000000ull
#define RENEW_NS 500000000ull
#define STREAMS_PER_PROCESS 8
#define ANSWER_PAUSE_NS 2000000 /* between checks for tasks that layers still deliver at the end */
#define ANSWER_PAUSES 500 /* a running layer answers within 100 ms if it gets a CPU */

struct open_stream {
	struct device_stream *stream;
	pid_t pid;
	uint64_t renewed_ns;
	uint32_t ids[STREAM_DEVICES]; /* Device.id of each device, 0 = not described yet */
	uint32_t clocks[STREAM_DEVICES]; /* clock in the last description of each device */
	bool ended;
	struct item *batch; /* tasks of one device, not queued yet */
};

struct watched {
	pid_t pid;
	uint64_t next_look_ns; /* 0 = now */
	uint64_t next_search_ns;
	uint64_t pause_ns; /* from that search to the following one */
	uint64_t files; /* device_find_files() at the last search */
};

struct device_feed {
	const struct right *right;
	struct item_queue *queue;
	void (*warn)(void *context, const char *text);
	void *warn_context;
	struct watched *watched;
	size_t watched_count, watched_room;
	struct map watched_of; /* index in @watched, by process id */
	size_t next_watched; /* index of the next process to check */
	struct open_stream **streams;
	size_t stream_count;
	struct string_table *names;
	uint32_t next_id;
	uint64_t dropped;
	uint64_t end_ns; /* end of the session; 0 = not yet */
	uint64_t late; /* tasks that were enqueued after @end_ns */
};

struct device_feed *device_feed_new(struct item_queue *queue,
				    void (*warn)(void *context, const char *text), void *context)
{
	struct device_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->queue = queue;
	f->warn = warn;
	f->warn_context = context;
	f->next_id = 1;
	f->names = string_table_new();
	if (!f->names) {
		free(f);
		return NULL;
	}
	return f;
}

void device_feed_limit(struct device_feed *f, const struct right *right)
{
	f->right = right;
}

void device_feed_free(struct device_feed *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->stream_count; i++) {
		device_stream_close(f->streams[i]->stream);
		item_free(f->streams[i]->batch);
		free(f->streams[i]);
	}
	free(f->streams);
	free(f->watched);
	map_free(&f->watched_of);
	string_table_free(f->names);
	free(f);
}

static bool make_room(struct device_feed *f)
{
	size_t room = f->watched_room ? 2 * f->watched_room : 16;
	struct watched *watched;

	if (f->watched_count < f->watched_room)
		return true;
	watched = reallocarray(f->watched, room, sizeof(*watched));
	if (!watched)
		return false;
	f->watched = watched;
	f->watched_room = room;
	return true;
}

void device_feed_watch(struct device_feed *f, pid_t pid)
{
	uint32_t index = map_get(&f->watched_of, (uint64_t)pid);

	if (index != MAP_NONE) {
		f->watched[index].next_look_ns = f->watched[index].next_search_ns = 0;
		f->watched[index].pause_ns = SEARCH_MIN_NS;
		return;
	}
	if (make_room(f) && map_put(&f->watched_of, (uint64_t)pid, (uint32_t)f->watched_count))
		f->watched[f->watched_count++] = (struct watched){ .pid = pid, .pause_ns = SEARCH_MIN_NS };
}

void device_feed_forget(struct device_feed *f, pid_t pid, uint64_t ended_ns)
{
	uint32_t index = map_get(&f->watched_of, (uint64_t)pid);
	struct watched last;

	if (index == MAP_NONE)
		return;
	if (process_began_since(pid, ended_ns)) {
		device_feed_watch(f, pid);
		return;
	}
	map_remove(&f->watched_of, (uint64_t)pid);
	last = f->watched[--f->watched_count];
	f->watched[index] = last;
	if (last.pid != pid)
		map_put(&f->watched_of, (uint64_t)last.pid, index);
}

static size_t known_streams(const struct device_feed *f, pid_t pid, uint64_t *known)
{
	size_t n = 0;

	for (size_t i = 0; i < f->stream_count && n < STREAMS_PER_PROCESS; i++)
		if (f->streams[i]->pid == pid)
			known[n++] = device_stream_id(f->streams[i]->stream);
	return n;
}

static bool add_stream(struct device_feed *f, struct device_stream *stream, pid_t pid)
{
	struct open_stream **streams =
		realloc(f->streams, (f->stream_count + 1) * sizeof(*streams));
	struct open_stream *open = calloc(1, sizeof(*open));

	if (streams)
		f->streams = streams;
	if (!streams || !open) {
		free(open);
		device_stream_close(stream);
		return false;
	}
	open->stream = stream;
	open->pid = pid;
	streams[f->stream_count++] = open;
	return true;
}

/* Opens new streams of a process. Returns false if periodic checks are useless. */
static bool look(struct device_feed *f, pid_t pid)
{
	uint64_t known[STREAMS_PER_PROCESS];
	size_t n = known_streams(f, pid, known);
	struct device_stream *stream;
	char error[256] = "", text[320];
	int err = 0;

	while (n < STREAMS_PER_PROCESS &&
	       !(err = device_stream_open(pid, known, n, &stream, error, sizeof(error)))) {
		if (!right_holds(f->right, pid)) {
			device_stream_close(stream);
			return false;
		}
		if (!add_stream(f, stream, pid))
			return false;
		known[n++] = device_stream_id(stream);
	}
	if (err && err != -ENOENT && err != -ESRCH) {
		snprintf(text, sizeof(text), "device stream of process %d: %s", pid, error);
		f->warn(f->warn_context, text);
		return false;
	}
	return n == 0;
}

/* Finds streams with an open descriptor quickly by these; streams with a closed one only by the maps, less often. */
static void look_again(struct device_feed *f, struct watched *w, uint64_t now_ns)
{
	uint64_t files = device_find_files(w->pid);

	w->next_look_ns = now_ns + LOOK_AGAIN_NS;
	if (now_ns < w->next_search_ns && files == w->files)
		return;
	w->files = files;
	w->next_search_ns = now_ns + w->pause_ns;
	w->pause_ns = w->pause_ns < SEARCH_MAX_NS ? 2 * w->pause_ns : SEARCH_MAX_NS;
	if (!look(f, w->pid))
		w->next_look_ns = UINT64_MAX;
}

static void describe_device(struct device_feed *f, struct open_stream *s, uint32_t index,
			    const struct stream_device *d)
{
	Profbpf__Devices m = PROFBPF__DEVICES__INIT;
	Profbpf__Device device = PROFBPF__DEVICE__INIT, *one = &device;
	struct item *item;

	device.id = s->ids[index];
	device.tgid = s->pid;
	device.name = (char *)d->name;
	device.kind = (char *)d->kind;
	device.source = (char *)device_stream_source(s->stream);
	device.clock = trace_device_clock(d->clock);
	device.index = index;
	m.n_device = 1;
	m.device = &one;
	item = item_new(ITEM_BODY, profbpf__devices__get_packed_size(&m));
	if (!item)
		return;
	item->size = profbpf__devices__pack(&m, item->data);
	item->body = PROFBPF__PACKET__KIND__DEVICES;
	item->repeated = true;
	item_queue_push(f->queue, item);
}

/* Returns the trace's id of a device, which is described again when its clock becomes known; 0 = no such device. */
static uint32_t device_id(struct device_feed *f, struct open_stream *s, uint32_t index)
{
	struct stream_device d;

	if (device_stream_device(s->stream, index, &d))
		return 0;
	if (s->ids[index] && s->clocks[index] == d.clock)
		return s->ids[index];
	if (!s->ids[index])
		s->ids[index] = f->next_id++;
	s->clocks[index] = d.clock;
	describe_device(f, s, index, &d);
	return s->ids[index];
}

static const char *task_name(struct device_feed *f, const struct open_stream *s, uint32_t offset)
{
	char name[STREAM_TASK_NAME_MAX];
	ssize_t n = device_stream_name(s->stream, offset, name, sizeof(name));

	return string_table_get(f->names, string_table_add(f->names, name, n > 0 ? n : 0));
}

static void hand_over(struct device_feed *f, struct open_stream *s)
{
	if (s->batch && !item_queue_push(f->queue, s->batch)) {
		f->dropped += s->batch->count;
		item_free(s->batch);
	}
	s->batch = NULL;
}

/* Consecutive tasks of one device form a batch. */
static void add_tasks(struct device_feed *f, struct open_stream *s, const struct stream_task *tasks,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct device_row row = { .task = tasks[i],
					  .name = task_name(f, s, tasks[i].name),
					  .tid = tasks[i].tid };
		uint32_t id;

		if (f->end_ns && tasks[i].enqueue_ns >= f->end_ns) {
			f->late++;
			continue;
		}
		id = device_id(f, s, tasks[i].device);
		if (!id) {
			f->dropped++;
			continue;
		}
		if (s->batch && (s->batch->device != id || s->batch->count >= BATCH))
			hand_over(f, s);
		if (!s->batch) {
			s->batch = item_new(ITEM_DEVICE, 16 * sizeof(row));
			if (s->batch)
				s->batch->device = id;
		}
		if (!s->batch || item_append(s->batch, &row, sizeof(row)))
			f->dropped++;
	}
}

static void read_stream(struct device_feed *f, struct open_stream *s, uint64_t now_ns)
{
	struct stream_task tasks[READ_MAX];
	char text[128];
	ssize_t n;

	if (s->ended)
		return;
	if (now_ns - s->renewed_ns >= RENEW_NS) {
		device_stream_renew(s->stream, now_ns);
		s->renewed_ns = now_ns;
	}
	while ((n = device_stream_read(s->stream, now_ns, tasks, READ_MAX)) > 0)
		add_tasks(f, s, tasks, n);
	if (n < 0) {
		snprintf(text, sizeof(text),
			 "process %d has damaged its device stream; profbpfd no longer reads it",
			 s->pid);
		f->warn(f->warn_context, text);
		s->ended = true;
	}
}

bool device_feed_is_open(const struct device_feed *f)
{
	return f->stream_count > 0;
}

static void look_at_some(struct device_feed *f, uint64_t now_ns)
{
	size_t looks = 0;

	for (size_t i = 0; i < f->watched_count && looks < DEVICE_FEED_LOOKS; i++) {
		struct watched *w = &f->watched[f->next_watched++ % f->watched_count];

		if (now_ns < w->next_look_ns)
			continue;
		look_again(f, w, now_ns);
		looks++;
	}
}

void device_feed_poll(struct device_feed *f, uint64_t now_ns, bool flush)
{
	look_at_some(f, now_ns);
	for (size_t i = 0; i < f->stream_count; i++) {
		read_stream(f, f->streams[i], now_ns);
		if (flush)
			hand_over(f, f->streams[i]);
	}
}

static bool may_come(const struct open_stream *s)
{
	return !s->ended && !device_stream_answered(s->stream) && kill(s->pid, 0) == 0;
}

/* May any stream still deliver tasks? */
static bool is_waited_for(const struct device_feed *f)
{
	for (size_t i = 0; i < f->stream_count; i++)
		if (may_come(f->streams[i]))
			return true;
	return false;
}

static void say_unanswered(const struct device_feed *f, const struct open_stream *s)
{
	char text[192];

	snprintf(text, sizeof(text),
		 "the device layer in process %d did not deliver the tasks that its runtime still "
		 "holds: device tasks of the end of the recording may be missing; the process had "
		 "no CPU, or is stopped",
		 s->pid);
	f->warn(f->warn_context, text);
}

/* Makes layers deliver the tasks that their runtimes still hold: all layers in parallel. */
static void let_deliver(struct device_feed *f, uint64_t now_ns)
{
	const struct timespec pause = { .tv_nsec = ANSWER_PAUSE_NS };

	for (size_t i = 0; i < f->stream_count; i++)
		device_stream_ask(f->streams[i]->stream, now_ns);
	for (unsigned int i = 0; i < ANSWER_PAUSES && is_waited_for(f); i++) {
		nanosleep(&pause, NULL);
		/* Reads meanwhile, so that new tasks do not overwrite unread ones. */
		for (size_t k = 0; k < f->stream_count; k++)
			read_stream(f, f->streams[k], now_ns);
	}
	for (size_t i = 0; i < f->stream_count; i++)
		if (may_come(f->streams[i]))
			say_unanswered(f, f->streams[i]);
}

void device_feed_finish(struct device_feed *f, uint64_t now_ns, uint64_t end_ns)
{
	f->end_ns = end_ns;
	let_deliver(f, now_ns);
	for (size_t i = 0; i < f->stream_count; i++) {
		read_stream(f, f->streams[i], now_ns);
		hand_over(f, f->streams[i]);
		device_stream_finish(f->streams[i]->stream);
	}
}

void device_feed_count(const struct device_feed *f, struct source_count *count)
{
	uint64_t lost = 0, untimed = 0;

	memset(count, 0, sizeof(*count));
	for (size_t i = 0; i < f->stream_count; i++) {
		struct device_stream_counts c;

		device_stream_count(f->streams[i]->stream, &c);
		count->produced += c.produced + c.untimed;
		lost += c.lost;
		untimed += c.untimed;
	}
	count->produced -= f->late;
	count->lost[count->lost_count++] = (struct lost_count){ "overwritten", lost };
	count->lost[count->lost_count++] = (struct lost_count){ "times not reported", untimed };
	count->lost[count->lost_count++] = (struct lost_count){ "slow output", f->dropped };
}
