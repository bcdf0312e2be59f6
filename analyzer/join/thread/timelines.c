/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/timelines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

/* A wake-up may be recorded this long before the switch-out that it belongs to. */
#define EARLY_WAKE_NS 1000000

/* Number of threads that are distinguished on a ready thread's CPU before it runs. */
#define OCCUPANTS_MAX 64

/* A CPU that idles for longer is not merely waking up: the thread that waits for it is still throttled. */
#define IDLE_CPU_NS 1000000

enum event_type {
	/* The order of events of one thread at the same instant. */
	EVENT_WAKE,
	EVENT_IN,
	EVENT_OUT,
};

struct event {
	uint64_t ts_ns;
	uint32_t row; /* index into switches or wakes */
	uint32_t type;
};

/* The current state of a thread while its events are processed. */
struct walk {
	struct model *model;
	const struct event *events;
	uint32_t count;
	uint32_t next; /* index into events */
	uint64_t since_ns;
	uint64_t early_wake_ns; /* a wake-up while on a CPU; 0 = none */
	uint32_t early_wake;
	uint32_t occupant; /* ready: the thread that took the CPU, if preempted */
	uint32_t wake; /* ready: row of the wake-up, or INDEX_NONE */
	uint64_t refill_ns; /* ready, throttled: when the quota is refilled; 0 = unknown */
	struct span span; /* the span that is being built */
	bool over;
};

bool timelines_recorded(const struct model *model)
{
	return model->switches.count > 0;
}

static bool wanted(const struct model *model, uint32_t thread)
{
	return thread != INDEX_NONE &&
	       (model->threads.row[thread].target || model->info.system_wide);
}

/* Calls @use for each event of a wanted thread. */
static void each_event(const struct model *model,
		       void (*use)(void *context, uint32_t thread, const struct event *event),
		       void *context)
{
	for (uint32_t i = 0; i < model->switches.count; i++) {
		const struct cpu_switch *row = &model->switches.row[i];
		struct event event = { .ts_ns = row->ts_ns, .row = i };

		event.type = EVENT_OUT;
		if (wanted(model, row->prev_thread))
			use(context, row->prev_thread, &event);
		event.type = EVENT_IN;
		if (wanted(model, row->next_thread))
			use(context, row->next_thread, &event);
	}
	for (uint32_t i = 0; i < model->wakes.count; i++) {
		struct event event = { model->wakes.row[i].ts_ns, i, EVENT_WAKE };

		if (wanted(model, model->wakes.row[i].thread))
			use(context, model->wakes.row[i].thread, &event);
	}
}

/* Events grouped by thread: those of thread t are events[first[t] .. first[t + 1]). */
struct dealt {
	uint64_t *first;
	struct event *events;
};

static void count_event(void *context, uint32_t thread, const struct event *event)
{
	struct dealt *dealt = context;

	dealt->first[thread + 2]++;
}

