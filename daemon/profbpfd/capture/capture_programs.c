/* SPDX-License-Identifier: Apache-2.0 */
/* capture_programs.c - selects the programs of a session, and attaches them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/capture/capture_private.h"
#include "daemon/profbpfd/probe/uprobe_multi.h"
#include "daemon/profbpfd/stacks/unwinder.h"

/* Elements of the map of short calls (function and process) if it is preallocated, for each CPU. */
#define SHORT_CALLS_ROOM 16384

/*
 * Sizes of the arrays of call stacks (4 KiB each) and of facts about threads, indexed by thread. Powers of two. A
 * thread whose place is taken uses a slower map.
 */
#define NEAR_STACKS 1024
#define NEAR_STACKS_SMALL 128
#define KNOWN_THREADS 32768
#define KNOWN_THREADS_SMALL 4096

#define PROCESSES_SMALL 4096 /* processes with known interpreters or unwind tables */
#define PYTHON_STATES_SMALL 8192
#define UNWIND_PROCESSES_BEFOREHAND 512 /* preallocated, 16 KiB each */
#define EXIT_CONFS_SMALL 8192

int capture_put(const struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	int err = 0;

	for (int i = 0; i < 10; i++) {
		err = bpf_map_update_elem(bpf_map__fd(map), key, value, flags);
		if (err != -ENOMEM)
			break;
		usleep(1000);
	}
	return err;
}

static void choose_block_programs(struct capture *capture, enum block_source source)
{
	bool io = capture->topics & TOPIC_IO && source != BLOCK_SOURCE_NONE;
	bool queue = io && source == BLOCK_SOURCE_QUEUE_BIO;
	struct profbpf *s = capture->skeleton;

	bpf_program__set_autoload(s->progs.block_made, io && source == BLOCK_SOURCE_REQUEST);
	bpf_program__set_autoload(s->progs.block_made_before_6_5, io && source == BLOCK_SOURCE_BIO);
	bpf_program__set_autoload(s->progs.block_made_before_5_11, queue);
	bpf_program__set_autoload(s->progs.block_issued, io && !queue);
	bpf_program__set_autoload(s->progs.block_issued_before_5_11, queue);
	bpf_program__set_autoload(s->progs.block_merged, io && !queue);
	bpf_program__set_autoload(s->progs.block_merged_before_5_11, queue);
	bpf_program__set_autoload(s->progs.block_completed, io);
	if (!io)
		bpf_map__set_max_entries(s->maps.block_pending, 1);
}

static void choose_ioctl_programs(struct capture *capture, bool compat)
{
	struct profbpf *s = capture->skeleton;
	bool function = capture->ioctls == IOCTL_METHOD_FUNCTION;
	bool kprobe = capture->ioctls == IOCTL_METHOD_KPROBE;
	bool tracepoint = capture->ioctls == IOCTL_METHOD_TRACEPOINT;

	bpf_program__set_autoload(s->progs.ioctl_enter_function, function);
	bpf_program__set_autoload(s->progs.ioctl_leave_function, function);
	bpf_program__set_autoload(s->progs.ioctl_enter_compat, function && compat);
	bpf_program__set_autoload(s->progs.ioctl_leave_compat, function && compat);
	bpf_program__set_autoload(s->progs.ioctl_enter_kprobe, kprobe);
	bpf_program__set_autoload(s->progs.ioctl_leave_kprobe, kprobe);
	bpf_program__set_autoload(s->progs.ioctl_enter_kprobe_compat, kprobe && compat);
	bpf_program__set_autoload(s->progs.ioctl_leave_kprobe_compat, kprobe && compat);
	bpf_program__set_autoload(s->progs.ioctl_enter_tracepoint, tracepoint);
	bpf_program__set_autoload(s->progs.ioctl_leave_tracepoint, tracepoint);
	bpf_program__set_autoload(s->progs.ioctl_thread_exit, function || kprobe || tracepoint);
	bpf_program__set_autoload(s->progs.ioctls_before, function || kprobe || tracepoint);
}

