/* SPDX-License-Identifier: Apache-2.0 */
/* session_run.c - runs a live session: rings, ticks, processes that begin and end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/common/process_check.h"
#include "daemon/common/topics.h"
#include "daemon/profbpfd/control/priority.h"
#include "daemon/profbpfd/host/host_counters.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/host/process_info.h"
#include "daemon/profbpfd/session/session_private.h"

/* Limits of the interval between two drains of the rings. */
#define DRAIN_MIN_NS 10000000ull
#define DRAIN_MAX_NS 100000000ull
#define DRAIN_BYTES (256u << 10) /* intended amount per drain: fits into a CPU's cache */
#define PATIENT_NS (DRAIN_MAX_NS / 2)
#define PATIENT_BYTES (1u << 20) /* of each ring */
#define FLUSH_NS 1000000000ull /* small batches compress badly */
#define DRAINS_FOR_TEXTS 4 /* each drain may read a call whose string arrives only with the next one */
#define LOOKS_PER_TICK 64
#define TICK_NS 1000000000ull

static void look_at(struct session *s, pid_t pid, bool began, uint64_t ts_ns)
{
	if (s->prober)
		prober_scan(s->prober, pid, began, ts_ns);
	if (s->devices)
		device_feed_watch(s->devices, pid);
}

/* The process runs another program, or is a new process with a reused id. */
static void program_started(void *context, pid_t pid, pid_t parent, uint64_t ts_ns)
{
	struct session *s = context;

	if (s->stacks)
		stacks_began(s->stacks, pid, parent, ts_ns);
	look_at(s, pid, true, ts_ns);
}

static void process_exited(void *context, pid_t pid, uint64_t ts_ns)
{
	struct session *s = context;

	if (s->prober)
		prober_forget(s->prober, pid, ts_ns);
	if (s->devices)
		device_feed_forget(s->devices, pid, ts_ns);
	if (s->exited_count < EXITED_MAX)
		s->exited[s->exited_count++] = (struct exited_process){ pid, ts_ns };
}

/* The process runs a program that the session's owner may not look into: removes its probes and stops reading it. */
static void process_dropped(void *context, pid_t pid)
{
	struct session *s = context;

	if (s->prober)
		prober_forget(s->prober, pid, UINT64_MAX);
	if (s->devices)
		device_feed_forget(s->devices, pid, UINT64_MAX);
	if (s->stacks)
		stacks_forget(s->stacks, pid);
}

static void code_seen(void *context)
{
	struct session *s = context;

	if (s->prober)
		prober_resolve(s->prober);
}

static void tail_seen(void *context, pid_t pid, uint64_t address, uint32_t probe)
{
	struct session *s = context;

	if (s->prober)
		prober_tail(s->prober, pid, address, probe);
}

static void texts_forgotten(void *context)
{
	struct session *s = context;

	capture_send_texts(s->capture);
}

static void target_exited(struct session *s, size_t index)
{
	struct held *held = &s->request.held[index];

	if (!held_any(held))
		return;
	if (held->fd >= 0)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, held->fd, NULL);
	held_let_go(held);
	if (!--s->alive)
		session_end(s, false,
			    s->request.pid_count > 1 ? "all targets exited" : "target exited");
}

/* Checks a requested process that is not held by a descriptor, which would report its exit. */
static void look_at_requested(struct session *s, size_t index)
{
	const struct held *held = &s->request.held[index];

	if (held->fd < 0 && held_gone(held, s->request.pids[index]))
		target_exited(s, index);
}

static void look_for_requested(struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->request.pid_count; i++)
		if (s->request.pids[i] == pid)
			look_at_requested(s, i);
}

/* Checks a few processes in turn, because the record of an exit may be lost. */
static void look_at_some(struct session *s)
{
	for (size_t i = 0; i < LOOKS_PER_TICK && i < s->request.pid_count; i++)
		look_at_requested(s, s->next_look++ % s->request.pid_count);
}

