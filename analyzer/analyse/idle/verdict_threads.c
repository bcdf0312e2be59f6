/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict by the waits of the job's threads. */
#include "analyzer/analyse/idle/verdict_private.h"

#include <string.h>

#define CPU_SHARE 4 /* waits for CPUs of less than one in so many of the threads' own time are part of it */

/* Returns the time of threads that share the job's work: they do not hold it up, and their time is work, too. */
static uint64_t find_help(struct judge *judge, uint64_t own_ns)
{
	uint64_t help_ns = 0;

	for (uint32_t i = 0; i < judge->roots->count; i++)
		if (judge_is_help(judge, &judge->roots->row[i]))
			help_ns += judge->roots->row[i].ns;
	judge->helped = help_ns <= own_ns;
	return judge->helped ? help_ns : 0;
}

/* Do threads other than the fetching one work for the pipeline? */
static bool has_workers(const struct judge *judge, uint32_t pipeline)
{
	for (uint32_t i = 0; i < judge->model->threads.count; i++)
		if (judge->owner[i].pipeline == pipeline && i != judge->fetcher)
			return true;
	return false;
}

/* Returns the waits of the fetching thread that have their root in its own code. */
static uint64_t own_waits(const struct judge *judge)
{
	const struct idle_roots *waits = &judge->facts->waits->waits;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < waits->count; i++)
		if (judge_state_of(judge, &waits->row[i]) == VERDICT_HOST_CODE && judge_is_fetcher(judge, &waits->row[i]))
			ns += waits->row[i].ns;
	return ns;
}

/*
 * Returns the part of the waits with roots in the fetching thread's own code in which a loader without workers makes
 * its batches: the thread sleeps in fetches, for example for a remote read.
 */
static uint64_t slept_fetches(const struct judge *judge, const struct verdict *verdict)
{
	const struct idle_roots *waits = &judge->facts->waits->waits;
	uint64_t slept_ns, own_ns = own_waits(judge);

	if (verdict->wait_percent < VERDICT_NOISE_PERCENT || verdict->op == INDEX_NONE ||
	    !judge->facts->waits->of_steps || has_workers(judge, verdict->pipeline))
		return 0;
	slept_ns = judge->facts->steps->pipelines[verdict->pipeline].judged_slept_ns;
	/* Its other waits in fetches are for others: threads that it starts, a server. */
	for (uint32_t i = 0; i < waits->count; i++)
		if (!judge_is_fetcher(judge, &waits->row[i]) &&
		    judge_owner_of(judge, &waits->row[i]).pipeline == verdict->pipeline)
			slept_ns -= slept_ns < waits->row[i].ns ? slept_ns : waits->row[i].ns;
	return slept_ns < own_ns ? slept_ns : own_ns;
}

/*
 * Returns the part of @own_ns in which a loader makes its batches in the thread that fetches: the time in fetches
 * without waits, of which @slept_ns have their root in the thread's own code. If the loader has workers, all waits, also those for a CPU, are waits for it and are subtracted.
 */
static uint64_t own_fetches(const struct judge *judge, const struct verdict *verdict,
			    uint64_t own_ns, uint64_t slept_ns)
{
	const struct idle_roots *waits = &judge->facts->waits->waits;
	uint64_t fetch_ns, other_ns = slept_ns;
	bool workers;

	if (verdict->wait_percent < VERDICT_NOISE_PERCENT || verdict->op == INDEX_NONE ||
	    !judge->facts->waits->of_steps)
		return 0;
	fetch_ns = (uint64_t)(verdict->wait_percent / 100 * (double)judge->window_ns);
	workers = has_workers(judge, verdict->pipeline);
	for (uint32_t i = 0; i < waits->count; i++)
		if (workers || judge_owner_of(judge, &waits->row[i]).pipeline != INDEX_NONE)
			other_ns += waits->row[i].ns;
	fetch_ns = fetch_ns > other_ns ? fetch_ns - other_ns : 0;
	return fetch_ns < own_ns ? fetch_ns : own_ns;
}

static uint8_t heaviest_of(const struct judge *judge)
{
	uint8_t heaviest = VERDICT_DATA;

	for (uint8_t state = VERDICT_DATA; state <= VERDICT_DEVICE; state++)
		if (judge->ns[state] > judge->ns[heaviest])
			heaviest = state;
	return heaviest;
}