/* Skips maps that this kernel does not need or cannot create. */
static void choose_thread_maps(struct capture *capture, const struct features *features)
{
	struct profbpf *s = capture->skeleton;
	const struct {
		struct bpf_map *storage, *hash;
		bool wanted;
	} maps[] = {
		{ s->maps.thread_states, s->maps.thread_states_by_task, true },
		{ s->maps.call_stacks, s->maps.call_stacks_by_task, capture->topics & TOPIC_API },
		{ s->maps.sleepers, s->maps.sleepers_by_task, capture->topics & TOPIC_STACK },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		bpf_map__set_autocreate(maps[i].storage, features->task_storage);
		bpf_map__set_autocreate(maps[i].hash, !features->task_storage);
		if (!maps[i].wanted)
			bpf_map__set_max_entries(maps[i].hash, 1);
	}
	if (features->cookies)
		bpf_map__set_max_entries(s->maps.probed_places, 1);
	bpf_program__set_autoload(s->progs.forget_thread, !features->task_storage);
}

static void choose_places(struct capture *capture)
{
	struct profbpf *s = capture->skeleton;
	uint32_t near = capture->small ? NEAR_STACKS_SMALL : NEAR_STACKS;
	uint32_t known = capture->small ? KNOWN_THREADS_SMALL : KNOWN_THREADS;

	s->rodata->settings.near_stacks = capture->topics & TOPIC_API ? near : 1;
	s->rodata->settings.known_threads = capture_has_switches(capture) ? known : 1;
	bpf_map__set_max_entries(s->maps.near_stacks, s->rodata->settings.near_stacks);
	bpf_map__set_max_entries(s->maps.known_threads, s->rodata->settings.known_threads);
}

/*
 * Before 6.1 a program of a perf event may not use a map without preallocation, even if only the daemon fills it
 * ("perf_event programs can only use preallocated hash map"); from 5.17 on the programs for samples use these maps.
 */
static void take_room_beforehand(struct profbpf *s)
{
	bpf_map__set_map_flags(s->maps.short_calls, 0);
	bpf_map__set_map_flags(s->maps.python_layouts, 0);
	bpf_map__set_map_flags(s->maps.python_states, 0);
	bpf_map__set_map_flags(s->maps.unwind_processes, 0);
	bpf_map__set_max_entries(s->maps.unwind_processes, UNWIND_PROCESSES_BEFOREHAND);
}

/*
 * Maps for rare elements are not preallocated, if the kernel permits that. Nor is the map of targets if the session is
 * to be small: then each fork of a target allocates an element, which may fail.
 */
static void choose_room(struct capture *capture, const struct features *features)
{
	struct profbpf *s = capture->skeleton;
	struct bpf_map *late[] = { s->maps.tail_targets, s->maps.stack_movers, s->maps.python_locks,
				   capture->small ? s->maps.targets : NULL };

	for (size_t i = 0; features->late_room && i < sizeof(late) / sizeof(late[0]); i++)
		if (late[i])
			bpf_map__set_map_flags(late[i], BPF_F_NO_PREALLOC);
	if (!features->late_room)
		take_room_beforehand(s);
	if (!s->rodata->settings.min_duration_ns)
		bpf_map__set_max_entries(s->maps.short_calls, 1);
	else if (!features->late_room)
		bpf_map__set_max_entries(s->maps.short_calls, SHORT_CALLS_ROOM);
	choose_places(capture);
	if (!capture->small)
		return;
	bpf_map__set_max_entries(s->maps.python_states, PYTHON_STATES_SMALL);
	bpf_map__set_max_entries(s->maps.python_layouts, PROCESSES_SMALL);
	bpf_map__set_max_entries(s->maps.python_locks, PROCESSES_SMALL);
	if (!features->late_room)
		return;
	bpf_map__set_max_entries(s->maps.unwind_processes, PROCESSES_SMALL);
	/* An array, indexed by exit, would have an element for every exit, but few exits need one. */
	bpf_map__set_type(s->maps.exit_confs, BPF_MAP_TYPE_HASH);
	bpf_map__set_map_flags(s->maps.exit_confs, BPF_F_NO_PREALLOC);
	bpf_map__set_max_entries(s->maps.exit_confs, EXIT_CONFS_SMALL);
}