/*
 * Its id may be another process's by now: whether that is a target, the programs have decided at its fork. /proc has
 * threads' ids, too: none of these is a target.
 */
static bool id_is_unused(pid_t pid)
{
	struct process_facts facts;
	uint64_t started;

	return process_start_time(pid, &started) || (!process_facts_read(pid, &facts) && facts.tgid != pid);
}

/* Threads of an exited process may still wait for their last run on a CPU: they stay targets for a while. */
static void remove_exited(struct session *s)
{
	for (size_t i = 0; i < s->exited_before; i++) {
		const struct exited_process *exited = &s->exited[i];

		if (id_is_unused(exited->pid))
			capture_target_remove(s->capture, exited->pid);
		look_for_requested(s, exited->pid);
		if (s->stacks)
			stacks_ended(s->stacks, exited->pid, exited->ts_ns);
	}
	s->exited_count -= s->exited_before;
	memmove(s->exited, s->exited + s->exited_before, s->exited_count * sizeof(*s->exited));
	s->exited_before = s->exited_count;
}

static void process_seen(void *context, pid_t pid, uint64_t cgroup, bool target, bool last)
{
	struct session *s = context;

	bool more;

	if (!s->cgroups)
		return;
	session_push(s, cgroups_note(s->cgroups, cgroup, pid, target, &more));
	/* The process' cgroup may be removed after its end. */
	if (more || last)
		session_push(s, cgroups_read(s->cgroups));
}

struct recorder_events session_events(struct session *s)
{
	return (struct recorder_events){ .process_started = program_started,
					 .process_exited = process_exited,
					 .process_dropped = process_dropped,
					 .process_seen = process_seen,
					 .code_seen = code_seen,
					 .tail_seen = tail_seen,
					 .texts_forgotten = texts_forgotten,
					 .code_names = s->code_names,
					 .right = &s->right,
					 .context = s };
}

static bool is_target(void *context, pid_t pid)
{
	struct session *s = context;

	return capture_is_target(s->capture, pid);
}

/* Code without a file (generated code, the vdso) has no functions to probe, nor has any at the session's end. */
static void code_mapped(void *context, pid_t pid, uint64_t ts_ns, bool of_file)
{
	struct session *s = context;

	if (!is_target(s, pid))
		return;
	if (s->stacks)
		stacks_mapped(s->stacks, pid, ts_ns);
	if (of_file && !s->end_ns)
		look_at(s, pid, false, ts_ns);
}

static void look_again(void *context, pid_t pid)
{
	code_mapped(context, pid, session_now_ns(), true);
}

/* In a session of the whole machine the programs have no list of targets. Returns 0 or a negative errno: none was looked at. */
static int look_at_all(struct session *s)
{
	pid_t *pids = NULL;
	size_t count = 0;
	int err = process_all(&pids, &count);

	for (size_t i = 0; i < count && !err; i++)
		look_again(s, pids[i]);
	free(pids);
	return err;
}

/*
 * At most once a second: in a load that causes gaps, a look at thousands of processes would cause the next one. One that
 * fails (no descriptor is left) is tried again then.
 */
static void look_for_missed(struct session *s)
{
	uint64_t now = session_now_ns();

	if (!s->look_due || now < s->looked_ns + TICK_NS)
		return;
	s->look_due = false;
	s->looked_ns = now;
	if (s->request.system_wide)
		s->look_due = look_at_all(s) != 0;
	else
		capture_each_target(s->capture, look_again, s);
}

/*
 * What was called in a file before it is found now went unseen: the gap is told with the lost records. It counts as one:
 * the kernel's count of lost events is that of all processes, of any kind.
 */
static void maps_missed(void *context)
{
	struct session *s = context;

	s->maps_missed++;
	s->look_due = !s->end_ns;
	look_for_missed(s);
}

struct map_events_handler session_map_events(struct session *s)
{
	return (struct map_events_handler){ is_target, code_mapped, maps_missed, s };
}

