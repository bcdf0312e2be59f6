/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "daemon/profbpfd/calibrate.h"
#include "daemon/profbpfd/capture.h"
#include "daemon/profbpfd/device_feed.h"
#include "daemon/profbpfd/host_stats.h"
#include "daemon/profbpfd/item.h"
#include "daemon/profbpfd/prober.h"
#include "daemon/profbpfd/probes.h"
#include "daemon/profbpfd/process_info.h"
#include "daemon/profbpfd/recorder.h"
#include "daemon/profbpfd/segment.h"
#include "daemon/profbpfd/texts.h"
#include "daemon/profbpfd/writer.h"

#define POLL_MS 10
#define FLUSH_NS 250000000ull
#define TICK_NS 1000000000ull
#define QUEUE_BYTES (128u << 20)	/* records waiting for the writer, at most */
#define GIVE_UP_NS 5000000000ull	/* a reader of the output that reads nothing for so long at the end */
#define WARNINGS_MAX 64
#define EXITED_MAX 4096

struct session {
	uint32_t id;
	struct session_request request;
	const struct catalogs *catalogs;
	int event_fd;			/* the control loop's */
	int wake_fd;			/* our own: stop requests, writer failures */
	pthread_t thread;

	/* Shared with the control loop, under lock. */
	pthread_mutex_t lock;
	enum session_state state;
	bool stop_asked;
	bool failed;
	char reason[512];
	char *warnings[WARNINGS_MAX];
	size_t warning_count;
	uint64_t start_ns, end_ns;
	uint32_t functions, files;
	struct source_count counts[TRACE_SOURCES];

	/* The session's own threads only. */
	struct features features;
	struct capture *capture;
	struct probes *probes;
	struct prober *prober;
	struct item_queue *queue;
	struct texts *texts;
	struct recorder *recorder;
	struct device_feed *devices;
	struct segment *segment;
	struct writer *writer;
	pid_t *targets;			/* with descendants */
	size_t target_count;
	int epoll_fd;
	uint32_t probe_cost_ns;
	size_t alive;			/* requested processes still running */
	int *pidfds;
	pid_t exited[EXITED_MAX];	/* to be removed from the targets */
	size_t exited_count;
	size_t exited_before;		/* of them, those that exited before the last tick */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the reader will wake up anyway */
}

static void set_state(struct session *s, enum session_state state)
{
	pthread_mutex_lock(&s->lock);
	s->state = state;
	pthread_mutex_unlock(&s->lock);
	signal_fd(s->event_fd);
}

static void end_because(struct session *s, bool failed, const char *reason)
{
	pthread_mutex_lock(&s->lock);
	/* A failure outweighs the reason for which it was going to end anyway. */
	if (!s->reason[0] || (failed && !s->failed)) {
		snprintf(s->reason, sizeof(s->reason), "%s", reason);
		s->failed = failed;
	}
	s->stop_asked = true;
	pthread_mutex_unlock(&s->lock);
}

static bool stop_asked(struct session *s)
{
	bool asked;

	pthread_mutex_lock(&s->lock);
	asked = s->stop_asked;
	pthread_mutex_unlock(&s->lock);
	return asked;
}

static void warn(void *context, const char *text)
{
	struct session *s = context;

	pthread_mutex_lock(&s->lock);
	if (s->warning_count < WARNINGS_MAX) {
		s->warnings[s->warning_count] = strdup(text);
		if (s->warnings[s->warning_count])
			s->warning_count++;
	}
	pthread_mutex_unlock(&s->lock);
}

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

static int start_capture(struct session *s)
{
	struct capture_options options = {
		.system_wide = s->request.system_wide,
		.follow = s->request.follow,
		.min_duration_ns = s->request.min_duration_ns,
		.buffer_bytes = s->request.buffer_bytes,
		.topics = s->request.topics,
	};
	char error[512];

	features_probe(&s->features);
	s->capture = capture_new(&options, &s->features, error, sizeof(error));
	if (!s->capture)
		end_because(s, true, error);
	return s->capture ? 0 : -1;
}

static int make_parts(struct session *s)
{
	struct recorder_events events = { process_started, process_exited, process_started, s };

	s->queue = item_queue_new(QUEUE_BYTES);
	s->texts = texts_new();
	s->recorder = s->queue && s->texts ?
			      recorder_new(libbpf_num_possible_cpus(), s->queue, s->texts, &events) :
			      NULL;
	if (s->recorder && s->request.topics & TOPIC_DEVICE)
		s->devices = device_feed_new(s->queue, warn, s);
	if (!s->recorder || (s->request.topics & TOPIC_DEVICE && !s->devices)) {
		end_because(s, true, "out of memory");
		return -1;
	}
	return 0;
}

