/* SPDX-License-Identifier: Apache-2.0 */
/* session_start.c - starts a session: from its request to going live. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/capture/calibrate.h"
#include "daemon/profbpfd/host/container_names.h"
#include "daemon/profbpfd/host/host_counters.h"
#include "daemon/profbpfd/host/host_stats.h"
#include "daemon/profbpfd/interpreters/interpreters.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/host/process_info.h"
#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/session/session_private.h"
#include "daemon/profbpfd/stacks/unwinder.h"

#define NEWCOMER_ROUNDS 16
#define QUEUE_BYTES (128u << 20) /* limit of records that wait for the writer */
#define TABLES_WAIT_NS 400000000ull /* longest wait for unwind tables; on a busy machine some may come later */

uint64_t session_memory(uint64_t buffer_bytes, bool by_steps)
{
	return buffer_bytes + QUEUE_BYTES + (by_steps ? STEPS_KEPT_BYTES : 0);
}

/* Prepares tables of the requested processes. For an ordinary user they are only made after the claims. */
static void prepare_tables(struct session *s)
{
	if (!s->unwinding || s->request.owner != NO_OWNER || s->request.started_here)
		return;
	for (size_t i = 0; i < s->request.pid_count; i++)
		unwinder_prepare(s->unwinding, s->request.pids[i]);
}

static int start_capture(struct session *s)
{
	struct capture_options options = {
		.system_wide = s->request.system_wide,
		.follow = s->request.follow,
		.owner = s->request.owner,
		.owner_group = s->request.owner_group,
		.min_duration_ns = s->request.min_duration_ns,
		.buffer_bytes = s->request.buffer_bytes,
		.topics = s->request.topics,
		.ioctls_later = s->request.ioctls_later && !s->request.system_wide,
		.stack_block_ns = s->request.stack_block_ns,
		.targets_max = s->request.processes_max,
		.gate = s->request.gate,
	};
	char error[512];

	/* The daemon probes the features only once: that takes as long as loading the programs. */
	s->features = *s->request.features;
	if (s->request.unwinder && s->request.topics & TOPICS_SAMPLED && s->features.unwind && s->features.loops)
		s->unwinding = unwinder_join(s->request.unwinder);
	options.unwinding = s->unwinding;
	prepare_tables(s);
	s->cgroups = cgroups_new();
	if (s->cgroups && s->request.owner == NO_OWNER)
		cgroups_name_containers(s->cgroups, container_names_root());
	options.cpu_cgroup_v1 = s->cgroups && cgroups_version1(s->cgroups);
	s->capture = capture_new(&options, &s->features, error, sizeof(error));
	s->right =
		(struct right){ s->capture, s->request.owner, s->request.owner_group, right_ask };
	if (s->capture && !capture_attach_guard(s->capture, error, sizeof(error)))
		return 0;
	session_end(s, true, error);
	return -1;
}

static int make_parts(struct session *s)
{
	struct recorder_events events;

	s->queue = item_queue_new(QUEUE_BYTES);
	s->texts = texts_new();
	s->code_names = s->queue ? code_names_new(s->queue) : NULL;
	if (s->code_names)
		code_names_limit(s->code_names, &s->right);
	events = session_events(s);
	s->recorder = s->queue && s->texts ? recorder_new(libbpf_num_possible_cpus(), s->queue,
							  s->texts, &events)
					   : NULL;
	if (s->recorder && s->request.topics & TOPIC_DEVICE)
		s->devices = device_feed_new(s->queue, session_warn, s);
	if (s->recorder && s->request.topics & TOPICS_SAMPLED)
		s->stacks =
			stacks_new(s->queue, s->request.stack_rate, s->capture, s->request.kernel_names, session_warn,
				   s);
	if (!s->recorder || (s->request.topics & TOPIC_DEVICE && !s->devices) ||
	    (s->request.topics & TOPICS_SAMPLED && !s->stacks)) {
		session_end(s, true, "out of memory");
		return -1;
	}
	if (s->stacks)
		stacks_limit(s->stacks, &s->right);
	if (s->stacks && s->request.flight)
		stacks_bound(s->stacks, flight_stack_bytes(s->request.flight));
	if (s->stacks && s->unwinding && capture_unwind_map(s->capture) >= 0) {
		unwinder_begin(s->unwinding, capture_unwind_map(s->capture), &s->right);
		stacks_unwind(s->stacks, s->unwinding);
	}
	if (s->devices)
		device_feed_limit(s->devices, &s->right);
	return 0;
}

static void let_go(struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->request.pid_count; i++) {
		if (s->request.pids[i] == pid)
			held_let_go(&s->request.held[i]);
	}
}

