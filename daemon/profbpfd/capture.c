/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/common/topics.h"
#include "daemon/profbpfd/capture_private.h"
#include "daemon/profbpfd/obstacles.h"

#define ITERATED_MIN 4096 /* room for each read of what an iterator wrote */
#define EXITING_PAUSE_NS 2000000 /* while threads exit, and so often at most */
#define EXITING_PAUSES 1000

static const uint32_t record_sizes[REC_TYPES] = {
	[REC_CALL] = sizeof(struct rec_call),	    [REC_STRING] = sizeof(struct rec_string),
	[REC_IOCTL] = sizeof(struct rec_ioctl),	    [REC_SWITCH] = sizeof(struct rec_switch),
	[REC_INTERRUPT] = sizeof(struct rec_interrupt),
	[REC_WAKE] = sizeof(struct rec_wake),	    [REC_TASK] = sizeof(struct rec_task),
	[REC_ACCOUNT] = sizeof(struct rec_account), [REC_PROCESS] = sizeof(struct rec_process),
	[REC_STACK] = sizeof(struct rec_stack),	    [REC_FAULT] = sizeof(struct rec_fault),
	[REC_BLOCK] = sizeof(struct rec_block),	    [REC_STAGED] = sizeof(struct rec_staged),
};

/* Records of any length say how long they are. */
static bool is_whole(const struct rec_header *header, size_t size)
{
	const struct rec_stack *stack = (const void *)header;

	if (size < record_sizes[header->type])
		return false;
	if (header->type != REC_STACK)
		return true;
	return stack->user_frames <= REC_USER_FRAMES &&
	       stack->kernel_frames <= REC_KERNEL_FRAMES &&
	       (size - sizeof(*stack)) / sizeof(uint64_t) >=
		       stack->user_frames + stack->kernel_frames;
}

/* Switches and wake-ups from one up to another of a collection of them. */
static void hand_over(struct capture *capture, const struct rec_staged *staged, uint32_t from,
		      uint32_t to)
{
	for (uint32_t i = from; i < to && i < REC_STAGED_MAX; i++)
		if (staged->record[i].header.type == REC_SWITCH ||
		    staged->record[i].header.type == REC_WAKE)
			capture->handler(capture->context, &staged->record[i].header);
}

static int on_record(void *context, void *data, size_t size)
{
	struct capture *capture = context;
	const struct rec_header *header = data;

	const struct rec_staged *staged = data;

	capture->drained += size;
	if (size < sizeof(*header) || header->type >= REC_TYPES || !is_whole(header, size))
		return 0;
	if (header->type == REC_STAGED)
		hand_over(capture, staged, 0, staged->sent);
	else
		capture->handler(capture->context, header);
	return 0;
}

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
	for (int cpu = 0; cpu < capture->cpus && !err; cpu++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "profbpf_ring", 0, 0, size, NULL);

		if (fd < 0)
			return fd;
		if (bpf_map_update_elem(outer, &cpu, &fd, BPF_ANY))
			err = -errno;
		else if (!capture->rings)
			capture->rings = ring_buffer__new(fd, on_record, capture, NULL);
		else
			err = ring_buffer__add(capture->rings, fd, on_record, capture);
		if (!err && !capture->rings)
			err = -errno;
		close(fd); /* the outer map and libbpf's mapping keep the ring alive */
	}
	return err;
}

static void explain_load(int err, const struct features *features, char *error, size_t error_size)
{
	obstacles_text(features, error, error_size);
	if (error[0])
		return;
	if (err == -EPERM || err == -EACCES)
		snprintf(error, error_size,
			 "loading the BPF programs was refused: %s; a security module may forbid it (see "
			 "the kernel's log: dmesg)",
			 strerror(-err));
	else
		snprintf(error, error_size,
			 "loading the BPF programs failed: %s; `profctl status` tells what this "
			 "kernel can do",
			 strerror(-err));
}

