/* SPDX-License-Identifier: Apache-2.0 */
/* session_flight.c - a session of the flight recorder: processes that come, segments in turn, those who ask for them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/host/host_counters.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/session/session_private.h"

#define ASKS_MAX 64 /* that wait at a time */
#define HEAVY_AFTER_NS 3600000000000ull /* what a session repeats by then has grown, and was not there from the start */
#define FULL_AFTER_NS 600000000000ull /* stacks that there is no room for are left out for so long at most */

static void wake(struct session *s)
{
	uint64_t one = 1;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: it will wake up anyway */
}

void session_add_process(struct session *s, pid_t pid, uint64_t started)
{
	struct newcomer *rows;

	pthread_mutex_lock(&s->lock);
	rows = s->inbox.closed ? NULL :
				 realloc(s->inbox.newcomers, (s->inbox.newcomer_count + 1) * sizeof(*rows));
	if (rows) {
		rows[s->inbox.newcomer_count++] = (struct newcomer){ pid, started };
		s->inbox.newcomers = rows;
	}
	pthread_mutex_unlock(&s->lock);
	wake(s);
}

void session_ask(struct session *s, const struct flight_ask *ask)
{
	struct flight_ask *rows = NULL;

	pthread_mutex_lock(&s->lock);
	if (!s->inbox.closed && s->inbox.ask_count < ASKS_MAX)
		rows = realloc(s->inbox.asks, (s->inbox.ask_count + 1) * sizeof(*rows));
	if (rows) {
		rows[s->inbox.ask_count++] = *ask;
		s->inbox.asks = rows;
	}
	pthread_mutex_unlock(&s->lock);
	if (rows)
		wake(s);
	else
		ask->take(ask->context, NULL);
}

/* What has come in is the caller's, to be freed. */
static struct session_inbox take_inbox(struct session *s, bool close)
{
	struct session_inbox inbox;

	pthread_mutex_lock(&s->lock);
	inbox = s->inbox;
	s->inbox = (struct session_inbox){ .closed = inbox.closed || close };
	pthread_mutex_unlock(&s->lock);
	return inbox;
}

void session_flight_close(struct session *s)
{
	struct session_inbox inbox = take_inbox(s, true);

	for (size_t i = 0; i < inbox.ask_count; i++)
		inbox.asks[i].take(inbox.asks[i].context, NULL);
	free(inbox.asks);
	free(inbox.newcomers);
}

struct pids {
	pid_t *pid;
	size_t count;
};

static void add_pid(void *context, pid_t pid)
{
	struct pids *pids = context;
	pid_t *rows = realloc(pids->pid, (pids->count + 1) * sizeof(*rows));

	if (!rows)
		return;
	rows[pids->count++] = pid;
	pids->pid = rows;
}

static void push_cut(struct session *s, struct cut_row *row)
{
	struct item *item = item_new(ITEM_CUT, sizeof(*row));
	struct pids targets = { 0 };

	row->ts_ns = session_now_ns();
	if (!item) {
		if (row->ask.take)
			row->ask.take(row->ask.context, NULL);
		return;
	}
	if (row->ask.take) {
		capture_each_target(s->capture, add_pid, &targets);
		row->targets = targets.pid;
		row->target_count = targets.count;
	}
	item_append(item, row, sizeof(*row)); /* there is room for it */
	session_push(s, item);
}

/*
 * The segment before ends with what is known until now, and books that are true then; the next begins as a session
 * does. Threads that began since figures were last read get theirs before those that are marked as the first.
 */
void session_cut(struct session *s, struct cut_row *row)
{
	bool accounts = s->request.topics & TOPICS_WITH_ACCOUNTS;

	session_read_figures(s, row->ask.take || row->open);
	session_push(s, host_stats_clocks());
	if (row->ask.sleepers && s->stacks)
		capture_sleeping_stacks(s->capture, row->ask.sleepers_of);
	session_read_all(s, session_now_ns(), true);
	session_push_statistics(s, false);
	push_cut(s, row);
	session_push(s, host_stats_cpus());
	session_push(s, host_counters());
	session_read_cgroups(s);
	if (accounts)
		capture_snapshot(s->capture, true, true);
	session_drain(s, false);
}

static void count(void *context, pid_t pid)
{
	size_t *targets = context;

	*targets += pid > 0;
}

/*
 * An ordinary user's session ends when nothing of it is in memory any more and there is nothing to record: another
 * one is begun when there is. Root's stays, to be there at once.
 */
static void end_if_idle(struct session *s)
{
	uint64_t now_ns = session_now_ns();
	size_t targets = 0;

	if (s->request.owner == (uid_t)-1)
		return;
	capture_each_target(s->capture, count, &targets);
	if (targets)
		s->idle_ns = 0;
	else if (!s->idle_ns)
		s->idle_ns = now_ns;
	else if (now_ns - s->idle_ns > flight_window_ns(s->request.flight))
		session_end(s, false, "no process is left");
}

/*
 * What each segment repeats, above all the stacks that there ever were, grows as long as the session lasts. Before it
 * takes all of the memory, or when stacks are left out, the session ends, and another one begins without it a little later.
 */
static void end_if_heavy(struct session *s)
{
	uint64_t ran_ns = session_now_ns() - s->start_ns;
	bool heavy = ran_ns > HEAVY_AFTER_NS && flight_is_heavy(s->request.flight, writer_repeated(s->writer));
	bool full = ran_ns > FULL_AFTER_NS && s->stacks && stacks_left_out(s->stacks);

	if ((heavy || full) && ran_ns > flight_window_ns(s->request.flight))
		session_end(s, false, "what each of its segments repeats takes too much memory: it begins anew");
}

void session_flight_look(struct session *s)
{
	struct session_inbox inbox = take_inbox(s, false);

	for (size_t i = 0; i < inbox.newcomer_count; i++)
		session_trace_process(s, inbox.newcomers[i].pid, inbox.newcomers[i].started);
	for (size_t i = 0; i < inbox.ask_count; i++)
		session_cut(s, &(struct cut_row){ .ask = inbox.asks[i] });
	if (!inbox.ask_count && flight_wants_cut(s->request.flight, session_now_ns())) {
		session_cut(s, &(struct cut_row){ 0 });
		end_if_idle(s);
		end_if_heavy(s);
	}
	free(inbox.newcomers);
	free(inbox.asks);
}
