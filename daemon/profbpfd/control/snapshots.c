/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/snapshots.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/common/words.h"
#include "daemon/profbpfd/config_file.h"
#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/encode/trace_output.h"

#define ANSWERS_WITHIN_S 20 /* time limit of the sessions' answers */
#define PATIENCE_MS 5000 /* time limit for an output whose reader reads nothing */
#define REASON "snapshot"
#define REASON_MAX 448

struct snapshot;

struct part {
	struct snapshot *of;
	struct flight_window *window;
};

struct snapshot {
	struct snapshot *next;
	struct client *client; /* NULL = it is gone, or there was none; used only by the control loop */
	uint32_t request;
	uid_t uid; /* user of the client */
	void (*done_call)(void *context, int err); /* called at the end if there is no client; may be NULL */
	void *done_context;
	char reason[REASON_MAX];
	uint64_t kept_ns;
	int fd, event_fd;
	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t answered;
	size_t holders; /* the list, the thread, and sessions without an answer */
	size_t waiting; /* sessions without an answer */
	bool done;
	int err;
	uint64_t bytes;
	size_t count;
	struct part part[];
};

struct snapshots {
	struct snapshot *first;
	int event_fd;
};

struct snapshots *snapshots_new(void)
{
	struct snapshots *snapshots = calloc(1, sizeof(*snapshots));

	if (!snapshots)
		return NULL;
	snapshots->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (snapshots->event_fd >= 0)
		return snapshots;
	free(snapshots);
	return NULL;
}

int snapshots_fd(const struct snapshots *snapshots)
{
	return snapshots->event_fd;
}

/* ---- A single snapshot */

static void release(struct snapshot *s)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = !--s->holders;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	for (size_t i = 0; i < s->count; i++)
		flight_window_free(s->part[i].window);
	if (s->fd >= 0)
		close(s->fd);
	pthread_cond_destroy(&s->answered);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Takes a session's answer; called by any thread. */
static void take_window(void *context, struct flight_window *window)
{
	struct part *part = context;
	struct snapshot *s = part->of;

	pthread_mutex_lock(&s->lock);
	part->window = window;
	s->waiting--;
	pthread_cond_signal(&s->answered);
	pthread_mutex_unlock(&s->lock);
	release(s);
}

static int wait_for_answers(struct snapshot *s)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ANSWERS_WITHIN_S;
	pthread_mutex_lock(&s->lock);
	while (s->waiting && !err)
		err = pthread_cond_timedwait(&s->answered, &s->lock, &until);
	pthread_mutex_unlock(&s->lock);
	return err ? -ETIME : 0;
}

/* Writes the sessions one after the other: the analyzer reads all sessions of a file together. */
static int write_windows(struct snapshot *s)
{
	struct output output;
	bool any = false;
	int err = 0;

	output_init(&output, s->fd);
	output.patience_ms = PATIENCE_MS;
	for (size_t i = 0; i < s->count && !err; i++) {
		any |= s->part[i].window != NULL;
		if (s->part[i].window)
			err = flight_window_write(s->part[i].window, &output, s->reason);
	}
	s->bytes = output.written;
	return err ? err : any ? 0 : -ENODATA;
}

static void *run(void *context)
{
	struct snapshot *s = context;
	int err, event_fd = s->event_fd;
	uint64_t one = 1;

	pthread_setname_np(pthread_self(), "profbpfd/snap");
	err = wait_for_answers(s);
	if (!err)
		err = write_windows(s);
	close(s->fd);
	s->fd = -1;
	pthread_mutex_lock(&s->lock);
	s->err = err;
	s->done = true;
	pthread_mutex_unlock(&s->lock);
	if (write(event_fd, &one, sizeof(one)) < 0)
		err = 0; /* the counter is full: the control loop is awake */
	release(s);
	return NULL;
}

static int begin(struct snapshot *s)
{
	pthread_t thread;
	int err;

	/* Locked because sessions answer meanwhile. */
	pthread_mutex_lock(&s->lock);
	s->holders++;
	pthread_mutex_unlock(&s->lock);
	err = pthread_create(&thread, NULL, run, s);
	if (err)
		release(s);
	else
		pthread_detach(thread);
	return -err;
}

/* ---- Requests */