static void place_event(void *context, uint32_t thread, const struct event *event)
{
	struct dealt *dealt = context;

	dealt->events[dealt->first[thread + 1]++] = *event;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool deal_events(const struct model *model, struct dealt *dealt)
{
	uint32_t threads = model->threads.count;

	dealt->first = calloc((size_t)threads + 2, sizeof(*dealt->first));
	if (!dealt->first)
		return false;
	each_event(model, count_event, dealt);
	for (uint32_t t = 2; t < threads + 2; t++)
		dealt->first[t] += dealt->first[t - 1];
	dealt->events = reallocarray(NULL, dealt->first[threads + 1] + 1, sizeof(*dealt->events));
	if (!dealt->events)
		return false;
	each_event(model, place_event, dealt);
	for (uint32_t t = 0; t < threads; t++)
		qsort(dealt->events + dealt->first[t], dealt->first[t + 1] - dealt->first[t],
		      sizeof(*dealt->events), by_time);
	return true;
}

static bool push_until(struct walk *walk, uint64_t end_ns)
{
	struct span span = walk->span;

	span.start_ns = walk->since_ns;
	span.end_ns = end_ns;
	walk->since_ns = end_ns;
	if (span.start_ns >= end_ns)
		return true;
	return MODEL_PUSH(&walk->model->spans, span);
}

/* From the refill of its quota on, a throttled thread waits for other threads. */
static bool push_span(struct walk *walk, uint64_t end_ns)
{
	if (walk->span.state == STATE_RUNNABLE && walk->span.flags & SPAN_THROTTLED &&
	    walk->refill_ns && walk->refill_ns < end_ns) {
		if (!push_until(walk, walk->refill_ns > walk->since_ns ? walk->refill_ns
								       : walk->since_ns))
			return false;
		walk->span.flags &= ~SPAN_THROTTLED;
	}
	return push_until(walk, end_ns);
}

static uint8_t asleep_state(uint8_t switch_state)
{
	switch (switch_state) {
	case PROFBPF__SWITCHES__STATE__SLEEP: return STATE_SLEEP;
	case PROFBPF__SWITCHES__STATE__DISK_SLEEP: return STATE_DISK;
	default: return STATE_STOPPED;
	}
}

static bool is_asleep(uint8_t state)
{
	return state == STATE_SLEEP || state == STATE_DISK || state == STATE_STOPPED;
}

static void enter(struct walk *walk, uint8_t state)
{
	walk->span = (struct span){
		.state = state, .other = INDEX_NONE, .object = INDEX_NONE, .syscall = -1
	};
	walk->occupant = INDEX_NONE;
	walk->wake = INDEX_NONE;
	walk->refill_ns = 0;
	walk->early_wake_ns = 0;
}

/* The state assumed since the last event contradicts the next event. */
static void doubt(struct walk *walk)
{
	walk->span = (struct span){
		.state = STATE_UNKNOWN, .other = INDEX_NONE, .object = INDEX_NONE, .syscall = -1
	};
}

/* The refill first repays quota overdrawn on other CPUs: as long as the CPU idled, there was no quota. */
static void put_off_refill(struct walk *walk, uint32_t first, uint32_t row)
{
	const struct cpu_switch *switches = walk->model->switches.row;

	for (uint32_t i = first; i <= row && walk->refill_ns; i++) {
		uint64_t from_ns = i == first ? walk->since_ns : switches[i - 1].ts_ns;

		if (from_ns < walk->refill_ns)
			from_ns = walk->refill_ns;
		if (switches[i].prev_tid == 0 && switches[i].ts_ns > from_ns + IDLE_CPU_NS)
			walk->refill_ns = switches[i].ts_ns;
	}
}

/*
 * The ready thread got a CPU in the switch at @row: adds one span for each thread
 * that ran there meanwhile. Only the time for which the records of that CPU are
 * contiguous is certain.
 */
static bool end_ready(struct walk *walk, uint32_t row)
{
	const struct cpu_switch *switches = walk->model->switches.row;
	uint32_t first = row;

	while (first > 0 && row - first < OCCUPANTS_MAX &&
	       switches[first - 1].cpu == switches[row].cpu &&
	       switches[first - 1].ts_ns > walk->since_ns &&
	       switches[first - 1].next_tid == switches[first].prev_tid)
		first--;
	put_off_refill(walk, first, row);
	walk->span.cpu = switches[row].cpu;
	for (uint32_t i = first; i <= row; i++) {
		walk->span.other = switches[i].prev_thread;
		/* The first thread after a preempted one is known even if the CPU changed. */
		if (i == first && walk->occupant != INDEX_NONE)
			walk->span.other = walk->occupant;
		walk->span.flags &= ~SPAN_CPU_IDLE;
		if (switches[i].prev_tid == 0 && walk->span.other == INDEX_NONE)
			walk->span.flags |= SPAN_CPU_IDLE;
		if (!push_span(walk, switches[i].ts_ns))
			return false;
	}
	return true;
}

static void name_waker(struct walk *walk, uint32_t row)
{
	const struct wake *wake = &walk->model->wakes.row[row];

	if (wake->object < walk->model->sleep_objects.count)
		walk->span.object = wake->object;
	/* The thread that was interrupted by the waking interrupt is unrelated to the wake-up. */
	if (!(wake->flags & WOKEN_BY_INTERRUPT))
		walk->span.other = wake->waker_thread;
	else if (wake->interrupt && !(wake->flags & PROFBPF__WAKES__FLAG__TIMER))
		walk->span.other = wake->interrupt;
	if (wake->flags & PROFBPF__WAKES__FLAG__HARDIRQ)
		walk->span.flags |= SPAN_WOKEN_HARDIRQ;
	if (wake->flags & PROFBPF__WAKES__FLAG__SOFTIRQ)
		walk->span.flags |= SPAN_WOKEN_SOFTIRQ;
	if (wake->flags & PROFBPF__WAKES__FLAG__TIMER)
		walk->span.flags |= SPAN_WOKEN_TIMER;
}

static bool woken(struct walk *walk, const struct event *event)
{
	switch (walk->span.state) {
	case STATE_RUNNING:
		/* The thread is either awake or on its way to sleep: the next switch decides. */
		walk->early_wake_ns = event->ts_ns;
		walk->early_wake = event->row;
		return true;
	case STATE_RUNNABLE: return true;
	case STATE_UNKNOWN: break;
	default: name_waker(walk, event->row); break;
	}
	if (!push_span(walk, event->ts_ns))
		return false;
	enter(walk, STATE_RUNNABLE);
	walk->span.cpu = walk->model->wakes.row[event->row].target_cpu;
	walk->wake = event->row;
	return true;
}

static bool switched_in(struct walk *walk, const struct event *event)
{
	const struct cpu_switch *row = &walk->model->switches.row[event->row];
	bool ok;

	if (walk->span.state == STATE_RUNNABLE) {
		ok = end_ready(walk, event->row);
	} else {
		if (walk->span.state == STATE_RUNNING)
			doubt(walk);
		else if (is_asleep(walk->span.state))
			walk->span.flags |= SPAN_NO_WAKE;
		ok = push_span(walk, event->ts_ns);
	}
	enter(walk, STATE_RUNNING);
	walk->span.cpu = row->cpu;
	return ok;
}

/* Is a switch-in the next event of the thread? */
static bool comes_back_unwoken(const struct walk *walk)
{
	return walk->next < walk->count && walk->events[walk->next].type == EVENT_IN;
}

static bool switched_out(struct walk *walk, const struct event *event)
{
	const struct cpu_switch *row = &walk->model->switches.row[event->row];
	bool woken_early = walk->early_wake_ns &&
			   event->ts_ns - walk->early_wake_ns <= EARLY_WAKE_NS;

	if (walk->span.state != STATE_RUNNING)
		doubt(walk);
	if (!push_span(walk, event->ts_ns))
		return false;
	if (row->state == PROFBPF__SWITCHES__STATE__DEAD) {
		walk->over = true;
	} else if (row->state == PROFBPF__SWITCHES__STATE__PREEMPTED) {
		enter(walk, STATE_RUNNABLE);
		walk->span.cpu = row->cpu;
		walk->occupant = row->next_thread;
		if (row->flags & PROFBPF__SWITCHES__FLAG__THROTTLED)
			walk->span.flags |= SPAN_THROTTLED;
		walk->refill_ns = row->refill_ns ? row->ts_ns + row->refill_ns : 0;
	} else if (woken_early && comes_back_unwoken(walk)) {
		enter(walk, STATE_RUNNABLE);
		walk->span.cpu = row->cpu;
		walk->wake = walk->early_wake;
	} else {
		enter(walk, asleep_state(row->state));
		walk->span.syscall = row->syscall;
		walk->span.object = row->object;
		if (row->flags & PROFBPF__SWITCHES__FLAG__IO_WAIT)
			walk->span.flags |= SPAN_IOWAIT;
		if (row->flags & PROFBPF__SWITCHES__FLAG__PAGE_FAULT)
			walk->span.flags |= SPAN_FAULT;
		if (row->flags & PROFBPF__SWITCHES__FLAG__TIMEOUT)
			walk->span.flags |= SPAN_TIMEOUT;
	}
	return true;
}

/* Returns the account of a thread that was taken at the session's start, or NULL. */
static const struct account *account_at_start(const struct model *model, uint32_t thread)
{
	uint32_t first = BISECT(i, 0, model->accounts.count, model->accounts.row[i].thread < thread);
	const struct account *account;

	if (first == model->accounts.count)
		return NULL;
	account = &model->accounts.row[first];
	return account->thread == thread && account->flags & PROFBPF__ACCOUNTS__FLAG__FIRST
		       ? account
		       : NULL;
}

static uint8_t account_state(const struct account *account)
{
	if (account->flags & PROFBPF__ACCOUNTS__FLAG__RUNNING)
		return STATE_RUNNING;
	if (account->flags & PROFBPF__ACCOUNTS__FLAG__QUEUED)
		return STATE_RUNNABLE;
	return account->flags & PROFBPF__ACCOUNTS__FLAG__UNINTERRUPTIBLE ? STATE_DISK : STATE_SLEEP;
}

/* The state of a thread before an event, provided that no record was lost. */
static uint8_t state_before(const struct event *event)
{
	switch (event->type) {
	case EVENT_OUT: return STATE_RUNNING;
	case EVENT_IN: return STATE_RUNNABLE;
	default: return STATE_SLEEP;
	}
}

/* Describes the sleep of a thread that slept when the session began. */
static void describe_first_sleep(struct walk *walk, uint32_t thread)
{
	const struct account *account = account_at_start(walk->model, thread);

	if (!account || !is_asleep(walk->span.state) ||
	    account->flags & (PROFBPF__ACCOUNTS__FLAG__RUNNING | PROFBPF__ACCOUNTS__FLAG__QUEUED))
		return;
	walk->span.syscall = account->syscall;
	if (account->flags & PROFBPF__ACCOUNTS__FLAG__IO_WAIT)
		walk->span.flags |= SPAN_IOWAIT;
	if (account->flags & PROFBPF__ACCOUNTS__FLAG__PAGE_FAULT)
		walk->span.flags |= SPAN_FAULT;
}

/* A wake-up proves nothing: running threads are woken, too, without effect. */
static bool agree(uint8_t state, const struct event *event)
{
	return event->type == EVENT_WAKE || state == state_before(event);
}

/*
 * Returns the state at the session's start: the account's state, unless the
 * first event contradicts it; the first event's, if the account was taken
 * later.
 */
static uint8_t state_at_start(const struct walk *walk, uint32_t thread)
{
	const struct account *account = account_at_start(walk->model, thread);

	if (!account)
		return STATE_UNKNOWN;
	if (walk->count == 0)
		return account_state(account);
	if (walk->events[0].ts_ns <= account->ts_ns)
		return state_before(&walk->events[0]);
	return agree(account_state(account), &walk->events[0]) ? account_state(account)
							       : STATE_UNKNOWN;
}

static void begin(struct walk *walk, uint32_t thread)
{
	const struct model *model = walk->model;

	walk->since_ns = model->info.session_start_ns;
	if (model->threads.row[thread].first_ns > walk->since_ns) {
		walk->since_ns = walk->count ? walk->events[0].ts_ns
					     : model->threads.row[thread].first_ns;
		enter(walk, STATE_UNKNOWN);
		return;
	}
	enter(walk, state_at_start(walk, thread));
	describe_first_sleep(walk, thread);
	if (walk->span.state == STATE_RUNNING && walk->count && walk->events[0].type == EVENT_OUT)
		walk->span.cpu = model->switches.row[walk->events[0].row].cpu;
}

static uint64_t end_of(const struct model *model, uint32_t thread)
{
	uint64_t exit_ns = model->threads.row[thread].exit_ns;

	return exit_ns && exit_ns < model->info.session_end_ns ? exit_ns
							       : model->info.session_end_ns;
}

static bool build_one(struct walk *walk, uint32_t thread)
{
	uint64_t end_ns = end_of(walk->model, thread);
	uint64_t dropped_ns = walk->model->threads.row[thread].dropped_ns;
	uint64_t recorded_ns = walk->model->info.session_end_ns;

	if (dropped_ns && dropped_ns < recorded_ns)
		recorded_ns = dropped_ns;

	begin(walk, thread);
	while (walk->next < walk->count && !walk->over) {
		const struct event *event = &walk->events[walk->next++];
		bool ok;

		/* Outside the session, where nothing can have been recorded. */
		if (event->ts_ns < walk->since_ns || event->ts_ns > recorded_ns)
			continue;
		switch (event->type) {
		case EVENT_WAKE: ok = woken(walk, event); break;
		case EVENT_IN: ok = switched_in(walk, event); break;
		default: ok = switched_out(walk, event); break;
		}
		if (!ok)
			return false;
	}
	if (walk->over)
		return true;
	if (walk->span.state == STATE_RUNNABLE)
		walk->span.other = walk->occupant;
	if (recorded_ns < end_ns) {
		if (!push_span(walk, recorded_ns))
			return false;
		enter(walk, STATE_UNKNOWN);
	}
	return push_span(walk, end_ns);
}

static bool build_all(struct model *model, const struct dealt *dealt)
{
	for (uint32_t t = 0; t < model->threads.count; t++) {
		struct timeline timeline = { .first = model->spans.count };

		if (dealt && wanted(model, t)) {
			struct walk walk = {
				.model = model,
				.events = dealt->events + dealt->first[t],
				.count = (uint32_t)(dealt->first[t + 1] - dealt->first[t]),
			};

			if (!build_one(&walk, t))
				return false;
		}
		timeline.count = model->spans.count - timeline.first;
		if (!MODEL_PUSH(&model->timelines, timeline))
			return false;
	}
	return true;
}

int timelines_build(struct model *model)
{
	struct dealt dealt = { 0 };
	bool ok;

	model->spans.count = 0;
	model->timelines.count = 0;
	if (timelines_recorded(model))
		ok = deal_events(model, &dealt) && build_all(model, &dealt);
	else
		ok = build_all(model, NULL);
	free(dealt.first);
	free(dealt.events);
	return ok ? 0 : -ENOMEM;
}