void capture_choose_programs(struct capture *capture, const struct features *features)
{
	struct profbpf *s = capture->skeleton;
	bool api = capture->topics & TOPIC_API;
	bool sched = capture->topics & TOPIC_SCHED;
	bool session = api && capture->method == PROBE_METHOD_SESSION;
	bool multi = session || (api && capture->method == PROBE_METHOD_MULTI);
	bool perf = api && capture->method == PROBE_METHOD_PERF;
	bool accounts = capture->topics & TOPIC_ACCOUNT && !sched;
	bool irq = capture_marks_interrupts(capture);
	bool stack = capture->topics & TOPIC_STACK;
	bool sampled = capture->topics & TOPICS_SAMPLED;
	bool switches = capture_has_switches(capture);
	bool recent = features->switch_state && features->loops;

	bpf_program__set_autoload(s->progs.api_session, session);
	bpf_program__set_autoload(s->progs.returning_calls, session);
	bpf_program__set_autoload(s->progs.api_place, multi && !capture->emulated_returns);
	bpf_program__set_autoload(s->progs.api_place_returning, multi && capture->emulated_returns);
	bpf_program__set_autoload(s->progs.api_place_perf, perf);
	bpf_program__set_autoload(s->progs.api_exit, api);
	bpf_program__set_autoload(s->progs.api_exec, api);
	if (session)
		bpf_program__set_expected_attach_type(s->progs.api_session, ATTACH_UPROBE_SESSION);
	bpf_program__set_autoload(s->progs.on_switch, switches && recent);
	bpf_program__set_autoload(s->progs.on_switch_before_5_18, switches && !recent);
	bpf_program__set_autoload(s->progs.on_waking, switches);
	bpf_program__set_autoload(s->progs.on_migrate, sched);
	bpf_program__set_autoload(s->progs.on_wakeup_new, sched);
	bpf_program__set_autoload(s->progs.on_irq_entry, irq);
	bpf_program__set_autoload(s->progs.on_irq_exit, irq);
	bpf_program__set_autoload(s->progs.on_softirq_entry, irq);
	bpf_program__set_autoload(s->progs.on_softirq_exit, irq);
	bpf_program__set_autoload(s->progs.on_timer_entry, irq);
	bpf_program__set_autoload(s->progs.on_timer_exit, irq);
	bpf_program__set_autoload(s->progs.account_exit, accounts);
	bpf_program__set_autoload(s->progs.account_free, accounts);
	choose_thread_maps(capture, features);
	choose_room(capture, features);
	choose_ioctl_programs(capture, features->ioctl_compat);
	bpf_program__set_autoload(s->progs.on_sample, sampled && features->loops);
	bpf_program__set_autoload(s->progs.sleeping_stacks, sampled);
	bpf_program__set_autoload(s->progs.on_sample_before_5_17, sampled && !features->loops);
	bpf_program__set_autoload(s->progs.kernel_symbols, sampled && features->symbols);
	bpf_program__set_autoload(s->progs.on_major_fault, capture->topics & TOPIC_FAULT);
	choose_block_programs(capture, features->block);
	if (!stack)
		bpf_map__set_max_entries(s->maps.python_locks, 1);
	if (!sampled || !features->loops) {
		bpf_map__set_max_entries(s->maps.python_layouts, 1);
		bpf_map__set_max_entries(s->maps.python_states, 1);
	}
}