static void take_record(void *context, const struct rec_header *record)
{
	struct session *s = context;

	if (s->figures)
		figures_take(s->figures, record);
	if (record->type == REC_STACK && s->stacks)
		stacks_take(s->stacks, (const void *)record, s->drain_ns);
	else
		recorder_handle(s->recorder, record);
}

/*
 * Sets the interval so that, at the recent rate, the intended amount arrives in it, possibly all in
 * one ring. A rising rate is harmless: rings that fill up wake the reader. A device's stream does not
 * wake it, so open streams need the shortest interval.
 */
static void plan_drain(struct session *s, uint64_t elapsed_ns, size_t bytes)
{
	size_t wanted = capture_ring_bytes(s->capture) / 8;
	uint64_t interval, most = 2 * s->drain_interval_ns;

	if (wanted > DRAIN_BYTES)
		wanted = DRAIN_BYTES;
	if (elapsed_ns < DRAIN_MIN_NS / 2 && bytes < wanted)
		return; /* too short for a rate */
	interval = elapsed_ns < TICK_NS ? elapsed_ns * wanted / (bytes + 1) : DRAIN_MAX_NS;
	if (most > DRAIN_MAX_NS)
		most = DRAIN_MAX_NS;
	if (interval > most)
		interval = most;
	if (interval < DRAIN_MIN_NS || (s->devices && device_feed_is_open(s->devices)))
		interval = DRAIN_MIN_NS;
	s->drain_interval_ns = interval;
}

/*
 * While few records arrive, and the rings have room for many more, the reader need not interrupt the job's threads when it
 * wakes up: with threads that wait for one another by spinning, that would delay all of them. But looks at interpreters
 * must not wait: they would meet threads only where these pause, and rarely with the interpreter's lock.
 */
static void choose_patience(struct session *s)
{
	bool looks = s->stacks && stacks_next_look(s->stacks) != UINT64_MAX;
	bool patient = !looks && s->drain_interval_ns >= PATIENT_NS && capture_ring_bytes(s->capture) >= PATIENT_BYTES;

	if (patient != s->patient)
		priority_patient(patient);
	s->patient = patient;
}

void session_drain(struct session *s, bool flush)
{
	uint64_t before_ns = s->drain_ns;
	size_t bytes;

	s->drain_ns = session_now_ns();
	bytes = capture_drain(s->capture, take_record, s);
	for (int i = 0; i < DRAINS_FOR_TEXTS && recorder_texts_missing(s->recorder); i++)
		bytes += capture_drain(s->capture, take_record, s);
	plan_drain(s, s->drain_ns - before_ns, bytes);
	choose_patience(s);
	recorder_pass(s->recorder, flush);
	if (s->stacks)
		stacks_pass(s->stacks, flush);
}

void session_push(struct session *s, struct item *item)
{
	if (item)
		item_queue_push(s->queue, item);
}

void session_read_cgroups(struct session *s)
{
	if (s->cgroups)
		session_push(s, cgroups_read(s->cgroups));
}

void session_check_targets(struct session *s)
{
	uint64_t most = capture_targets_max(s->capture);
	char text[256];

	if (s->untraced_told || !(s->untraced + capture_targets_refused(s->capture)))
		return;
	s->untraced_told = true;
	snprintf(text, sizeof(text),
		 "the limit of %llu processes is reached: further ones are not traced%s",
		 (unsigned long long)most,
		 s->request.processes_max == most
			 ? "; the administrator can raise the limit (profbpfd --user-processes)"
			 : "");
	session_warn(s, text);
}

static void tick(struct session *s)
{
	remove_exited(s);
	look_at_some(s);
	look_for_missed(s);
	session_check_targets(s);
	session_push(s, host_stats_clocks());
	session_push_statistics(s, false);
	session_ioctls_look(s);
	session_shed_look(s);
}

void session_read_figures(struct session *s, bool all)
{
	session_push(s, host_stats_cpus());
	session_push(s, host_counters());
	session_read_cgroups(s);
	if (s->request.topics & TOPICS_WITH_ACCOUNTS)
		capture_snapshot(s->capture, false, all);
}

