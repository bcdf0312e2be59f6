/* SPDX-License-Identifier: Apache-2.0 */
/* session_start.c - a session from its request to going live. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "daemon/profbpfd/calibrate.h"
#include "daemon/profbpfd/host_stats.h"
#include "daemon/profbpfd/process_info.h"
#include "daemon/profbpfd/session_private.h"

#define QUEUE_BYTES (128u << 20) /* records waiting for the writer, at most */

static int start_capture(struct session *s)
{
	struct capture_options options = {
		.system_wide = s->request.system_wide,
		.follow = s->request.follow,
		.owner = s->request.owner,
		.min_duration_ns = s->request.min_duration_ns,
		.buffer_bytes = s->request.buffer_bytes,
		.topics = s->request.topics,
	};
	char error[512];

	features_probe(&s->features);
	s->capture = capture_new(&options, &s->features, error, sizeof(error));
	if (!s->capture)
		session_end(s, true, error);
	return s->capture ? 0 : -1;
}

static int make_parts(struct session *s)
{
	struct recorder_events events = session_events(s);

	s->queue = item_queue_new(QUEUE_BYTES);
	s->texts = texts_new();
	s->recorder = s->queue && s->texts ? recorder_new(libbpf_num_possible_cpus(), s->queue,
							  s->texts, &events)
					   : NULL;
	if (s->recorder && s->request.topics & TOPIC_DEVICE)
		s->devices = device_feed_new(s->queue, session_warn, s);
	if (!s->recorder || (s->request.topics & TOPIC_DEVICE && !s->devices)) {
		session_end(s, true, "out of memory");
		return -1;
	}
	return 0;
}

static int find_targets(struct session *s)
{
	int err = 0;

	s->targets = calloc(s->request.pid_count + 1, sizeof(*s->targets));
	if (!s->targets) {
		session_end(s, true, "out of memory");
		return -1;
	}
	memcpy(s->targets, s->request.pids, s->request.pid_count * sizeof(*s->targets));
	s->target_count = s->request.pid_count;
	if (s->request.follow && !s->request.system_wide)
		err = process_descendants(&s->targets, &s->target_count);
	if (s->request.system_wide)
		err = process_all(&s->targets, &s->target_count);
	if (err) {
		session_end(s, true, strerror(-err));
		return -1;
	}
	return 0;
}

static void probe_targets(struct session *s)
{
	char text[128];
	int err;

	for (size_t i = 0; i < s->target_count; i++)
		probes_expect(s->probes, s->targets[i]);
	for (size_t i = 0; i < s->request.file_count && s->request.pid_count; i++)
		probes_add_file(s->probes, s->request.files[i], s->request.pids[0]);
	for (size_t i = 0; i < s->target_count; i++) {
		/* What waits in profctl for its command maps profctl, not the command. */
		err = s->request.started_here ? 0 : probes_scan(s->probes, s->targets[i], 0);
		if (err && err != -ESRCH) {
			snprintf(text, sizeof(text), "process %d: its libraries cannot be read: %s",
				 s->targets[i], strerror(-err));
			session_warn(s, text);
		}
	}
	if (s->request.pid_count)
		probes_search_libraries(s->probes, s->request.pids[0]);
}

/* Begins before the files that are mapped already are looked at, so that none falls between. */
static void watch_maps(struct session *s)
{
	struct map_events_handler handler = session_map_events(s);
	char text[160];

	s->maps = map_events_new(&handler);
	if (s->maps)
		return;
	snprintf(text, sizeof(text),
		 "libraries loaded later are not seen: the kernel's events of mapped files are not "
		 "to be had: %s",
		 strerror(errno));
	session_warn(s, text);
}

static int start_probes(struct session *s)
{
	struct probes_options options = {
		.system_wide = s->request.system_wide,
		.follow = s->request.follow,
		.optimized_nop = s->features.optimized_nop,
	};

	if (!(s->request.topics & TOPIC_API))
		return 0;
	watch_maps(s);
	s->probe_cost_ns = calibrate(s->capture);
	s->probes = probes_new(s->capture, s->catalogs, s->queue, &options, session_warn, s);
	if (!s->probes) {
		session_end(s, true, "out of memory");
		return -1;
	}
	probe_targets(s);
	s->functions = probes_functions(s->probes);
	s->files = probes_files(s->probes);
	return 0;
}

static int attach_programs(struct session *s)
{
	char error[512], warning[512];

	if (capture_attach(s->capture, error, warning, sizeof(error))) {
		session_end(s, true, error);
		return -1;
	}
	if (warning[0])
		session_warn(s, warning);
	return 0;
}

static int watch_fd(struct session *s, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int watch_everything(struct session *s)
{
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->pidfds = calloc(s->request.pid_count + 1, sizeof(*s->pidfds));
	if (s->epoll_fd < 0 || !s->pidfds || watch_fd(s, s->wake_fd, WAKE_OWN) ||
	    watch_fd(s, capture_epoll_fd(s->capture), WAKE_RINGS) ||
	    (s->maps && watch_fd(s, map_events_fd(s->maps), WAKE_MAPS))) {
		session_end(s, true, "setting up the session's event loop failed");
		return -1;
	}
	for (size_t i = 0; i < s->request.pid_count; i++) {
		s->pidfds[i] = syscall(SYS_pidfd_open, s->request.pids[i], 0);
		if (s->pidfds[i] >= 0 && !watch_fd(s, s->pidfds[i], WAKE_PIDFD + i))
			s->alive++;
	}
	if (s->request.pid_count && !s->alive) {
		session_end(s, true, "no target is left: all processes have exited");
		return -1;
	}
	return 0;
}

static int start_writer(struct session *s)
{
	s->segment = segment_new(&s->request, &s->features, s->start_ns, s->warnings,
				 s->warning_count, s->probe_cost_ns);
	s->writer = s->segment ? writer_new(s->request.output, segment_message(s->segment),
					    s->queue, s->texts, s->wake_fd)
			       : NULL;
	if (!s->writer) {
		session_end(s, true, "out of memory");
		return -1;
	}
	return 0;
}

/* From here on everything counts. */
static int go_live(struct session *s)
{
	s->start_ns = session_now_ns();
	if (start_writer(s))
		return -1;
	session_push(s, host_stats_clocks());
	session_push(s, host_stats_cpus());
	for (size_t i = 0; i < s->target_count && !s->request.system_wide; i++) {
		if (capture_target_add(s->capture, s->targets[i]))
			session_warn(s, "too many processes: some are not traced");
		if (s->devices)
			device_feed_watch(s->devices, s->targets[i]);
	}
	if (s->request.topics & TOPIC_SCHED && capture_snapshot(s->capture, true, true))
		session_warn(s, "the threads' figures at the start could not be read");
	if (s->probes) {
		s->prober = prober_new(s->probes);
		if (!s->prober)
			session_warn(s, "out of memory: libraries loaded later are not probed");
	}
	if (s->devices)
		device_feed_poll(s->devices, session_now_ns(), false);
	session_set_state(s, SESSION_LIVE);
	return 0;
}

int session_start(struct session *s)
{
	if (start_capture(s) || make_parts(s) || find_targets(s) || start_probes(s) ||
	    attach_programs(s) || watch_everything(s))
		return -1;
	return go_live(s);
}