static void fill_settings(struct capture *capture, const struct capture_options *options,
			  const struct features *features)
{
	capture->skeleton->rodata->settings = (struct session_settings){
		.daemon_tgid = getpid(),
		.system_wide = options->system_wide,
		.time_interrupts = !!(options->topics & TOPIC_IRQ),
		.faults = !!(options->topics & TOPIC_FAULT),
		.block_by_bio = features->block == BLOCK_SOURCE_BIO,
		.follow = options->follow,
		.owner_uid = options->owner,
		.cpu_cgroup_v1 = options->cpu_cgroup_v1,
		.min_duration_ns = options->min_duration_ns,
		.stack_block_ns = options->stack_block_ns,
		.wake_bytes = ring_size(options->buffer_bytes, capture->cpus) / 4,
	};
}

static int load_programs(struct capture *capture, const struct capture_options *options,
			 const struct features *features)
{
	int err;

	capture->skeleton = profbpf__open();
	if (!capture->skeleton)
		return -errno;
	fill_settings(capture, options, features);
	bpf_map__set_max_entries(capture->skeleton->maps.rings, capture->cpus);
	capture_choose_programs(capture, features);
	err = profbpf__load(capture->skeleton);
	return err ? err : capture_attach_ioctls(capture);
}

static enum ioctl_method next_method(const struct features *features, unsigned int method)
{
	while (method < IOCTL_METHODS && !features->ioctls[method])
		method++;
	return method;
}

/* After @err: by the next method, or, when none is left, not at all. */
static void warn_of_ioctls(struct capture *capture, enum ioctl_method next, int err)
{
	char why[640];

	if (next < IOCTL_METHODS) {
		snprintf(capture->warning, sizeof(capture->warning),
			 "ioctls are not seen by %s (%s), but by %s",
			 ioctl_method_name(capture->ioctls), strerror(-err),
			 ioctl_method_name(next));
		return;
	}
	obstacles_perf_text(-err, why, sizeof(why));
	snprintf(capture->warning, sizeof(capture->warning), "ioctls are not seen: %s", why);
}

/*
 * What promises to work may not: other tracers may have taken all the places of a function, and perf
 * events, which the others need, may be refused.
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
	/* Needed before 5.11 only; without CAP_SYS_RESOURCE it fails, which is no error. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	capture = calloc(1, sizeof(*capture));
	if (!capture) {
		snprintf(error, error_size, "out of memory");
		return NULL;
	}
	capture->method = features->method;
	capture->ioctls = IOCTL_METHODS;
	capture->topics = options->topics;
	capture->cpus = libbpf_num_possible_cpus();
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
	ring_buffer__free(capture->rings);
	free(capture->taken);
	profbpf__destroy(capture->skeleton);
	free(capture);
}

/* Threads keep what they were told; a new version makes them ask again. */
static void targets_changed(struct capture *capture)
{
	__atomic_fetch_add(&capture->skeleton->data->targets_version, 1, __ATOMIC_RELEASE);
}

int capture_target_add(struct capture *capture, pid_t pid)
{
	uint32_t key = pid, one = 1;
	int err;

	__atomic_store_n(&capture->skeleton->bss->target_marks[key % TARGET_MARKS], 1,
			 __ATOMIC_RELEASE);
	err = bpf_map_update_elem(bpf_map__fd(capture->skeleton->maps.targets), &key, &one,
				  BPF_ANY);
	targets_changed(capture);
	return err;
}

void capture_target_remove(struct capture *capture, pid_t pid)
{
	uint32_t key = pid;

	bpf_map_delete_elem(bpf_map__fd(capture->skeleton->maps.targets), &key);
	targets_changed(capture);
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
	return !bpf_map_lookup_elem(bpf_map__fd(capture->skeleton->maps.targets), &key, &value);
}

void capture_each_target(struct capture *capture, void (*each)(void *context, pid_t pid),
			 void *context)
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

/* As the kernel's own synchronize_rcu(); where that is not to be had, a program's time many times over. */
static void wait_for_programs(void)
{
	struct timespec pause = { .tv_nsec = 20000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&pause, NULL);
}

void capture_stop(struct capture *capture)
{
	capture->skeleton->bss->capture_stopped = 1;
	wait_for_programs();
}

void capture_close(struct capture *capture)
{
	capture->skeleton->bss->capture_closed = 1;
	wait_for_programs();
}

