/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/capture/capture_private.h"
#include "daemon/profbpfd/control/obstacles.h"
#include "daemon/profbpfd/capture/programs.h"
#include "daemon/profbpfd/capture/refusal.h"

static uint32_t ring_size(uint64_t total, int cpus)
{
	uint64_t each = (total ? total : CAPTURE_BUFFER_DEFAULT) / cpus;
	uint32_t size = CAPTURE_RING_MIN;

	while (size < CAPTURE_RING_MAX && size * 2 <= each)
		size *= 2;
	return size;
}

static int create_rings(struct capture *capture, uint64_t buffer_bytes)
{
	uint32_t size = ring_size(buffer_bytes, capture->cpus);
	int outer = bpf_map__fd(capture->skeleton->maps.rings);
	int err = 0;

	capture->ring_bytes = size;
	capture->drained_of = calloc(capture->cpus, sizeof(*capture->drained_of));
	if (!capture->drained_of)
		return -ENOMEM;
	for (int cpu = 0; cpu < capture->cpus && !err; cpu++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "profbpf_ring", 0, 0, size, NULL);

		if (fd < 0)
			return fd;
		if (bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY))
			err = -errno;
		else if (!capture->rings)
			capture->rings = ring_buffer__new(fd, capture_on_record, capture, NULL);
		else
			err = ring_buffer__add(capture->rings, fd, capture_on_record, capture);
		if (!err && !capture->rings)
			err = -errno;
		close(fd); /* the outer map and libbpf's mapping keep the ring alive */
	}
	return err;
}

static void explain_refusal(const struct refusal *refusal, char *error, size_t error_size)
{
	snprintf(error, error_size,
		 "the kernel's verifier refused the BPF program %s%s%s; this is a defect of "
		 "profbpf, with this kernel or the clang that it was built with: please report it, "
		 "with what `PROFBPF_DEBUG=1 profbpfd` prints",
		 refusal->program, refusal->reason[0] ? ": " : "", refusal->reason);
}

static void explain_load(int err, const struct features *features, char *error, size_t error_size)
{
	struct refusal refusal;

	obstacles_text(features, error, error_size);
	if (error[0])
		return;
	/* These are not the verifier's decisions about a program. */
	if (err == -EMFILE || err == -ENFILE)
		snprintf(error, error_size,
			 "no file descriptor is left (%s): raise the limit (LimitNOFILE= in the "
			 "service, ulimit -n elsewhere%s), or end other sessions",
			 strerror(-err), err == -ENFILE ? ", fs.file-max of the machine" : "");
	else if (err != -EPERM && refusal_last(&refusal))
		explain_refusal(&refusal, error, error_size);
	else if (err == -EPERM || err == -EACCES)
		snprintf(error, error_size,
			 "loading the BPF programs was refused: %s; a security module may forbid "
			 "it (see the kernel's log: dmesg)",
			 strerror(-err));
	else
		snprintf(error, error_size,
			 "loading the BPF programs failed: %s; `profctl status` shows what this kernel supports",
			 strerror(-err));
}