int capture_share_gate(struct capture *capture)
{
	struct profbpf *s = capture->skeleton;
	const struct gate_maps maps = {
		s->maps.gate_marks, s->maps.gate_waiting,
		capture_marks_interrupts(capture) ? NULL : s->maps.interrupted
	};

	if (capture->seat)
		return gate_share(capture->seat, &maps);
	return bpf_map__set_max_entries(s->maps.gate_marks, 1);
}

int capture_share_unwinding(struct capture *capture, const struct unwinder_session *unwinding)
{
	struct profbpf *s = capture->skeleton;
	int err;

	if (s->rodata->settings.unwind) {
		err = bpf_map__reuse_fd(s->maps.unwind_shards, unwinder_shards(unwinding));
		return err ? err : bpf_map__reuse_fd(s->maps.unwind_rules, unwinder_rules(unwinding));
	}
	bpf_map__set_max_entries(s->maps.unwind_shards, 1);
	bpf_map__set_max_entries(s->maps.unwind_rules, 1);
	return bpf_map__set_max_entries(s->maps.unwind_processes, 1);
}

static bool is_ioctl_hook(const struct capture *capture, const struct bpf_program *program)
{
	const struct profbpf *s = capture->skeleton;

	return program == s->progs.ioctl_enter_function ||
	       program == s->progs.ioctl_leave_function ||
	       program == s->progs.ioctl_enter_compat || program == s->progs.ioctl_leave_compat ||
	       program == s->progs.ioctl_enter_kprobe || program == s->progs.ioctl_leave_kprobe ||
	       program == s->progs.ioctl_enter_kprobe_compat ||
	       program == s->progs.ioctl_leave_kprobe_compat ||
	       program == s->progs.ioctl_enter_tracepoint ||
	       program == s->progs.ioctl_leave_tracepoint;
}

static bool is_gated(const struct capture *capture, const struct bpf_program *program)
{
	const struct profbpf *s = capture->skeleton;

	return capture->seat && (program == s->progs.on_switch || program == s->progs.on_switch_before_5_18 ||
				 program == s->progs.on_waking || program == s->progs.on_migrate ||
				 program == s->progs.on_wakeup_new);
}

/* Are attached first, in this order (capture_attach_forgetting()). */
static bool is_forgetting(const struct capture *capture, const struct bpf_program *program)
{
	const struct profbpf *s = capture->skeleton;

	return bpf_program__autoload(s->progs.forget_thread) &&
	       (program == s->progs.account_free || program == s->progs.forget_thread);
}

static bool attached_by_hand(const struct capture *capture, const struct bpf_program *program)
{
	const struct profbpf *s = capture->skeleton;

	return program == s->progs.api_session || program == s->progs.api_place ||
	       program == s->progs.api_place_returning || program == s->progs.api_place_perf ||
	       program == s->progs.accounts ||
	       program == s->progs.open_calls || program == s->progs.returning_calls ||
	       program == s->progs.thread_pointers || program == s->progs.sleeping_stacks ||
	       program == s->progs.kernel_symbols ||
	       program == s->progs.on_sample || program == s->progs.on_sample_before_5_17 ||
	       program == s->progs.on_major_fault ||
	       program == s->progs.api_exit || program == s->progs.api_exec ||
	       is_forgetting(capture, program) || is_gated(capture, program) ||
	       (capture->guarded && program == s->progs.on_exec);
}

static int attach_one(struct capture *capture, struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link)
		return -errno;
	if (capture->link_count == LINKS_MAX) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	capture->links[capture->link_count++] = link;
	return 0;
}

int capture_attach_forgetting(struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;
	int err = 0;

	if (!bpf_program__autoload(s->progs.forget_thread))
		return 0;
	if (bpf_program__autoload(s->progs.account_free))
		err = attach_one(capture, s->progs.account_free);
	return err ? err : attach_one(capture, s->progs.forget_thread);
}

