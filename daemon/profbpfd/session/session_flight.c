/* SPDX-License-Identifier: Apache-2.0 */
/* session_flight.c - a session of the flight recorder: new processes, segments, requests for snapshots. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/profbpfd/host/host_counters.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/session/session_private.h"

#define ASKS_MAX 64 /* pending requests */
#define HEAVY_AFTER_NS 3600000000000ull /* data that a session repeats after this time have grown since its start */
#define FULL_AFTER_NS 600000000000ull /* longest time for which stacks without room are left out */

static void wake(struct session *s)
{
	uint64_t one = 1;

	if (write(s->wake_fd, &one, sizeof(one)) < 0)
		return; /* the counter is full: the session wakes up anyway */
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

/* Takes the content of the inbox, which the caller frees; with @close nothing more is accepted. */
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
 * Ends the segment with all data and correct counts up to now; the next one begins as a session does. Threads that
 * began since the last reading of figures get theirs before the figures that are marked as the first.
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
 * Ends an ordinary user's session when it has no data in memory and no targets; another one begins when there are
 * targets again. Root's session stays, to be ready at once.
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
 * The data that each segment repeats, above all the stacks of the whole session, grow with time. Before they take all
 * of the memory, or when stacks are left out, the session ends, and another one begins without them a little later.
 */
static void end_if_heavy(struct session *s)
{
	uint64_t ran_ns = session_now_ns() - s->start_ns;
	bool heavy = ran_ns > HEAVY_AFTER_NS && flight_is_heavy(s->request.flight, writer_repeated(s->writer));
	bool full = ran_ns > FULL_AFTER_NS && s->stacks && stacks_left_out(s->stacks);

	if ((heavy || full) && ran_ns > flight_window_ns(s->request.flight))
		session_end(s, false, "the data repeated in each segment take too much memory: a "
				      "new session follows");
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