static uint32_t page_shift(void)
{
	return (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

/* Size of a thread's kernel stack: 16 KiB, or a page if that is larger; arch/x86, arch/arm64: THREAD_SIZE. */
static uint32_t kernel_stack_bytes(const struct features *features)
{
	uint32_t bytes = 16384;

	if (bytes < 1u << page_shift())
		bytes = 1u << page_shift();
	return features->doubled_stacks ? 2 * bytes : bytes;
}

static bool has_types(const struct mentioned_types *types)
{
	return types->file && types->fdtable && types->list_head && types->socket;
}

static bool wants_unwinding(const struct capture_options *options, const struct features *features)
{
	return options->topics & TOPICS_SAMPLED && features->unwind && features->loops && options->unwinding;
}

static void fill_settings(struct capture *capture, const struct capture_options *options,
			  const struct features *features)
{
	capture->skeleton->rodata->settings = (struct session_settings){
		.daemon_tgid = getpid(),
		.system_wide = options->system_wide,
		.switches = !!(options->topics & TOPIC_SCHED),
		.sleep_stacks = !!(options->topics & TOPIC_STACK),
		.stacks_when_back = features->task_work && features->switch_state && features->loops,
		.unwind = wants_unwinding(options, features),
		.time_interrupts = !!(options->topics & TOPIC_IRQ),
		.faults = !!(options->topics & TOPIC_FAULT),
		.block_by_bio = features->block == BLOCK_SOURCE_BIO ||
				features->block == BLOCK_SOURCE_QUEUE_BIO,
		.follow = options->follow,
		.owner_uid = options->owner,
		.owner_gid = options->owner_group,
		.cpu_cgroup_v1 = options->cpu_cgroup_v1,
		.min_duration_ns = options->min_duration_ns,
		.stack_block_ns = options->stack_block_ns,
		.typed_task = features->typed_task,
		.typed_pointers = features->typed_pointers && has_types(&features->types),
		.type_file = features->types.file,
		.type_fdtable = features->types.fdtable,
		.type_list_head = features->types.list_head,
		.type_socket = features->types.socket,
		.task_storage = features->task_storage,
		.global_pointers = features->global_pointers,
		.task_registers = features->task_registers,
		.cookies = features->cookies,
		.page_shift = page_shift(),
		.kernel_stack_bytes = kernel_stack_bytes(features),
		.wake_bytes = ring_size(options->buffer_bytes, capture->cpus) / 4,
		.gated = capture->seat != NULL,
		.gate_slot = capture->seat ? gate_slot(capture->seat) : 0,
	};
}

/*
 * Before 5.12 the verifier accepts pointers as parameters of static functions only, which it verifies again
 * for each call.
 */
static bool takes_pointer(const struct btf *btf, const struct btf_type *function)
{
	const struct btf_type *proto = btf__type_by_id(btf, function->type);

	for (int i = 0; i < btf_vlen(proto); i++) {
		const struct btf_type *type = btf__type_by_id(btf, btf_params(proto)[i].type);

		if (btf_is_ptr(type))
			return true;
	}
	return false;
}

static void make_functions_static(struct capture *capture)
{
	struct btf *btf = bpf_object__btf(capture->skeleton->obj);

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, type->name_off);

		if (btf_is_func(type) && btf_vlen(type) == BTF_FUNC_GLOBAL &&
		    takes_pointer(btf, type) &&
		    !bpf_object__find_program_by_name(capture->skeleton->obj, name))
			((struct btf_type *)type)->info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC;
	}
}

int capture_find_types(struct mentioned_types *types)
{
	struct profbpf *skeleton = profbpf__open();
	struct btf *kernel = btf__load_vmlinux_btf();
	int err = skeleton && kernel ? mentioned_types_take(types, kernel, bpf_object__btf(skeleton->obj)) :
				       -ENOMEM;

	btf__free(kernel);
	profbpf__destroy(skeleton);
	return err;
}

/* Opens the programs, for relocation by the picked kernel types if there are any. */
static struct profbpf *open_programs(const struct features *features)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	char path[PROGRAMS_PATH_SIZE];

	programs_options(&options, features, path);
	return profbpf__open_opts(&options);
}