static void read_in_turn(struct session *s)
{
	session_read_figures(s, false);
	/* A reader of the live output gets all records before the statistics that follow. */
	if (s->request.interval_ns >= FLUSH_NS)
		session_drain(s, true);
}

/* Returns whether the time @next has come, and advances it; missed times are skipped. */
static bool is_due(uint64_t *next, uint64_t now, uint64_t interval)
{
	if (now < *next)
		return false;
	*next += interval;
	if (*next <= now)
		*next = now + interval;
	return true;
}

void session_check_writer(struct session *s)
{
	int err = writer_error(s->writer);
	char text[256];

	if (!err)
		return;
	snprintf(text, sizeof(text),
		 "writing the trace failed: %s; the %llu bytes written before are readable%s",
		 err == -ETIMEDOUT ? "its reader has stopped reading" : strerror(-err),
		 (unsigned long long)writer_bytes(s->writer),
		 err == -ENOSPC ? " (free some space, or choose another place with -o)" : "");
	session_end(s, true, text);
}

/* Returns whether the rings must be drained at once. */
static bool handle_events(struct session *s, const struct epoll_event *events, int n)
{
	bool drain = false;
	uint64_t value;

	for (int i = 0; i < n; i++) {
		uint64_t what = events[i].data.u64;

		if (what == WAKE_OWN && read(s->wake_fd, &value, sizeof(value)) > 0)
			session_check_writer(s);
		else if (what == WAKE_RINGS)
			drain = true;
		else if (what == WAKE_MAPS)
			map_events_read(s->maps);
		else if (what >= WAKE_PIDFD)
			target_exited(s, what - WAKE_PIDFD);
	}
	return drain;
}

/* Times of the next periodic actions. */
struct schedule {
	uint64_t tick, flush, figures, end;
};

static uint64_t next_instant(const struct session *s, const struct schedule *next)
{
	uint64_t instants[] = { next->tick, next->flush, next->figures, next->end };
	uint64_t first = s->drain_ns + s->drain_interval_ns;

	if (s->stacks && stacks_next_look(s->stacks) < first)
		first = stacks_next_look(s->stacks);
	for (size_t i = 0; i < sizeof(instants) / sizeof(*instants); i++)
		if (instants[i] < first)
			first = instants[i];
	return first;
}

void session_read_all(struct session *s, uint64_t now, bool flush)
{
	/* Mappings are needed before the addresses in them. */
	if (s->stacks && s->maps)
		map_events_read(s->maps);
	session_drain(s, flush);
	if (s->devices)
		device_feed_poll(s->devices, now, flush);
	if (s->stacks && flush)
		stacks_look(s->stacks);
	if (s->stacks)
		stacks_interpreters(s->stacks, now);
}

void session_run(struct session *s)
{
	struct schedule next = {
		.tick = s->start_ns + TICK_NS,
		.flush = s->start_ns + FLUSH_NS,
		.figures = s->start_ns + s->request.interval_ns,
		.end = s->request.duration_ns ? s->start_ns + s->request.duration_ns : UINT64_MAX,
	};
	struct epoll_event events[16];

	s->drain_interval_ns = DRAIN_MIN_NS;
	while (!session_stop_asked(s)) {
		uint64_t until = next_instant(s, &next), now = session_now_ns();
		int wait_ms = until > now ? (int)((until - now + 999999) / 1000000) : 0;
		bool drain = handle_events(s, events, epoll_wait(s->epoll_fd, events, 16, wait_ms));

		now = session_now_ns();
		if (now >= next.end)
			session_end(s, false, "duration");
		if (drain || now >= until)
			session_read_all(s, now, now >= next.flush);
		if (now >= next.flush)
			next.flush = now + FLUSH_NS;
		if (is_due(&next.figures, now, s->request.interval_ns))
			read_in_turn(s);
		if (is_due(&next.tick, now, TICK_NS))
			tick(s);
		if (s->request.flight)
			session_flight_look(s);
		session_steps_look(s);
	}
}