static bool is_crowded(const struct snapshots *snapshots, const struct peer *peer)
{
	size_t all = 0, own = 0;

	for (const struct snapshot *s = snapshots->first; s; s = s->next) {
		all++;
		own += s->uid == peer->uid;
	}
	return all >= SNAPSHOTS_MAX || (!peer->trusted && own >= SNAPSHOTS_PER_USER);
}

static const char *why_not(const struct services *services, const struct peer *peer, const struct control_fds *fds,
			   char *error, size_t error_size)
{
	struct flight_choice choice = flight_choice_of(peer);

	if (!services->recorder)
		return "there is no flight recorder: start profbpfd with --recorder 60s, or set it in "
		       CONFIG_FILE;
	if (descriptors_check(fds, error, error_size))
		return error;
	if (!flight_recorder_parts(services->recorder, &choice))
		return peer->trusted ? "the flight recorder has found no process to record yet; "
				       "profbpfd(8) describes which it records" :
				       "the flight recorder has recorded no process of yours; only "
				       "root and members of the group " ACCESS_GROUP
				       " get snapshots of all";
	if (is_crowded(services->snapshots, peer))
		return "too many snapshots are being written; try again later";
	return NULL;
}

static struct snapshot *new_snapshot(const struct services *services, const struct flight_choice *choice,
				     const char *reason)
{
	size_t count = flight_recorder_parts(services->recorder, choice);
	struct snapshot *s = calloc(1, sizeof(*s) + count * sizeof(s->part[0]));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->answered, NULL);
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->kept_ns = flight_recorder_window(services->recorder);
	s->event_fd = services->snapshots->event_fd;
	s->fd = -1;
	s->holders = 1;
	s->count = count;
	return s;
}

static void ask(const struct services *services, const struct flight_choice *choice, struct snapshot *s,
		const struct snapshot_wish *wish)
{
	struct flight_ask asks[RECORDER_USERS_MAX];
	struct timespec ts;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	s->waiting = s->count;
	s->holders += s->count;
	for (size_t i = 0; i < s->count; i++) {
		s->part[i].of = s;
		asks[i] = (struct flight_ask){ .take = take_window,
					       .context = &s->part[i],
					       .from_ns = wish->last_ns && wish->last_ns < now ? now - wish->last_ns : 0,
					       .sleepers = wish->sleepers,
					       .sleepers_of = wish->sleepers_of };
	}
	flight_recorder_ask(services->recorder, choice, asks);
}

void snapshot_request(struct services *services, struct client *client, uint32_t id,
		      const Profbpf__Control__TakeSnapshot *request, struct control_fds *fds)
{
	char error[256];
	const char *why = why_not(services, &client->peer, fds, error, sizeof(error));
	struct flight_choice choice = flight_choice_of(&client->peer);
	struct snapshot *s = why ? NULL : new_snapshot(services, &choice, REASON);

	if (!s) {
		client_refuse(client, id, why ? why : "profbpfd is out of memory");
		return;
	}
	s->client = client;
	s->uid = client->peer.uid;
	s->request = id;
	s->fd = control_fds_take(fds, 0);
	ask(services, &choice, s, &(struct snapshot_wish){ request->last_ns, request->sleepers, 0 });
	if (begin(s)) {
		client_refuse(client, id, "profbpfd is out of threads");
		release(s);
		return;
	}
	s->next = services->snapshots->first;
	services->snapshots->first = s;
}

int snapshot_write(struct services *services, const struct flight_choice *choice, const struct snapshot_wish *wish,
		   int fd, const char *reason, void (*done)(void *context, int err), void *context)
{
	const struct peer self = { .trusted = true };
	struct snapshot *s = NULL;
	int err = -ENOENT;

	if (flight_recorder_parts(services->recorder, choice)) {
		err = -EBUSY;
		if (!is_crowded(services->snapshots, &self))
			s = new_snapshot(services, choice, reason);
	}
	if (!s) {
		close(fd);
		return err;
	}
	s->uid = (uid_t)-1;
	s->fd = fd;
	s->done_call = done;
	s->done_context = context;
	ask(services, choice, s, wish);
	if (begin(s)) {
		release(s);
		return -EBUSY;
	}
	s->next = services->snapshots->first;
	services->snapshots->first = s;
	return 0;
}

/* ---- Answers */

struct answer {
	Profbpf__Control__Snapshot m;
	Profbpf__Control__SourceSummary source[TRACE_SOURCES], *sources[TRACE_SOURCES];
	Profbpf__Control__LostSummary lost[TRACE_SOURCES][LOST_REASONS + 2], *losts[TRACE_SOURCES][LOST_REASONS + 2];
	struct session_books books;
};