/* Points the verdict at the largest root of the threads' own time on a CPU. */
static void point_at_own(struct judge *judge, struct verdict *verdict)
{
	judge->roots = &judge->facts->waits->own;
	verdict->idle = judge_heaviest_kind(judge, VERDICT_STATES, false);
}

/* Points the verdict at the row that spins most: the largest one may be the work of another job. */
static void point_at_spins(struct judge *judge, struct verdict *verdict)
{
	const struct idle_roots *own = &judge->facts->waits->own;
	const struct idle_root *most = NULL;

	point_at_own(judge, verdict);
	for (uint32_t i = 0; i < own->count; i++)
		if (own->row[i].spins_ns > (most ? most->spins_ns : 0))
			most = &own->row[i];
	if (most)
		verdict->idle = (struct idle_verdict){ .cause = most->root.cause,
						       .kind = idle_kind_of(judge->model, &most->root),
						       .ns = most->ns,
						       .cause_ns = own->cause_ns[most->root.cause],
						       .most = most };
}

/* Returns the part of the threads' own time on a CPU in which they waited for other threads. */
static uint64_t find_spins(const struct judge *judge)
{
	const struct idle_roots *own = &judge->facts->waits->own;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < own->count && !judge->facts->waits->bounds.known; i++)
		ns += own->row[i].spins_ns;
	return judge_share(ns, judge->window_ns) < VERDICT_NOISE_PERCENT ? 0 : ns;
}

/*
 * Points the verdict at the last rank's own work: not at its waits for the others. If samples do not tell these apart,
 * no row is the root.
 */
static void point_at_last(struct judge *judge, struct verdict *verdict, uint64_t held_ns)
{
	const struct idle_roots *own = &judge->facts->waits->own;
	const struct idle_root *most;

	point_at_own(judge, verdict);
	most = verdict->idle.most;
	if (!most || !most->word || strcmp(most->word, IDLE_WORD_RANKS))
		return;
	verdict->idle.most = NULL;
	for (uint32_t i = 0; i < own->count && !verdict->idle.most; i++) {
		const struct idle_root *row = &own->row[i];

		if (2 * row->ns >= held_ns && (!row->word || strcmp(row->word, IDLE_WORD_RANKS)))
			verdict->idle = (struct idle_verdict){ .cause = row->root.cause,
							       .kind = idle_kind_of(judge->model, &row->root),
							       .ns = row->ns,
							       .cause_ns = own->cause_ns[row->root.cause],
							       .most = row };
	}
}

/*
 * Returns the last rank's own time on a CPU in which the others wait for it, as far as its waits, with or without a
 * sleep, do not explain these.
 */
static uint64_t find_held(const struct judge *judge)
{
	const struct host_waits *waits = judge->facts->waits;
	uint64_t waits_ns = waits->waits.total_ns + waits->least_ns;
	uint64_t ns = waits->others_ns > waits_ns ? waits->others_ns - waits_ns : 0;

	return ns < waits->own.total_ns ? ns : waits->own.total_ns;
}

/* Returns the threads' own time on a CPU in a state. */
static uint64_t own_of(const struct judge *judge, uint8_t state, uint64_t own_ns, uint64_t fetched_ns, uint64_t spins_ns)
{
	if (state == VERDICT_HOST_CODE)
		return judge->facts->waits->bounds.known ? own_ns : spins_ns;
	return state == VERDICT_DATA ? fetched_ns : 0;
}

static void find_threads_cost(struct judge *judge, struct verdict *verdict, uint8_t state,
			      uint64_t own_ns)
{
	verdict->gain_percent = 0;
	judge_find_cost(judge, verdict, state);
	/* The threads' own time may exceed their waits; but if most of it is not in fetches, neither is its root. */
	if (own_ns > verdict->idle.ns &&
	    (state != VERDICT_DATA || 2 * own_ns > judge->facts->waits->own.total_ns)) {
		if (state == VERDICT_HOST_CODE && judge->facts->waits->why == WAITS_OF_LAST)
			point_at_last(judge, verdict, own_ns);
		else if (state == VERDICT_HOST_CODE && !judge->facts->waits->bounds.known)
			point_at_spins(judge, verdict);
		else
			point_at_own(judge, verdict);
	}
}