static int find_targets(struct session *s)
{
	int err = 0;

	s->targets = calloc(s->request.pid_count + 1, sizeof(*s->targets));
	if (!s->targets) {
		end_because(s, true, "out of memory");
		return -1;
	}
	memcpy(s->targets, s->request.pids, s->request.pid_count * sizeof(*s->targets));
	s->target_count = s->request.pid_count;
	if (s->request.follow && !s->request.system_wide)
		err = process_descendants(&s->targets, &s->target_count);
	if (s->request.system_wide)
		err = process_all(&s->targets, &s->target_count);
	if (err) {
		end_because(s, true, strerror(-err));
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
			warn(s, text);
		}
	}
	if (s->request.pid_count)
		probes_search_libraries(s->probes, s->request.pids[0]);
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
	s->probe_cost_ns = calibrate(s->capture);
	s->probes = probes_new(s->capture, s->catalogs, s->queue, &options, warn, s);
	if (!s->probes) {
		end_because(s, true, "out of memory");
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
		end_because(s, true, error);
		return -1;
	}
	if (warning[0])
		warn(s, warning);
	return 0;
}

static int watch_fd(struct session *s, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

enum { WAKE_OWN, WAKE_RINGS, WAKE_PIDFD /* + index */ };

static int watch_everything(struct session *s)
{
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->pidfds = calloc(s->request.pid_count + 1, sizeof(*s->pidfds));
	if (s->epoll_fd < 0 || !s->pidfds || watch_fd(s, s->wake_fd, WAKE_OWN) ||
	    watch_fd(s, capture_epoll_fd(s->capture), WAKE_RINGS)) {
		end_because(s, true, "setting up the session's event loop failed");
		return -1;
	}
	for (size_t i = 0; i < s->request.pid_count; i++) {
		s->pidfds[i] = syscall(SYS_pidfd_open, s->request.pids[i], 0);
		if (s->pidfds[i] >= 0 && !watch_fd(s, s->pidfds[i], WAKE_PIDFD + i))
			s->alive++;
	}
	if (s->request.pid_count && !s->alive) {
		end_because(s, true, "no target is left: all processes have exited");
		return -1;
	}
	return 0;
}

static void drain(struct session *s, bool flush)
{
	capture_drain(s->capture, recorder_handle, s->recorder);
	recorder_pass(s->recorder, flush);
}

static void push_if(struct item_queue *queue, struct item *item)
{
	if (item)
		item_queue_push(queue, item);
}

static int start_writer(struct session *s)
{
	s->segment = segment_new(&s->request, &s->features, s->start_ns, s->warnings,
				 s->warning_count, s->probe_cost_ns);
	s->writer = s->segment ? writer_new(s->request.output, segment_message(s->segment),
					    s->queue, s->texts, s->wake_fd) :
				 NULL;
	if (!s->writer) {
		end_because(s, true, "out of memory");
		return -1;
	}
	return 0;
}

/* From here on everything counts. */
static int go_live(struct session *s)
{
	s->start_ns = now_ns();
	if (start_writer(s))
		return -1;
	push_if(s->queue, host_stats_clocks());
	push_if(s->queue, host_stats_cpus());
	for (size_t i = 0; i < s->target_count && !s->request.system_wide; i++) {
		if (capture_target_add(s->capture, s->targets[i]))
			warn(s, "too many processes: some are not traced");
		if (s->devices)
			device_feed_watch(s->devices, s->targets[i]);
	}
	if (s->request.topics & TOPIC_SCHED && capture_snapshot(s->capture, true, true))
		warn(s, "the threads' figures at the start could not be read");
	if (s->probes) {
		s->prober = prober_new(s->probes);
		if (!s->prober)
			warn(s, "out of memory: libraries loaded later are not probed");
	}
	if (s->devices)
		device_feed_poll(s->devices, now_ns(), false);
	set_state(s, SESSION_LIVE);
	return 0;
}

static void count_kernel(struct session *s, const struct source_stats *stats, unsigned int source,
			 struct source_count *count)
{
	static const char *const reasons[LOSSES] = {
		[LOSS_RING_FULL] = "ring full",
		[LOSS_TOO_DEEP] = "nested too deep",
		[LOSS_NO_MEMORY] = "no memory",
		[LOSS_UNMATCHED] = "left without return",
	};

	count->produced = stats->produced;
	count->used = recorder_used(s->recorder, source);
	for (int i = 0; i < LOSSES; i++)
		count->lost[count->lost_count++] = (struct lost_count){ reasons[i], stats->lost[i] };
	count->lost[count->lost_count++] =
		(struct lost_count){ "slow output", recorder_dropped(s->recorder, source) };
}

static void update_counts(struct session *s)
{
	struct source_count counts[TRACE_SOURCES] = { 0 };
	struct source_stats stats[SOURCES];

	if (!capture_stats(s->capture, stats))
		for (unsigned int i = 0; i < SOURCES; i++)
			count_kernel(s, &stats[i], i, &counts[i]);
	if (s->devices)
		device_feed_count(s->devices, &counts[SOURCE_DEVICE]);
	pthread_mutex_lock(&s->lock);
	memcpy(s->counts, counts, sizeof(counts));
	if (s->probes && !s->prober) {
		s->functions = probes_functions(s->probes);
		s->files = probes_files(s->probes);
	}
	pthread_mutex_unlock(&s->lock);
}

static void add_short(void *context, const struct short_key *key, uint64_t count, uint64_t total_ns)
{
	struct statistics_row *row = context;
	struct short_row *rows = realloc(row->short_calls, (row->short_count + 1) * sizeof(*rows));

	if (!rows)
		return;
	row->short_calls = rows;
	rows[row->short_count++] = (struct short_row){ key->probe, key->tgid, count, total_ns };
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void push_statistics(struct session *s, bool final)
{
	struct item *item = item_new(ITEM_STATISTICS, sizeof(struct statistics_row));
	struct statistics_row row = { .ts_ns = final ? s->end_ns : now_ns(), .final = final };

	if (!item)
		return;
	update_counts(s);
	memcpy(row.sources, s->counts, sizeof(row.sources));
	row.daemon_cpu_ns = thread_cpu_ns();
	snprintf(row.end_reason, sizeof(row.end_reason), "%s", s->reason);
	if (s->request.min_duration_ns)
		capture_short_calls(s->capture, add_short, &row);
	if (item_append(item, &row, sizeof(row))) {
		free(row.short_calls);
		item_free(item);
		return;
	}
	item_queue_push(s->queue, item);
}

static void tick(struct session *s)
{
	remove_exited(s);
	push_if(s->queue, host_stats_clocks());
	push_if(s->queue, host_stats_cpus());
	if (s->request.topics & TOPIC_SCHED)
		capture_snapshot(s->capture, false, false);
	push_statistics(s, false);
}

static void target_exited(struct session *s, size_t index)
{
	if (s->pidfds[index] < 0)
		return;
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->pidfds[index], NULL);
	close(s->pidfds[index]);
	s->pidfds[index] = -1;
	if (!--s->alive)
		end_because(s, false, s->request.pid_count > 1 ? "all targets exited" :
								 "target exited");
}

static void check_writer(struct session *s)
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
	end_because(s, true, text);
}