static void add_books(struct session_books *sum, const struct session_books *books)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		struct source_books *to = &sum->source[i];
		const struct source_books *from = &books->source[i];

		to->dropped_old += from->dropped_old;
		to->dropped_room += from->dropped_room;
		to->produced += from->produced;
		to->delivered += from->delivered;
		for (uint32_t k = 0; k < from->lost_count; k++) {
			uint32_t at = 0;

			while (at < to->lost_count && strcmp(to->lost[at].reason, from->lost[k].reason))
				at++;
			if (at < to->lost_count)
				to->lost[at].count += from->lost[k].count;
			else
				source_books_lose(to, from->lost[k].reason, from->lost[k].count);
		}
	}
}

static void fill_sources(struct answer *a)
{
	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		const struct source_books *from = &a->books.source[i];

		profbpf__control__source_summary__init(&a->source[i]);
		a->source[i].name = (char *)trace_source_name(i);
		a->source[i].produced = from->produced;
		a->source[i].delivered = from->delivered;
		a->source[i].dropped = from->dropped_old + from->dropped_room;
		a->m.dropped_old += from->dropped_old;
		a->m.dropped_room += from->dropped_room;
		a->source[i].lost = a->losts[i];
		a->source[i].n_lost = from->lost_count;
		for (uint32_t k = 0; k < from->lost_count; k++) {
			profbpf__control__lost_summary__init(&a->lost[i][k]);
			a->lost[i][k].reason = (char *)from->lost[k].reason;
			a->lost[i][k].count = from->lost[k].count;
			a->losts[i][k] = &a->lost[i][k];
		}
		a->sources[i] = &a->source[i];
	}
	a->m.sources = a->sources;
	a->m.n_sources = TRACE_SOURCES;
}

static void answer(struct snapshot *s)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	struct answer *a = calloc(1, sizeof(*a));
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	if (!a) {
		client_refuse(s->client, s->request, "profbpfd is out of memory");
		return;
	}
	profbpf__control__snapshot__init(&a->m);
	for (size_t i = 0; i < s->count; i++) {
		const struct flight_window_facts *facts;

		if (!s->part[i].window)
			continue;
		facts = flight_window_facts(s->part[i].window);
		add_books(&a->books, &facts->books);
		a->m.processes += facts->processes;
		from_ns = facts->from_ns < from_ns ? facts->from_ns : from_ns;
		to_ns = facts->to_ns > to_ns ? facts->to_ns : to_ns;
	}
	fill_sources(a);
	a->m.duration_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	a->m.bytes = s->bytes;
	a->m.kept_ns = s->kept_ns;
	response.id = s->request;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_SNAPSHOT;
	response.snapshot = &a->m;
	client_send(s->client, &response.base);
	free(a);
}

static void tell(struct snapshot *s)
{
	char text[256];

	if (s->done_call)
		s->done_call(s->done_context, s->err);
	if (!s->client)
		return;
	if (!s->err) {
		answer(s);
		return;
	}
	snprintf(text, sizeof(text), "writing the snapshot failed: %s",
		 s->err == -ETIME      ? "the flight recorder does not answer" :
		 s->err == -ENODATA    ? "the flight recorder has no records of that time" :
		 s->err == -ETIMEDOUT  ? "the output's reader has stopped reading" :
					 strerror(-s->err));
	client_refuse(s->client, s->request, text);
}

void snapshots_finish(struct snapshots *snapshots)
{
	struct snapshot **link = &snapshots->first;
	uint64_t value;

	while (read(snapshots->event_fd, &value, sizeof(value)) < 0 && errno == EINTR)
		;
	while (*link) {
		struct snapshot *s = *link;
		bool done;

		pthread_mutex_lock(&s->lock);
		done = s->done;
		pthread_mutex_unlock(&s->lock);
		if (!done) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		tell(s);
		release(s);
	}
}

void snapshots_forget(struct snapshots *snapshots, const struct client *client)
{
	for (struct snapshot *s = snapshots->first; s; s = s->next)
		if (s->client == client)
			s->client = NULL;
}

bool snapshots_free(struct snapshots *snapshots)
{
	if (!snapshots)
		return true;
	snapshots_finish(snapshots);
	if (snapshots->first)
		return false;
	close(snapshots->event_fd);
	free(snapshots);
	return true;
}
