/* SPDX-License-Identifier: Apache-2.0 */
/* session_run.c - a live session: rings, ticks, processes that come and go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/host_stats.h"
#include "daemon/profbpfd/session_private.h"

#define POLL_MS 10
#define FLUSH_NS 250000000ull
#define TICK_NS 1000000000ull

static void process_started(void *context, pid_t pid, uint64_t ts_ns)
{
	struct session *s = context;

	if (s->prober)
		prober_scan(s->prober, pid, ts_ns);
	if (s->devices)
		device_feed_watch(s->devices, pid);
}

static void process_exited(void *context, pid_t pid)
{
	struct session *s = context;

	if (s->prober)
		prober_forget(s->prober, pid);
	if (s->devices)
		device_feed_forget(s->devices, pid);
	if (s->exited_count < EXITED_MAX)
		s->exited[s->exited_count++] = pid;
}

/* Threads of a process that has exited may still wait for their last turn: they stay targets a while. */
static void remove_exited(struct session *s)
{
	for (size_t i = 0; i < s->exited_before; i++)
		capture_target_remove(s->capture, s->exited[i]);
	s->exited_count -= s->exited_before;
	memmove(s->exited, s->exited + s->exited_before, s->exited_count * sizeof(*s->exited));
	s->exited_before = s->exited_count;
}

struct recorder_events session_events(struct session *s)
{
	return (struct recorder_events){ process_started, process_exited, s };
}

static void file_mapped(void *context, pid_t pid, uint64_t ts_ns)
{
	struct session *s = context;

	if (capture_is_target(s->capture, pid))
		process_started(s, pid, ts_ns);
}

static void look_again(void *context, pid_t pid)
{
	process_started(context, pid, session_now_ns());
}

static void maps_missed(void *context)
{
	struct session *s = context;

	capture_each_target(s->capture, look_again, s);
}

struct map_events_handler session_map_events(struct session *s)
{
	return (struct map_events_handler){ file_mapped, maps_missed, s };
}

void session_drain(struct session *s, bool flush)
{
	capture_drain(s->capture, recorder_handle, s->recorder);
	recorder_pass(s->recorder, flush);
}

void session_push(struct session *s, struct item *item)
{
	if (item)
		item_queue_push(s->queue, item);
}

static void tick(struct session *s)
{
	remove_exited(s);
	session_push(s, host_stats_clocks());
	session_push(s, host_stats_cpus());
	if (s->request.topics & TOPIC_SCHED)
		capture_snapshot(s->capture, false, false);
	session_push_statistics(s, false);
}

static void target_exited(struct session *s, size_t index)
{
	if (s->pidfds[index] < 0)
		return;
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->pidfds[index], NULL);
	close(s->pidfds[index]);
	s->pidfds[index] = -1;
	if (!--s->alive)
		session_end(s, false,
			    s->request.pid_count > 1 ? "all targets exited" : "target exited");
}

void session_check_writer(struct session *s)
{
	int err = writer_error(s->writer);
	char text[256];

	if (!err)
		return;
	snprintf(text, sizeof(text),
		 "writing the trace failed: %s; the %llu bytes written before stay readable%s",
		 err == -ETIMEDOUT ? "its reader has stopped reading" : strerror(-err),
		 (unsigned long long)writer_bytes(s->writer),
		 err == -ENOSPC ? " (free some space, or choose another place with -o)" : "");
	session_end(s, true, text);
}

static void handle_events(struct session *s, const struct epoll_event *events, int n)
{
	uint64_t value;

	for (int i = 0; i < n; i++) {
		uint64_t what = events[i].data.u64;

		if (what == WAKE_OWN && read(s->wake_fd, &value, sizeof(value)) > 0)
			session_check_writer(s);
		else if (what >= WAKE_PIDFD)
			target_exited(s, what - WAKE_PIDFD);
	}
}

void session_run(struct session *s)
{
	uint64_t next_tick = s->start_ns + TICK_NS, next_flush = s->start_ns + FLUSH_NS;
	uint64_t deadline = s->request.duration_ns ? s->start_ns + s->request.duration_ns
						   : UINT64_MAX;
	struct epoll_event events[16];

	while (!session_stop_asked(s)) {
		int n = epoll_wait(s->epoll_fd, events, 16, POLL_MS);
		uint64_t now = session_now_ns();

		handle_events(s, events, n);
		if (s->maps)
			map_events_read(s->maps);
		if (now >= deadline)
			session_end(s, false, "duration");
		session_drain(s, now >= next_flush);
		if (s->devices)
			device_feed_poll(s->devices, now, now >= next_flush);
		if (now >= next_flush)
			next_flush = now + FLUSH_NS;
		if (now >= next_tick) {
			next_tick += TICK_NS;
			tick(s);
		}
	}
}