static int load_programs(struct capture *capture, const struct capture_options *options,
			 const struct features *features)
{
	int err;

	refusal_forget();
	capture->skeleton = open_programs(features);
	if (!capture->skeleton)
		return -errno;
	capture->small = options->buffer_bytes && options->buffer_bytes <= CAPTURE_BUFFER_SMALL;
	fill_settings(capture, options, features);
	bpf_map__set_max_entries(capture->skeleton->maps.rings, capture->cpus);
	bpf_map__set_max_entries(capture->skeleton->maps.waiting, capture->cpus);
	if (options->topics & TOPIC_STACK)
		bpf_map__set_max_entries(capture->skeleton->maps.returning,
					 capture->cpus * RETURNING_PER_CPU);
	if (options->targets_max && options->targets_max < capture_targets_max(capture))
		bpf_map__set_max_entries(capture->skeleton->maps.targets,
					 (uint32_t)options->targets_max);
	capture_choose_programs(capture, features);
	err = capture_share_gate(capture);
	if (!err)
		err = capture_share_unwinding(capture, options->unwinding);
	if (err)
		return err;
	if (!features->global_pointers)
		make_functions_static(capture);
	err = profbpf__load(capture->skeleton);
	if (!err)
		err = capture_attach_forgetting(capture);
	if (err)
		return err;
	capture->ioctls_wait = options->ioctls_later && capture->ioctls == IOCTL_METHOD_TRACEPOINT;
	/* If the hooks wait, checks at the start whether they can be attached at all. */
	return capture->ioctls_wait ? -obstacles_perf_error() : capture_attach_ioctls(capture);
}

static enum ioctl_method next_method(const struct features *features, unsigned int method)
{
	while (method < IOCTL_METHODS && !features->ioctls[method])
		method++;
	return method;
}

/* Warns that a method failed with @err, and which method is next, if any. */
static void warn_of_ioctls(struct capture *capture, enum ioctl_method next, int err)
{
	char why[640];

	if (next < IOCTL_METHODS) {
		snprintf(capture->warning, sizeof(capture->warning),
			 "ioctls cannot be recorded by %s (%s), and are recorded by %s",
			 ioctl_method_name(capture->ioctls), strerror(-err),
			 ioctl_method_name(next));
		return;
	}
	obstacles_perf_text(-err, why, sizeof(why));
	snprintf(capture->warning, sizeof(capture->warning), "ioctls are not recorded: %s", why);
}

/*
 * Tries the methods in order, because an available one may fail: other tracers may have taken all places of the
 * function, and perf events, which the other methods need, may be refused.
 */
static int load_with_ioctls(struct capture *capture, const struct capture_options *options,
			    const struct features *features)
{
	enum ioctl_method next;
	int err;

	capture->ioctls = next_method(features, 0);
	for (;;) {
		err = load_programs(capture, options, features);
		if (!err || capture->ioctls >= IOCTL_METHODS)
			return err;
		next = next_method(features, capture->ioctls + 1);
		warn_of_ioctls(capture, next, err);
		capture_detach(capture);
		profbpf__destroy(capture->skeleton);
		capture->skeleton = NULL;
		capture->ioctls = next;
	}
}

struct capture *capture_new(const struct capture_options *options, const struct features *features,
			    char *error, size_t error_size)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct capture *capture;
	int err;

	if (features->error[0]) {
		snprintf(error, error_size, "%s", features->error);
		return NULL;
	}
	/* Only needed before 5.11; without CAP_SYS_RESOURCE it fails, which is no error. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	capture = calloc(1, sizeof(*capture));
	if (!capture) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	capture->method = features->method;
	capture->emulated_returns = features->emulated_returns;
	capture->ioctls = IOCTL_METHODS;
	capture->topics = options->topics;
	capture->cpus = libbpf_num_possible_cpus();
	if (options->gate && capture_has_switches(capture))
		capture->seat = gate_take(options->gate, features);
	if (capture->seat && options->system_wide)
		gate_mark_all(capture->seat);
	if (capture->cpus <= 0)
		err = -errno;
	else if (options->topics & TOPIC_IOCTL)
		err = load_with_ioctls(capture, options, features);
	else
		err = load_programs(capture, options, features);
	if (!err)
		err = create_rings(capture, options->buffer_bytes);
	if (!err)
		return capture;
	explain_load(err, features, error, error_size);
	capture_free(capture);
	return NULL;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	capture_detach(capture);
	gate_leave(capture->seat, capture->skeleton ? bpf_map__fd(capture->skeleton->maps.waiting) : -1);
	ring_buffer__free(capture->rings);
	free(capture->taken);
	free(capture->drained_of);
	profbpf__destroy(capture->skeleton);
	capture_forget_probes(capture);
	free(capture);
}

/* Threads cache whether they are targets; a new version makes them look it up again. */
static void targets_changed(struct capture *capture)
{
	__atomic_fetch_add(&capture->skeleton->data->targets_version, 1, __ATOMIC_RELEASE);
}