int capture_attach_ioctls(struct capture *capture)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, capture->skeleton->obj)
		if (!err && bpf_program__autoload(program) && is_ioctl_hook(capture, program))
			err = attach_one(capture, program);
	return err;
}

bool capture_ioctls_wait(const struct capture *capture)
{
	return capture->ioctls_wait;
}

int capture_hook_ioctls(struct capture *capture)
{
	capture->ioctls_wait = false;
	return capture_attach_ioctls(capture);
}

uint64_t capture_ioctls_missed(const struct capture *capture)
{
	const struct bpf_program *const programs[] = {
		capture->skeleton->progs.ioctl_enter_function,
		capture->skeleton->progs.ioctl_enter_compat,
	};
	uint64_t missed = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(programs[i]);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

static void warn_of_missing(const struct capture *capture, char *warning, size_t size)
{
	snprintf(warning, size, "%s", capture->warning);
	if (warning[0])
		return;
	if (capture->topics & TOPIC_IOCTL && capture->ioctls == IOCTL_METHODS)
		snprintf(warning, size,
			 "ioctls are not recorded: this kernel needs system call tracepoints for "
			 "that, which are not available (is tracefs mounted on "
			 "/sys/kernel/tracing?)");
	else if (capture->topics & TOPIC_IO &&
		 !bpf_program__autoload(capture->skeleton->progs.block_completed))
		snprintf(warning, size,
			 "topic io is left out: this kernel has no tracepoints of block requests");
}

static int attach_or_say(struct capture *capture, struct bpf_program *program, char *error,
			 size_t size)
{
	int err = attach_one(capture, program);

	if (err)
		snprintf(error, size, "attaching the program %s failed: %s",
			 bpf_program__name(program), strerror(-err));
	return err;
}

int capture_attach_exits(struct capture *capture, char *error, size_t size)
{
	int err = attach_or_say(capture, capture->skeleton->progs.api_exit, error, size);

	return err ? err : attach_or_say(capture, capture->skeleton->progs.api_exec, error, size);
}

int capture_attach_guard(struct capture *capture, char *error, size_t size)
{
	if (capture->skeleton->rodata->settings.owner_uid == NO_OWNER)
		return 0;
	capture->guarded = true;
	return attach_or_say(capture, capture->skeleton->progs.on_exec, error, size);
}

static int enter_gate(struct capture *capture, char *error, size_t size)
{
	const struct profbpf *s = capture->skeleton;
	int switches = bpf_program__fd(s->progs.on_switch), err;
	int programs[GATE_EVENTS] = {
		[GATE_SWITCH] = switches >= 0 ? switches : bpf_program__fd(s->progs.on_switch_before_5_18),
		[GATE_WAKING] = bpf_program__fd(s->progs.on_waking),
		[GATE_MIGRATE] = bpf_program__fd(s->progs.on_migrate),
		[GATE_WAKEUP_NEW] = bpf_program__fd(s->progs.on_wakeup_new),
	};

	err = capture->seat ? gate_enter(capture->seat, programs) : 0;
	if (err)
		snprintf(error, size, "attaching programs to the scheduler failed: %s", strerror(-err));
	return err;
}

int capture_attach(struct capture *capture, char *error, char *warning, size_t size)
{
	struct bpf_program *program;
	int err = 0;

	warn_of_missing(capture, warning, size);
	bpf_object__for_each_program(program, capture->skeleton->obj)
	{
		if (!bpf_program__autoload(program) || attached_by_hand(capture, program) ||
		    is_ioctl_hook(capture, program))
			continue;
		err = attach_or_say(capture, program, error, size);
		if (err)
			break;
	}
	return err ? err : enter_gate(capture, error, size);
}

void capture_detach(struct capture *capture)
{
	while (capture->link_count)
		bpf_link__destroy(capture->links[--capture->link_count]);
}