/* The pipeline's rules about locks and CPUs decide if that costs at least as much as any state. */
static bool blame_pipeline(struct judge *judge, struct verdict *verdict, uint8_t heaviest)
{
	const struct bottleneck *b =
		verdict->op == INDEX_NONE ? NULL
					  : &judge->facts->advice->bottlenecks[verdict->pipeline];

	if (!b || (b->kind != BOTTLENECK_LOCK && b->kind != BOTTLENECK_TAKES_CPU) ||
	    b->percent < VERDICT_NOISE_PERCENT ||
	    b->percent < judge_share(judge->ns[heaviest], judge->window_ns))
		return false;
	verdict->state = b->kind == BOTTLENECK_LOCK ? VERDICT_DATA : VERDICT_CPU;
	verdict->percent = verdict->gain_percent = b->percent;
	verdict->idle = judge_heaviest_kind(judge, verdict->state, false);
	return true;
}

/* Is the root a wait for events on descriptors that timed out? */
static bool is_event_wait(const struct model *model, const struct root *root)
{
	if (root->cause != IDLE_SLEEP || root->object_kind != OBJECT_SLEEP ||
	    root->object >= model->sleep_objects.count)
		return false;
	switch (model->sleep_objects.row[root->object].kind) {
	case PROFBPF__SLEEP_OBJECTS__KIND__EPOLL:
	case PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL:
	case PROFBPF__SLEEP_OBJECTS__KIND__UNIX_SOCKET:
	case PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET:
	case PROFBPF__SLEEP_OBJECTS__KIND__SOCKET:
	case PROFBPF__SLEEP_OBJECTS__KIND__INOTIFY:
	case PROFBPF__SLEEP_OBJECTS__KIND__SIGNALFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__EVENTFD:
	case PROFBPF__SLEEP_OBJECTS__KIND__PIPE: return true;
	default: return false;
	}
}

/* Did no event come, and did the examined threads do nothing? */
static bool waits_for_events(const struct judge *judge)
{
	const struct host_waits *waits = judge->facts->waits;
	uint64_t ns = waits->clients_ns;

	for (uint32_t i = 0; i < waits->waits.count; i++)
		if (waits->waits.row[i].hop_count == 1 &&
		    is_event_wait(judge->model, &waits->waits.row[i].root))
			ns += waits->waits.row[i].ns;
	return !waits->bounds.known && 2 * ns > waits->waits.total_ns &&
	       judge_share(waits->own.total_ns, judge->window_ns) < VERDICT_NOISE_PERCENT;
}

/*
 * Is it unknown whether the threads' own time on a CPU costs the job anything? It does not while the device computes
 * tasks that were launched earlier; these are done when a synchronous copy runs that had to wait for them. If the
 * threads never wait for the device, it does not hold them up. @heaviest and judge->ns include @own_ns.
 */
static bool may_cost_nothing(const struct judge *judge, uint8_t heaviest, uint64_t own_ns)
{
	const struct device_bounds *bounds = &judge->facts->waits->bounds;
	uint64_t cpu_ns = judge->ns[VERDICT_CPU], other_ns;

	if (!bounds->known || heaviest != VERDICT_HOST_CODE ||
	    bounds->at_least_percent < VERDICT_NOISE_PERCENT ||
	    bounds->likely_most_percent < VERDICT_BUSY_PERCENT)
		return false;
	other_ns = judge->ns[VERDICT_DATA] + judge->ns[VERDICT_HOST_CODE] - own_ns;
	/* Of the own time in copies it is known that it costs something. */
	if (bounds->copied_ns >= own_ns)
		return false;
	other_ns += bounds->copied_ns;
	own_ns -= bounds->copied_ns;
	/* Few waits for a CPU are part of the own time, of which it is not known what it costs. */
	if (cpu_ns >= own_ns / CPU_SHARE)
		other_ns += cpu_ns;
	return other_ns < own_ns &&
	       judge_share(other_ns, judge->window_ns) < 100 - VERDICT_BUSY_PERCENT;
}

