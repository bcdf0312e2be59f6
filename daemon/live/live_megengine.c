/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_megengine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define FUNCTIONS_MAX 8
#define THREADS_MAX 256
#define EVENTS_MAX (1u << 18) /* per frame */

#define CONTAINS "_ZN6plasma12PlasmaClient8ContainsE"
#define GET "_ZN6plasma12PlasmaClient3GetE"

enum event_kind { EVENT_PIPE, EVENT_SLEEP, EVENT_CONTAINS, EVENT_GET };

struct event {
	uint64_t ts_ns;
	uint32_t pid, tid; /* for sleeps only the thread is known */
	enum event_kind kind;
};

struct thread {
	uint32_t pid, tid;
	uint64_t since_ns; /* of its first sleep for a pipe after the last batch; 0 = none yet */
	uint64_t contains_ns; /* it asked for a batch, which it has not got yet; 0 = no */
	bool fetched; /* a batch before */
	bool slept; /* its sleeps are recorded */
	uint64_t wait_ns, shown_ns;
};

struct live_megengine {
	struct {
		uint32_t id;
		enum event_kind kind;
	} functions[FUNCTIONS_MAX];
	struct thread threads[THREADS_MAX];
	struct event *events;
	size_t function_count, thread_count, event_count, event_room;
	uint64_t left_out; /* events without room */
};

struct live_megengine *live_megengine_new(void)
{
	return calloc(1, sizeof(struct live_megengine));
}

void live_megengine_free(struct live_megengine *m)
{
	if (m)
		free(m->events);
	free(m);
}

bool live_megengine_function(struct live_megengine *m, const Profbpf__Function *function)
{
	bool contains = !strncmp(function->name, CONTAINS, strlen(CONTAINS));

	if (!contains && strncmp(function->name, GET, strlen(GET)) != 0)
		return false;
	for (size_t i = 0; i < m->function_count; i++)
		if (m->functions[i].id == function->id)
			return true;
	if (m->function_count == FUNCTIONS_MAX) {
		m->left_out++;
		return false;
	}
	m->functions[m->function_count].id = function->id;
	m->functions[m->function_count++].kind = contains ? EVENT_CONTAINS : EVENT_GET;
	return true;
}

static void add_event(struct live_megengine *m, const struct event *event)
{
	if (m->event_count == m->event_room) {
		size_t room = m->event_room ? 2 * m->event_room : 256;
		struct event *grown = room <= EVENTS_MAX ? reallocarray(m->events, room, sizeof(*grown)) : NULL;

		if (!grown) {
			m->left_out++;
			return;
		}
		m->events = grown;
		m->event_room = room;
	}
	m->events[m->event_count++] = *event;
}

uint64_t live_megengine_left_out(const struct live_megengine *m)
{
	return m->left_out;
}

static struct thread *find_thread(struct live_megengine *m, uint32_t tid)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].tid == tid)
			return &m->threads[i];
	return NULL;
}

void live_megengine_call(struct live_megengine *m, const struct live_called *call)
{
	struct event event = { .ts_ns = call->end_ns, .pid = call->pid, .tid = call->tid };
	size_t at = 0;

	while (at < m->function_count && m->functions[at].id != call->function)
		at++;
	if (at == m->function_count || call->end_unknown)
		return;
	event.kind = m->functions[at].kind;
	if (event.kind == EVENT_CONTAINS)
		event.ts_ns -= call->dur_ns;
	if (!find_thread(m, call->tid) && m->thread_count == THREADS_MAX)
		m->left_out++;
	else if (!find_thread(m, call->tid))
		m->threads[m->thread_count++] = (struct thread){ .pid = call->pid, .tid = call->tid };
	add_event(m, &event);
}

bool live_megengine_watches(const struct live_megengine *m, uint32_t tid)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].tid == tid)
			return true;
	return false;
}

/* Is it a system call with which Python's multiprocessing waits for a pipe? */
static bool reads_pipe(int syscall)
{
	switch (syscall) {
#ifdef SYS_poll
	case SYS_poll:
#endif
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_ppoll:
	case SYS_read: return true;
	default: return false;
	}
}

void live_megengine_sleep(struct live_megengine *m, uint32_t tid, uint64_t ts_ns, int syscall)
{
	add_event(m, &(struct event){ .ts_ns = ts_ns, .tid = tid, .kind = reads_pipe(syscall) ? EVENT_PIPE : EVENT_SLEEP });
}

void live_megengine_gone(struct live_megengine *m, uint32_t pid)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].pid == pid)
			m->threads[i--] = m->threads[--m->thread_count];
}

static void get(struct thread *t, uint64_t ts_ns)
{
	uint64_t from_ns = t->since_ns ? t->since_ns : t->contains_ns;

	if (t->contains_ns && ts_ns > from_ns)
		t->wait_ns += ts_ns - from_ns;
	t->since_ns = t->contains_ns = 0;
	t->fetched = true;
}

static void apply(struct live_megengine *m, const struct event *event)
{
	struct thread *t = find_thread(m, event->tid);

	if (!t)
		return;
	switch (event->kind) {
	case EVENT_PIPE:
		t->slept = true;
		if (!t->since_ns)
			t->since_ns = event->ts_ns;
		break;
	case EVENT_SLEEP:
		t->slept = true;
		/* A wait before the first batch belongs to the start. */
		if (!t->fetched)
			t->since_ns = 0;
		break;
	case EVENT_CONTAINS: t->contains_ns = event->ts_ns; break;
	case EVENT_GET: get(t, event->ts_ns); break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

void live_megengine_frame(struct live_megengine *m, uint64_t to_ns)
{
	size_t done = 0;

	if (m->event_count)
		qsort(m->events, m->event_count, sizeof(*m->events), by_time);
	for (; done < m->event_count && m->events[done].ts_ns <= to_ns; done++)
		apply(m, &m->events[done]);
	m->event_count -= done;
	if (done)
		memmove(m->events, m->events + done, m->event_count * sizeof(*m->events));
	for (size_t i = 0; i < m->thread_count; i++) {
		m->threads[i].shown_ns = m->threads[i].wait_ns;
		m->threads[i].wait_ns = 0;
	}
}

size_t live_megengine_threads(const struct live_megengine *m)
{
	return m->thread_count;
}

bool live_megengine_wait(const struct live_megengine *m, size_t thread, uint32_t *pid, uint64_t *ns)
{
	*pid = m->threads[thread].pid;
	*ns = m->threads[thread].shown_ns;
	return m->threads[thread].slept;
}
