/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/session/session_private.h"
#include "daemon/profbpfd/stacks/unwinder.h"

static void signal_fd(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the reader wakes up anyway */
}

void session_set_state(struct session *s, enum session_state state)
{
	pthread_mutex_lock(&s->lock);
	s->state = state;
	pthread_mutex_unlock(&s->lock);
	signal_fd(s->event_fd);
}

void session_end(struct session *s, bool failed, const char *reason)
{
	pthread_mutex_lock(&s->lock);
	/* A failure replaces an earlier, ordinary reason. */
	if (!s->reason[0] || (failed && !s->failed)) {
		snprintf(s->reason, sizeof(s->reason), "%s", reason);
		s->failed = failed;
	}
	s->stop_asked = true;
	pthread_mutex_unlock(&s->lock);
}

bool session_stop_asked(struct session *s)
{
	bool asked;

	pthread_mutex_lock(&s->lock);
	asked = s->stop_asked;
	pthread_mutex_unlock(&s->lock);
	return asked;
}

/* The note came too late for the segment's head, so it becomes a packet. */
static void put_note(struct session *s, const char *text)
{
	Profbpf__Notes m = PROFBPF__NOTES__INIT;
	char *texts[] = { (char *)text };
	struct item *item;

	m.n_text = 1;
	m.text = texts;
	item = item_new(ITEM_BODY, protobuf_c_message_get_packed_size(&m.base));
	if (!item)
		return;
	item->body = PROFBPF__PACKET__KIND__NOTES;
	item->repeated = true;
	item->size = protobuf_c_message_pack(&m.base, item->data);
	item_queue_push(s->queue, item);
}

void session_warn(void *context, const char *text)
{
	struct session *s = context;

	pthread_mutex_lock(&s->lock);
	if (s->warning_count < WARNINGS_MAX) {
		s->warnings[s->warning_count] = strdup(text);
		if (s->warnings[s->warning_count]) {
			s->warning_count++;
			if (s->segment)
				put_note(s, text);
		}
	}
	pthread_mutex_unlock(&s->lock);
}

void session_note(struct session *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	put_note(s, text);
	pthread_mutex_unlock(&s->lock);
}

static void release(struct session *s)
{
	map_events_free(s->maps);
	s->maps = NULL;
	prober_free(s->prober);
	probes_free(s->probes);
	/* The unwinder's thread writes to the programs' maps. */
	unwinder_leave(s->unwinding);
	s->unwinding = NULL;
	capture_free(s->capture);
	s->prober = NULL;
	s->probes = NULL;
	s->capture = NULL;
	recorder_free(s->recorder);
	cgroups_free(s->cgroups);
	s->cgroups = NULL;
	sampler_free(s->faults);
	s->faults = NULL;
	sampler_free(s->sampler);
	session_shed_free(s->shed);
	s->shed = NULL;
	stacks_free(s->stacks);
	s->recorder = NULL;
	s->sampler = NULL;
	s->stacks = NULL;
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	s->epoll_fd = -1;
}

static void *run(void *context)
{
	struct session *s = context;

	pthread_setname_np(pthread_self(), "profbpfd/read");
	/* Sessions of ordinary users do not get a higher priority. */
	if (s->request.owner == (uid_t)-1)
		priority_raise();
	if (!session_start(s)) {
		session_run(s);
		session_finish_capture(s);
		session_finish_writer(s);
	}
	session_flight_close(s);
	if (s->request.output >= 0)
		close(s->request.output);
	s->request.output = -1;
	session_set_state(s, SESSION_ENDED);
	/* The kernel takes 0.1 s to release each tracepoint: the session counts as ended before that. */
	release(s);
	session_set_state(s, SESSION_RELEASED);
	return NULL;
}

static void free_request(struct session_request *request)
{
	if (request->output >= 0)
		close(request->output);
	for (size_t i = 0; i < request->pid_count; i++)
		held_let_go(&request->held[i]);
	free(request->held);
	for (size_t i = 0; i < request->file_count; i++)
		close(request->files[i]);
	free(request->files);
	free(request->step_call);
	free(request->pids);
}