static void handle_events(struct session *s, const struct epoll_event *events, int n)
{
	uint64_t value;

	for (int i = 0; i < n; i++) {
		uint64_t what = events[i].data.u64;

		if (what == WAKE_OWN && read(s->wake_fd, &value, sizeof(value)) > 0)
			check_writer(s);
		else if (what >= WAKE_PIDFD)
			target_exited(s, what - WAKE_PIDFD);
	}
}

static void run_live(struct session *s)
{
	uint64_t next_tick = s->start_ns + TICK_NS, next_flush = s->start_ns + FLUSH_NS;
	uint64_t deadline = s->request.duration_ns ? s->start_ns + s->request.duration_ns :
						     UINT64_MAX;
	struct epoll_event events[16];

	while (!stop_asked(s)) {
		int n = epoll_wait(s->epoll_fd, events, 16, POLL_MS);
		uint64_t now = now_ns();

		handle_events(s, events, n);
		if (now >= deadline)
			end_because(s, false, "duration");
		drain(s, now >= next_flush);
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

/* The order matters: nothing may be recorded after its counter was read. */
static void finish_capture(struct session *s)
{
	s->end_ns = now_ns();
	set_state(s, SESSION_ENDING);
	capture_stop(s->capture);
	push_if(s->queue, host_stats_cpus());
	if (s->request.topics & TOPIC_SCHED)
		capture_snapshot(s->capture, false, true);
	push_if(s->queue, host_stats_clocks());
	drain(s, true);
	prober_free(s->prober);
	s->prober = NULL;
	if (s->probes)
		probes_detach(s->probes);
	capture_set_end(s->capture, s->end_ns);
	capture_flush_open(s->capture);
	drain(s, true);
	if (s->devices)
		device_feed_finish(s->devices, now_ns(), s->end_ns);
}

static void finish_writer(struct session *s)
{
	struct item *end = item_new(ITEM_END, 0);
	uint64_t last = 0, since = now_ns();

	push_statistics(s, true);
	if (end)
		item_queue_push(s->queue, end);
	/* Wait as long as the output takes something. */
	while (!writer_ended(s->writer)) {
		struct timespec pause = { .tv_nsec = 2000000 };
		uint64_t bytes = writer_bytes(s->writer);

		nanosleep(&pause, NULL);
		if (bytes != last) {
			last = bytes;
			since = now_ns();
		} else if (now_ns() - since > GIVE_UP_NS) {
			writer_give_up(s->writer);
		}
	}
	writer_finish(s->writer);
	check_writer(s);
}

static void release(struct session *s)
{
	prober_free(s->prober);
	probes_free(s->probes);
	capture_free(s->capture);
	s->prober = NULL;
	s->probes = NULL;
	s->capture = NULL;
	recorder_free(s->recorder);
	s->recorder = NULL;
	for (size_t i = 0; s->pidfds && i < s->request.pid_count; i++)
		if (s->pidfds[i] >= 0)
			close(s->pidfds[i]);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	s->epoll_fd = -1;
}

static void *run(void *context)
{
	struct session *s = context;

	pthread_setname_np(pthread_self(), "profbpfd/read");
	if (!start_capture(s) && !make_parts(s) && !find_targets(s) && !start_probes(s) &&
	    !attach_programs(s) && !watch_everything(s) && !go_live(s)) {
		run_live(s);
		finish_capture(s);
		finish_writer(s);
	}
	close(s->request.output);
	s->request.output = -1;
	set_state(s, SESSION_ENDED);
	/* The kernel takes 0.1 s to let go of each tracepoint: nobody need wait for that. */
	release(s);
	set_state(s, SESSION_RELEASED);
	return NULL;
}

struct session *session_new(uint32_t id, struct session_request *request,
			    const struct catalogs *catalogs, int event_fd)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->id = id;
	s->request = *request;
	s->catalogs = catalogs;
	s->event_fd = event_fd;
	s->epoll_fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0 || pthread_create(&s->thread, NULL, run, s)) {
		free(s);
		return NULL;
	}
	return s;
}