/*
 * Checks that an ordinary user's target is the user's: a descendant may run with another user's rights, and a requested
 * process may have begun to do so since the check of the request. After the claim the BPF programs watch that.
 */
static bool claim_target(struct session *s, pid_t pid)
{
	if (!capture_claim(s->capture, pid) && right_holds(&s->right, pid))
		return true;
	capture_target_remove(s->capture, pid);
	return false;
}

static void claim_targets(struct session *s)
{
	char text[160];
	size_t kept = 0;

	for (size_t i = 0; i < s->target_count; i++) {
		pid_t pid = s->targets[i];

		if (claim_target(s, pid)) {
			s->targets[kept++] = pid;
			continue;
		}
		let_go(s, pid);
		if (i >= s->request.pid_count)
			continue;
		snprintf(text, sizeof(text), "process %d is not traced: it is no longer yours",
			 pid);
		session_warn(s, text);
	}
	s->target_count = kept;
}

/* Requests the targets' unwind tables, needed from the first sample on; they are made while functions are probed. */
static void look_at_targets(struct session *s)
{
	if (!s->stacks || !s->unwinding || capture_unwind_map(s->capture) < 0 || s->request.system_wide ||
	    s->request.started_here)
		return;
	for (size_t i = 0; i < s->target_count; i++)
		unwinder_look(s->unwinding, s->targets[i], false);
}

static int find_targets(struct session *s)
{
	int err = 0;

	s->targets = calloc(s->request.pid_count + 1, sizeof(*s->targets));
	if (!s->targets) {
		session_end(s, true, "out of memory");
		return -1;
	}
	if (s->request.pid_count)
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
	if (right_limited(&s->right))
		claim_targets(s);
	look_at_targets(s);
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
		/* A process that profctl has started waits and still maps profctl, not the command. */
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

/* Begins before the present mappings are read, so that no mapping is missed. */
static void watch_maps(struct session *s)
{
	struct map_events_handler handler = session_map_events(s);
	char text[768], why[640];

	s->maps = map_events_new(s->request.map_watch, &handler);
	if (s->maps && s->stacks)
		stacks_told(s->stacks);
	if (s->maps)
		return;
	obstacles_perf_text(errno, why, sizeof(why));
	snprintf(text, sizeof(text), "libraries loaded later are not traced: %s", why);
	session_warn(s, text);
}

static int start_probes(struct session *s)
{
	struct probes_options options = {
		.system_wide = s->request.system_wide,
		.follow = s->request.follow,
		.targets = s->target_count,
		.own_only = s->request.owner != NO_OWNER,
		.budget = s->request.budget,
		.keep_queues = s->request.keep_queues,
		.functions_max = s->request.functions_max,
		.optimized_nop = s->features.optimized_nop,
		.early_exits = s->features.early_exits && !s->features.emulated_returns,
		.file_cache = s->request.file_cache,
		.code_names = s->code_names,
		.figures = s->request.min_duration_ns ? NULL : s->figures,
		.right = &s->right,
	};
	struct price_key key = {
		.method = s->features.method,
		.optimized_nop = s->features.optimized_nop,
		.system_wide = s->request.system_wide,
		.of_user = s->request.owner != (uid_t)-1,
	};
	char error[256];

	if (!(s->request.topics & TOPIC_API))
		return 0;
	watch_maps(s);
	prices_measure(s->request.prices, s->capture, &key, &s->probe_costs);
	options.prices.exit_ns = price_to_exit(&s->probe_costs);
	options.prices.early_ns = s->probe_costs.by_class[INSTRUCTION_EMULATED].whole_ns;
	if (s->request.min_duration_ns)
		options.prices.return_ns = s->probe_costs.by_class[INSTRUCTION_EMULATED].whole_ns;
	if (capture_attach_exits(s->capture, error, sizeof(error))) {
		session_end(s, true, error);
		return -1;
	}
	s->probes = probes_new(s->capture, s->catalogs, s->queue, &options, session_warn, s);
	if (!s->probes) {
		session_end(s, true, "out of memory");
		return -1;
	}
	probe_targets(s);
	s->roles_possible = probes_know_file(s->probes, interpreters_tell_roles);
	s->functions = probes_functions(s->probes);
	s->files = probes_files(s->probes);
	return 0;
}

static int attach_programs(struct session *s)
{
	char error[768], warning[768];

	if (capture_attach(s->capture, error, warning, sizeof(error))) {
		session_end(s, true, error);
		return -1;
	}
	if (warning[0])
		session_warn(s, warning);
	if (s->request.topics & TOPIC_FAULT) {
		s->faults = sampler_new_faults(capture_fault_program(s->capture), warning,
					       sizeof(warning));
		if (!s->faults)
			session_warn(s, warning);
	}
	if (!s->stacks)
		return 0;
	if (stacks_warning(s->stacks))
		session_warn(s, stacks_warning(s->stacks));
	s->sampler = sampler_new(capture_sample_program(s->capture), s->request.stack_rate, warning,
				 sizeof(warning));
	if (!s->sampler)
		session_warn(s, warning);
	return 0;
}

static int watch_fd(struct session *s, int fd, uint32_t how, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN | how, .data.u64 = data };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* A requested process has exited before the session is live: its id may be reused by now. */
static void drop_target(struct session *s, size_t index)
{
	pid_t pid = s->request.pids[index];

	held_let_go(&s->request.held[index]);
	if (s->probes)
		probes_forget(s->probes, pid);
	for (size_t i = 0; i < s->target_count; i++)
		if (s->targets[i] == pid)
			s->targets[i--] = s->targets[--s->target_count];
}

/* Rings are edge-triggered: they are readable as long as they have a record, but only a new wake-up matters. */
static int watch_everything(struct session *s)
{
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || watch_fd(s, s->wake_fd, 0, WAKE_OWN) ||
	    watch_fd(s, capture_epoll_fd(s->capture), EPOLLET, WAKE_RINGS) ||
	    (s->maps && watch_fd(s, map_events_fd(s->maps), 0, WAKE_MAPS))) {
		session_end(s, true, "setting up the session's event loop failed");
		return -1;
	}
	for (size_t i = 0; i < s->request.pid_count; i++) {
		const struct held *held = &s->request.held[i];

		if (held_gone(held, s->request.pids[i]))
			drop_target(s, i);
		else if (held_any(held) &&
			 (held->fd < 0 || !watch_fd(s, held->fd, 0, WAKE_PIDFD + i)))
			s->alive++;
	}
	if (s->request.pid_count && !s->alive) {
		session_end(s, true, "no process is left to trace: all have exited");
		return -1;
	}
	return 0;
}