struct session *session_new(uint32_t id, struct session_request *request,
			    const struct catalogs *catalogs, int event_fd)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		free_request(request);
		return NULL;
	}
	s->id = id;
	s->request = *request;
	s->catalogs = catalogs;
	s->event_fd = event_fd;
	s->epoll_fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->request.keep_figures)
		s->figures = figures_new(&s->right);
	if (s->request.keep_figures)
		s->live = live_figures_new();
	if (s->wake_fd < 0 || pthread_create(&s->thread, NULL, run, s)) {
		if (s->wake_fd >= 0)
			close(s->wake_fd);
		figures_free(s->figures);
		live_figures_free(s->live);
		free_request(&s->request);
		free(s);
		return NULL;
	}
	return s;
}

void session_stop(struct session *s, const char *reason)
{
	session_end(s, false, reason);
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

static uint64_t lost_for(const struct source_books *of, const char *reason)
{
	for (uint32_t i = 0; i < of->lost_count; i++)
		if (!strcmp(of->lost[i].reason, reason))
			return of->lost[i].count;
	return 0;
}

/* For a session that began with a step: subtracts records before the step, which are not in the file. */
static void leave_out_before(const struct session_books *before, struct session_info *info)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		const struct source_books *of = &before->source[i];
		struct session_source *out = &info->sources[i];
		size_t count = 0;

		out->produced -= of->produced < out->produced ? of->produced : out->produced;
		out->delivered -= of->delivered < out->delivered ? of->delivered : out->delivered;
		for (size_t k = 0; k < out->lost_count; k++) {
			uint64_t lost = lost_for(of, out->lost[k].reason);

			if (out->lost[k].count <= lost)
				continue;
			out->lost[count] = out->lost[k];
			out->lost[count++].count -= lost;
		}
		out->lost_count = count;
	}
}

/* The caller holds the lock. */
static void fill_steps(struct session *s, struct session_info *info)
{
	uint64_t opened_ns = s->writer ? writer_opened_ns(s->writer) : 0;

	info->by_steps = s->request.step_call != NULL;
	info->first_step = s->request.first_step;
	info->wanted_steps = s->request.steps;
	if (!info->by_steps || info->state == SESSION_STARTING || !s->writer)
		return;
	step_gate_facts(s->steps.gate, &info->steps);
	if (opened_ns) {
		info->start_ns = opened_ns;
		leave_out_before(writer_before(s->writer), info);
	} else {
		info->bytes = 0; /* the data are only in memory */
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
	info->method = probe_method_name(s->request.topics & TOPIC_API ? s->features.method
								       : PROBE_METHOD_NONE);
	info->warnings = s->warnings;
	info->warning_count = s->warning_count;
	memcpy(info->shedding, s->shedding, sizeof(info->shedding));
	info->cost = s->cost;
	info->cost_known = s->cost_known;
	if (s->state != SESSION_STARTING)
		info->probe_costs = s->probe_costs;
	if (s->state != SESSION_STARTING && s->writer) {
		info->bytes = writer_bytes(s->writer);
		for (unsigned int i = 0; i < TRACE_SOURCES; i++)
			fill_source(s, i, &info->sources[info->source_count++]);
	}
	fill_steps(s, info);
	pthread_mutex_unlock(&s->lock);
}

size_t session_figures(struct session *s, struct process_figures *rows, size_t room)
{
	return s->figures ? figures_copy(s->figures, rows, room) : 0;
}

bool session_live_figures(struct session *s, struct live_copy *copy)
{
	if (s->live)
		live_figures_copy(s->live, copy);
	return s->live;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	pthread_join(s->thread, NULL);
	writer_free(s->writer);
	trigger_watch_free(s->watch);
	session_steps_free(s);
	segment_free(s->segment);
	device_feed_free(s->devices);
	item_queue_free(s->queue);
	texts_free(s->texts);
	code_names_free(s->code_names);
	figures_free(s->figures);
	live_figures_free(s->live);
	for (size_t i = 0; i < s->warning_count; i++)
		free(s->warnings[i]);
	free_request(&s->request);
	free(s->targets);
	close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
	/* Otherwise the allocator would keep the memory of batches and symbol tables: 50 MB and more. */
	malloc_trim(0);
}