/* Are the threads at work nearly all the time? Then no wait is a finding, whatever it is for. */
static bool is_at_work(const struct judge *judge, const struct verdict *verdict)
{
	return !judge->facts->waits->bounds.known && verdict->own_percent >= VERDICT_BUSY_PERCENT;
}

void judge_threads(struct judge *judge, struct verdict *verdict)
{
	const struct host_waits *waits = judge->facts->waits;
	uint64_t own_ns = waits->own.total_ns, asked_ns = waits->waits.total_ns, fetched_ns, spins_ns;
	uint64_t slept_ns;
	uint8_t heaviest;

	verdict->of = waits->of_steps ? VERDICT_OF_STEP_TIME : VERDICT_OF_WALL_TIME;
	verdict->by_threads = verdict->has_percent = true;
	judge->window_ns = waits->window_ns;
	judge->roots = &waits->waits;
	if (!waits->bounds.known)
		own_ns += find_help(judge, own_ns);
	for (uint32_t i = 0; i < waits->waits.count; i++)
		judge->ns[judge_state_of(judge, &waits->waits.row[i])] += waits->waits.row[i].ns;
	spins_ns = waits->why == WAITS_OF_LAST ? find_held(judge) : find_spins(judge);
	own_ns -= spins_ns;
	judge->ns[VERDICT_HOST_CODE] += spins_ns;
	slept_ns = slept_fetches(judge, verdict);
	judge->ns[VERDICT_HOST_CODE] -= slept_ns;
	judge->ns[VERDICT_DATA] += slept_ns;
	fetched_ns = own_fetches(judge, verdict, own_ns, slept_ns);
	own_ns -= fetched_ns;
	judge->ns[VERDICT_DATA] += fetched_ns;
	verdict->own_percent = verdict->percent = judge_share(own_ns, judge->window_ns);
	if (waits->bounds.known) {
		judge->ns[VERDICT_HOST_CODE] += own_ns;
		asked_ns += own_ns;
	}
	heaviest = heaviest_of(judge);
	if (judge_lost_too_much(judge, verdict)) {
		judge_know_not(verdict, VERDICT_LACK_RECORDS);
		verdict->has_percent = false;
	} else if (judge_restarts(judge, verdict, judge_share(judge->ns[heaviest], judge->window_ns)) ||
		   blame_pipeline(judge, verdict, heaviest)) {
		;
	} else if (waits->bounds.known && waits->bounds.at_least_percent >= VERDICT_BUSY_PERCENT) {
		verdict->state = VERDICT_DEVICE;
		verdict->busy = true;
		verdict->percent = waits->bounds.at_least_percent;
	} else if (2 * judge->ns[VERDICT_UNKNOWN] > asked_ns && !is_at_work(judge, verdict) &&
		   judge_share(judge->ns[VERDICT_UNKNOWN], judge->window_ns) >=
			   VERDICT_NOISE_PERCENT) {
		verdict->percent = judge_share(judge->ns[VERDICT_UNKNOWN], judge->window_ns);
		verdict->idle = judge_heaviest_kind(judge, VERDICT_UNKNOWN, false);
		judge_know_not(verdict, judge_lack_of(judge, verdict));
	} else if (waits_for_events(judge)) {
		verdict->percent = judge_share(waits->waits.total_ns, judge->window_ns);
		verdict->idle = judge_heaviest_kind(judge, VERDICT_HOST_CODE, false);
		judge_know_not(verdict, VERDICT_LACK_EVENTS);
	} else if (judge_share(judge->ns[heaviest], judge->window_ns) < VERDICT_NOISE_PERCENT ||
		   is_at_work(judge, verdict)) {
		verdict->state = VERDICT_HEALTHY;
		point_at_own(judge, verdict);
	} else if (may_cost_nothing(judge, heaviest, own_ns)) {
		judge_know_not(verdict, VERDICT_LACK_BUSY);
	} else {
		find_threads_cost(judge, verdict, heaviest,
				  own_of(judge, heaviest, own_ns, fetched_ns, spins_ns));
	}
	verdict->roots = judge->roots;
	verdict->roots_of_ns = judge->window_ns;
}