static int start_writer(struct session *s)
{
	struct writer_others others;
	int err;

	/* Warnings from other threads are either in the segment's head, or follow it. */
	pthread_mutex_lock(&s->lock);
	s->segment = segment_new(&s->request, &s->features, s->start_ns, s->warnings,
				 s->warning_count, &s->probe_costs);
	pthread_mutex_unlock(&s->lock);
	if (s->request.flight && s->request.triggers)
		s->watch = trigger_watch_new(s->request.triggers, s->live, s->request.owner, s->request.owner_group);
	err = session_steps_start(s);
	others = (struct writer_others){ s->steps.flight ? s->steps.flight : s->request.flight, s->steps.gate, s->watch,
					 s->live };
	s->writer = s->segment && !err ? writer_new(s->request.output, &others, segment_message(s->segment),
					    s->queue, s->texts, s->catalogs, s->wake_fd, &s->right)
			       : NULL;
	if (!s->writer) {
		session_end(s, true, "out of memory");
		return -1;
	}
	return 0;
}

static void roles_of(struct session *s, pid_t pid, const struct thread_pointer *threads, size_t count)
{
	const struct interpreter *interpreter = NULL;
	const char *problem;
	struct item *roles;
	char text[256];

	while ((interpreter = interpreters_with_roles(interpreter))) {
		roles = interpreter->roles(pid, threads, count, &problem);
		if (!right_holds(&s->right, pid)) {
			item_free(roles);
			return;
		}
		session_push(s, roles);
		if (!problem)
			continue;
		snprintf(text, sizeof(text), "process %d: cannot determine %s: %s", pid,
			 interpreter->roles_words, problem);
		session_warn(s, text);
	}
}

/* Finds the roles of threads whose start was not seen, from their framework's data. */
static void find_roles(struct session *s)
{
	struct thread_pointer *threads = NULL;
	size_t count = 0;

	if (s->probes && !s->request.started_here && s->roles_possible &&
	    !capture_thread_pointers(s->capture, &threads, &count)) {
		for (size_t i = 0; i < s->target_count; i++)
			roles_of(s, s->targets[i], threads, count);
	}
	free(threads);
}

/* Has a target exited? Its id was put into the map of targets before, so the programs see later exits. */
static bool has_exited(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->request.pid_count; i++)
		if (s->request.pids[i] == pid)
			return held_gone(&s->request.held[i], pid);
	return s->probes && probes_gone(s->probes, pid);
}

/* Returns 0; -ENOENT: the user has lost the right to it since the claim; or another negative errno. */
static int add_target(struct session *s, pid_t pid)
{
	int err = capture_target_add(s->capture, pid);
	char text[160];

	if (err == -ENOENT) {
		snprintf(text, sizeof(text),
			 "process %d is not traced: it runs a program that you may not trace",
			 pid);
		session_warn(s, text);
	} else if (err) {
		s->untraced++;
	}
	return err;
}