void session_stop(struct session *s, const char *reason)
{
	end_because(s, false, reason);
	signal_fd(s->wake_fd);
}

static void fill_source(struct session *s, unsigned int source, struct session_source *out)
{
	const struct source_count *count = &s->counts[source];
	uint64_t unwritten = s->writer ? writer_unwritten(s->writer, source) : 0;

	out->name = trace_source_name(source);
	out->produced = count->produced;
	out->delivered = count->used + (s->writer ? writer_delivered(s->writer, source) : 0);
	for (uint32_t i = 0; i < count->lost_count; i++) {
		if (!count->lost[i].count)
			continue;
		out->lost[out->lost_count].reason = count->lost[i].reason;
		out->lost[out->lost_count++].count = count->lost[i].count;
	}
	if (unwritten) {
		out->lost[out->lost_count].reason = "not written";
		out->lost[out->lost_count++].count = unwritten;
	}
}

void session_info(struct session *s, struct session_info *info)
{
	memset(info, 0, sizeof(*info));
	pthread_mutex_lock(&s->lock);
	info->id = s->id;
	info->state = s->state;
	info->failed = s->failed;
	snprintf(info->reason, sizeof(info->reason), "%s", s->reason);
	info->start_ns = s->start_ns;
	info->end_ns = s->end_ns;
	info->functions = s->functions;
	info->files = s->files;
	info->method = probe_method_name(s->request.topics & TOPIC_API ? s->features.method :
									   PROBE_METHOD_NONE);
	info->warnings = s->warnings;
	info->warning_count = s->warning_count;
	if (s->state != SESSION_STARTING && s->writer) {
		info->bytes = writer_bytes(s->writer);
		for (unsigned int i = 0; i < TRACE_SOURCES; i++)
			fill_source(s, i, &info->sources[info->source_count++]);
	}
	pthread_mutex_unlock(&s->lock);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	pthread_join(s->thread, NULL);
	writer_free(s->writer);
	segment_free(s->segment);
	device_feed_free(s->devices);
	item_queue_free(s->queue);
	texts_free(s->texts);
	for (size_t i = 0; i < s->warning_count; i++)
		free(s->warnings[i]);
	for (size_t i = 0; i < s->request.file_count; i++)
		close(s->request.files[i]);
	free(s->request.files);
	free(s->request.pids);
	free(s->pidfds);
	free(s->targets);
	close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