static bool has_owner(const struct capture *capture)
{
	return capture->skeleton->rodata->settings.owner_uid != NO_OWNER;
}

static int put_target(struct capture *capture, pid_t pid, uint32_t live, uint64_t flags)
{
	uint32_t key = pid;
	int err;

	__atomic_store_n(&capture->skeleton->bss->target_marks[key % TARGET_MARKS], 1,
			 __ATOMIC_RELEASE);
	if (capture->seat)
		gate_mark(capture->seat, pid);
	err = capture_put(capture->skeleton->maps.targets, &key, &live, flags);
	targets_changed(capture);
	return err;
}

int capture_claim(struct capture *capture, pid_t pid)
{
	return has_owner(capture) ? put_target(capture, pid, 0, BPF_ANY) : 0;
}

bool capture_holds(struct capture *capture, pid_t pid)
{
	uint32_t key = pid, value;

	return !has_owner(capture) ||
	       !bpf_map_lookup_elem(bpf_map__fd(capture->skeleton->maps.targets), &key, &value);
}

int capture_target_add(struct capture *capture, pid_t pid)
{
	bool claimed = has_owner(capture) && pid != getpid();

	return put_target(capture, pid, 1, claimed ? BPF_EXIST : BPF_ANY);
}

void capture_target_remove(struct capture *capture, pid_t pid)
{
	uint32_t key = pid;

	bpf_map_delete_elem(bpf_map__fd(capture->skeleton->maps.targets), &key);
	targets_changed(capture);
}

uint64_t capture_targets_max(const struct capture *capture)
{
	return bpf_map__max_entries(capture->skeleton->maps.targets);
}

uint64_t capture_targets_refused(const struct capture *capture)
{
	return capture->skeleton->bss->targets_refused;
}

int capture_trace_self(struct capture *capture, bool on)
{
	int err = 0;

	capture->skeleton->bss->calibrating = on;
	if (on)
		err = capture_target_add(capture, getpid());
	else
		capture_target_remove(capture, getpid());
	return err;
}

bool capture_is_target(struct capture *capture, pid_t pid)
{
	uint32_t key = pid, value;

	if (capture->skeleton->rodata->settings.system_wide)
		return pid != getpid();
	/* Most other processes have no mark and need no look-up. */
	return capture->skeleton->bss->target_marks[key % TARGET_MARKS] &&
	       !bpf_map_lookup_elem(bpf_map__fd(capture->skeleton->maps.targets), &key, &value);
}

void capture_each_target(struct capture *capture, void (*each)(void *context, pid_t pid), void *context)
{
	int fd = bpf_map__fd(capture->skeleton->maps.targets);
	uint32_t key, *previous = NULL;

	while (!bpf_map_get_next_key(fd, previous, &key)) {
		each(context, key);
		previous = &key;
	}
}

void capture_wait_exited(struct capture *capture)
{
	const struct profbpf__bss *bss = capture->skeleton->bss;
	struct timespec pause = { .tv_nsec = 5000000 };

	if (!bpf_program__autoload(capture->skeleton->progs.account_free))
		return;
	for (int i = 0; i < 20 && bss->threads_freed < bss->threads_exited; i++)
		nanosleep(&pause, NULL);
}

void capture_stop(struct capture *capture)
{
	capture->skeleton->bss->capture_stopped = 1;
	programs_wait();
}

void capture_close_calls(struct capture *capture)
{
	capture->skeleton->bss->calls_closed = 1;
	programs_wait();
}