/* A process that has exited, or is not the user's any more, keeps no probes: the id may be another process's by now. */
static void begin_target(struct session *s, pid_t pid)
{
	int err = add_target(s, pid);

	if (err == -ENOENT || has_exited(s, pid)) {
		capture_target_remove(s->capture, pid);
		if (s->probes)
			probes_forget(s->probes, pid);
	}
	if (s->devices)
		device_feed_watch(s->devices, pid);
}

static void watch_process(struct session *s, pid_t pid)
{
	if (s->devices)
		device_feed_watch(s->devices, pid);
	if (s->cgroups)
		session_push(s, cgroups_watch(s->cgroups, pid));
}

/* Returns whether there were new processes: they may have had children before they became targets. */
static bool add_newcomers_once(struct session *s, uint64_t since_ns)
{
	size_t before = s->target_count, kept = before;

	if (process_descendants(&s->targets, &s->target_count))
		return false;
	for (size_t i = before; i < s->target_count; i++) {
		pid_t pid = s->targets[i];

		if (capture_is_target(s->capture, pid) || !claim_target(s, pid))
			continue;
		s->targets[kept++] = pid;
		add_target(s, pid);
		watch_process(s, pid);
	}
	s->target_count = kept;
	for (size_t i = before; i < kept && s->prober; i++)
		prober_scan(s->prober, s->targets[i], false, since_ns);
	s->roles_possible |= kept > before;
	return kept > before;
}

/* Adds children that began during the session's start, at @since_ns or later. The programs add targets' children. */
static void add_newcomers(struct session *s, uint64_t since_ns)
{
	if (!s->request.follow || s->request.system_wide || s->request.started_here)
		return;
	for (int i = 0; i < NEWCOMER_ROUNDS && add_newcomers_once(s, since_ns); i++)
		;
}

static void forget_exited(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->target_count; i++)
		if (capture_is_target(s->capture, s->targets[i]))
			s->targets[kept++] = s->targets[i];
	s->target_count = kept;
}

void session_trace_process(struct session *s, pid_t pid, uint64_t started)
{
	uint64_t now_ns = session_now_ns();
	pid_t *targets;

	if (capture_is_target(s->capture, pid))
		return;
	forget_exited(s);
	targets = realloc(s->targets, (s->target_count + 1) * sizeof(*targets));
	if (!targets)
		return;
	s->targets = targets;
	if (right_limited(&s->right) && !claim_target(s, pid))
		return;
	add_target(s, pid);
	/* Checked after its id was put into the map of targets: the programs see later exits. */
	if (!process_runs(pid, started)) {
		capture_target_remove(s->capture, pid);
		return;
	}
	s->targets[s->target_count++] = pid;
	watch_process(s, pid);
	if (s->prober)
		prober_scan(s->prober, pid, false, now_ns);
	s->roles_possible = true;
	add_newcomers(s, now_ns);
	session_check_targets(s);
}

/* From here on everything is part of the recording. */
static int go_live(struct session *s)
{
	if (s->stacks && s->unwinding)
		unwinder_wait(s->unwinding, TABLES_WAIT_NS);
	s->start_ns = session_now_ns();
	if (start_writer(s))
		return -1;
	session_push(s, host_stats_clocks());
	session_push(s, host_stats_cpus());
	session_push(s, host_counters());
	for (size_t i = 0; i < s->target_count && s->cgroups; i++)
		session_push(s, cgroups_watch(s->cgroups, s->targets[i]));
	session_read_cgroups(s);
	for (size_t i = 0; i < s->target_count && !s->request.system_wide; i++)
		begin_target(s, s->targets[i]);
	if (s->probes) {
		s->prober = prober_new(s->probes, s->code_names);
		if (!s->prober)
			session_warn(s, "out of memory: libraries loaded later are not probed");
	}
	add_newcomers(s, s->start_ns);
	session_check_targets(s);
	if (s->request.topics & TOPICS_WITH_ACCOUNTS && capture_snapshot(s->capture, true, true))
		session_warn(s, "the threads' figures at the start could not be read");
	session_ioctls_start(s);
	find_roles(s);
	if (s->stacks)
		stacks_look(s->stacks);
	if (s->devices)
		device_feed_poll(s->devices, session_now_ns(), false);
	session_shed_start(s);
	session_set_state(s, SESSION_LIVE);
	/* Returns the memory that loading has used to the system. */
	malloc_trim(0);
	return 0;
}

int session_start(struct session *s)
{
	if (start_capture(s) || make_parts(s) || find_targets(s) || start_probes(s) ||
	    attach_programs(s) || watch_everything(s))
		return -1;
	return go_live(s);
}