void capture_set_end(struct capture *capture, uint64_t end_ns)
{
	capture->skeleton->bss->snapshot_end_ns = end_ns;
}

/* What an iterator program wrote. */
struct iterated {
	char *data;
	size_t size, capacity;
};

static int read_more(int fd, struct iterated *out)
{
	ssize_t n;

	if (out->capacity - out->size < ITERATED_MIN) {
		size_t capacity = out->capacity ? 2 * out->capacity : 2 * ITERATED_MIN;
		char *data = realloc(out->data, capacity);

		if (!data)
			return -ENOMEM;
		out->data = data;
		out->capacity = capacity;
	}
	n = read(fd, out->data + out->size, out->capacity - out->size);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	out->size += n;
	return n > 0;
}

/* An iterator program runs over all threads while its descriptor is read. */
static int run_iterator(struct bpf_program *program, struct iterated *out)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? fd : 0;
	if (fd >= 0) {
		while ((err = read_more(fd, out)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

/* For programs that write into the rings instead. */
static int run_silent_iterator(struct bpf_program *program)
{
	struct iterated out = { 0 };
	int err = run_iterator(program, &out);

	free(out.data);
	return err;
}

int capture_thread_pointers(struct capture *capture, struct thread_pointer **rows, size_t *count)
{
	struct iterated out = { 0 };
	int err = run_iterator(capture->skeleton->progs.thread_pointers, &out);

	*rows = (struct thread_pointer *)out.data;
	*count = err ? 0 : out.size / sizeof(**rows);
	return err;
}

int capture_snapshot(struct capture *capture, bool first, bool all)
{
	capture->skeleton->bss->snapshot_flags = first ? ACCOUNT_FIRST : 0;
	capture->skeleton->bss->snapshot_all = all;
	return run_silent_iterator(capture->skeleton->progs.accounts);
}

int capture_flush_open(struct capture *capture)
{
	struct profbpf__bss *bss = capture->skeleton->bss;
	struct timespec pause = { .tv_nsec = EXITING_PAUSE_NS };
	int err;

	for (int i = 0; i < EXITING_PAUSES; i++) {
		bss->exiting_with_counts = 0;
		err = run_silent_iterator(capture->skeleton->progs.open_calls);
		if (err || !bss->exiting_with_counts)
			return err;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

int capture_epoll_fd(const struct capture *capture)
{
	return ring_buffer__epoll_fd(capture->rings);
}

/* Switches and wake-ups that were collected, but had not been sent, when recording ended. */
static void take_staged(struct capture *capture)
{
	struct rec_staged *staged = calloc(capture->cpus, sizeof(*staged));
	int fd = bpf_map__fd(capture->skeleton->maps.staged);
	uint32_t zero = 0;

	if (!capture->taken)
		capture->taken = calloc(capture->cpus, sizeof(*capture->taken));
	if (staged && capture->taken && !bpf_map_lookup_elem(fd, &zero, staged)) {
		for (int cpu = 0; cpu < capture->cpus; cpu++) {
			uint32_t count = staged[cpu].count;

			if (count <= capture->taken[cpu] || count > REC_STAGED_MAX)
				continue;
			hand_over(capture, &staged[cpu], capture->taken[cpu], count);
			capture->taken_count += count - capture->taken[cpu];
			capture->taken[cpu] = count;
		}
	}
	free(staged);
}

size_t capture_drain(struct capture *capture, capture_handler *handler, void *context)
{
	capture->handler = handler;
	capture->context = context;
	capture->drained = 0;
	ring_buffer__consume(capture->rings);
	if (capture->skeleton->bss->capture_stopped)
		take_staged(capture);
	return capture->drained;
}

size_t capture_ring_bytes(const struct capture *capture)
{
	return capture->ring_bytes;
}

static int sum_stats(struct capture *capture, struct source_stats *stats)
{
	struct source_stats *values = calloc(capture->cpus, sizeof(*values));
	int fd = bpf_map__fd(capture->skeleton->maps.stats);
	int err = values ? 0 : -ENOMEM;
	uint64_t missed;

	memset(stats, 0, SOURCES * sizeof(*stats));
	for (uint32_t source = 0; source < SOURCES && !err; source++) {
		err = bpf_map_lookup_elem(fd, &source, values);
		for (int cpu = 0; cpu < capture->cpus && !err; cpu++) {
			stats[source].produced += values[cpu].produced;
			for (int i = 0; i < LOSSES; i++)
				stats[source].lost[i] += values[cpu].lost[i];
		}
	}
	free(values);
	missed = capture_ioctls_missed(capture);
	stats[SOURCE_IOCTL].produced += missed;
	stats[SOURCE_IOCTL].lost[LOSS_BUSY] += missed;
	return err;
}

void capture_rebase(struct capture *capture)
{
	if (sum_stats(capture, capture->base))
		memset(capture->base, 0, sizeof(capture->base));
}

int capture_stats(struct capture *capture, struct source_stats *stats)
{
	int err = sum_stats(capture, stats);

	if (!err)
		stats[SOURCE_SCHED].produced += capture->taken_count;
	for (int source = 0; source < SOURCES && !err; source++) {
		stats[source].produced -= capture->base[source].produced;
		for (int i = 0; i < LOSSES; i++)
			stats[source].lost[i] -= capture->base[source].lost[i];
	}
	return err;
}

void capture_short_calls(struct capture *capture,
			 void (*each)(void *context, const struct short_key *key, uint64_t count,
				      uint64_t total_ns),
			 void *context)
{
	struct short_value *values = calloc(capture->cpus, sizeof(*values));
	int fd = bpf_map__fd(capture->skeleton->maps.short_calls);
	struct short_key key, *previous = NULL;

	while (values && !bpf_map_get_next_key(fd, previous, &key)) {
		uint64_t count = 0, total_ns = 0;

		if (!bpf_map_lookup_elem(fd, &key, values)) {
			for (int cpu = 0; cpu < capture->cpus; cpu++) {
				count += values[cpu].count;
				total_ns += values[cpu].total_ns;
			}
			each(context, &key, count, total_ns);
		}
		previous = &key;
	}
	free(values);
}

int capture_set_probe(struct capture *capture, uint32_t probe, const struct probe_conf *conf)
{
	return bpf_map_update_elem(bpf_map__fd(capture->skeleton->maps.probes), &probe, conf,
				   BPF_ANY);
}

void capture_python_lock(struct capture *capture, pid_t pid, const struct python_range *range)
{
	int fd = bpf_map__fd(capture->skeleton->maps.python_locks);
	uint32_t key = (uint32_t)pid;

	/* Without room for it its waits are not told apart from others. */
	if (range)
		bpf_map_update_elem(fd, &key, range, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
}

int capture_sample_program(const struct capture *capture)
{
	return bpf_program__fd(capture->skeleton->progs.on_sample);
}

int capture_fault_program(const struct capture *capture)
{
	return bpf_program__fd(capture->skeleton->progs.on_major_fault);
}

enum probe_method capture_method(const struct capture *capture)
{
	return capture->method;
}

int capture_enter_program(const struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;

	switch (capture->method) {
	case PROBE_METHOD_SESSION: return bpf_program__fd(s->progs.api_session);
	case PROBE_METHOD_MULTI: return bpf_program__fd(s->progs.api_enter_multi);
	case PROBE_METHOD_PERF: return bpf_program__fd(s->progs.api_enter_perf);
	default: return -1;
	}
}

int capture_leave_program(const struct capture *capture)
{
	const struct profbpf *s = capture->skeleton;

	switch (capture->method) {
	case PROBE_METHOD_MULTI: return bpf_program__fd(s->progs.api_leave_multi);
	case PROBE_METHOD_PERF: return bpf_program__fd(s->progs.api_leave_perf);
	default: return -1;
	}
}

struct bpf_link *capture_attach_perf(const struct capture *capture, bool at_return, pid_t pid,
				     const char *path, uint64_t offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie, .retprobe = at_return);
	const struct profbpf *s = capture->skeleton;

	return bpf_program__attach_uprobe_opts(at_return ? s->progs.api_leave_perf
							 : s->progs.api_enter_perf,
					       pid ? pid : -1, path, offset, &options);
}