void capture_close(struct capture *capture)
{
	capture->skeleton->bss->capture_closed = 1;
	programs_wait();
}

void capture_set_end(struct capture *capture, uint64_t end_ns)
{
	capture->skeleton->bss->snapshot_end_ns = end_ns;
}

int capture_unwind_map(const struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;

	return s->rodata->settings.unwind ? bpf_map__fd(s->maps.unwind_processes) : -1;
}

void capture_send_texts(struct capture *capture)
{
	__atomic_fetch_add(&capture->skeleton->bss->texts_version, 1, __ATOMIC_RELEASE);
}

void capture_forget_names(struct capture *capture)
{
	__atomic_fetch_add(&capture->skeleton->bss->names_version, 1, __ATOMIC_RELEASE);
}

int capture_sample_program(const struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;
	int fd = bpf_program__fd(s->progs.on_sample);

	return fd >= 0 ? fd : bpf_program__fd(s->progs.on_sample_before_5_17);
}

int capture_fault_program(const struct capture *capture)
{
	return bpf_program__fd(capture->skeleton->progs.on_major_fault);
}

enum probe_method capture_method(const struct capture *capture)
{
	return capture->method;
}

int capture_place_program(const struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;

	if (capture->method == PROBE_METHOD_PERF)
		return bpf_program__fd(s->progs.api_place_perf);
	return bpf_program__fd(capture->emulated_returns ? s->progs.api_place_returning
							 : s->progs.api_place);
}

int capture_return_program(const struct capture *capture)
{
	return capture->method == PROBE_METHOD_SESSION ?
		       bpf_program__fd(capture->skeleton->progs.api_session) :
		       -1;
}

bool capture_keeps_places(const struct capture *capture)
{
	return !capture->skeleton->rodata->settings.cookies;
}

int capture_set_place(struct capture *capture, const struct probed_place *place, uint64_t cookie)
{
	int fd = bpf_map__fd(capture->skeleton->maps.probed_places);
	uint64_t kept;

	if (!bpf_map_lookup_elem(fd, place, &kept))
		return kept == cookie ? 0 : -EEXIST;
	return bpf_map_update_elem(fd, place, &cookie, BPF_NOEXIST);
}

struct bpf_link *capture_attach_perf(const struct capture *capture, pid_t pid, const char *path,
				     uint64_t offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options);

	if (!capture_keeps_places(capture))
		options.bpf_cookie = cookie;
	return bpf_program__attach_uprobe_opts(capture->skeleton->progs.api_place_perf,
					       pid ? pid : -1, path, offset, &options);
}

int capture_set_exit(struct capture *capture, uint32_t exit, const struct exit_conf *conf)
{
	return capture_put(capture->skeleton->maps.exit_confs, &exit, conf, BPF_ANY);
}

const volatile uint32_t *capture_exit_hits(const struct capture *capture)
{
	return capture->skeleton->bss->exit_hits;
}

void capture_tail_known(struct capture *capture, pid_t pid, uint64_t address, uint32_t answer)
{
	struct tail_target key = { .address = address, .tgid = pid };

	capture_put(capture->skeleton->maps.tail_targets, &key, &answer, BPF_ANY);
}

void capture_tails_forget(struct capture *capture, pid_t pid)
{
	int fd = bpf_map__fd(capture->skeleton->maps.tail_targets);
	struct tail_target key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.tgid == (uint32_t)pid)
			bpf_map_delete_elem(fd, &key);
	}
}

void capture_stack_mover(struct capture *capture, pid_t pid, bool mover)
{
	int fd = bpf_map__fd(capture->skeleton->maps.stack_movers);
	uint32_t key = pid, one = 1;

	if (mover)
		capture_put(capture->skeleton->maps.stack_movers, &key, &one, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
	__atomic_fetch_add(&capture->skeleton->data->stack_movers_version, 1, __ATOMIC_RELEASE);
}
