/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/profbpf.skel.h"
#include "daemon/common/topics.h"

#define LINKS_MAX 32
#define ATTACH_UPROBE_SESSION 57 /* BPF_TRACE_UPROBE_SESSION; newer than the headers */

struct capture {
	struct profbpf *skeleton;
	struct ring_buffer *rings;
	enum probe_method method;
	unsigned int topics;
	bool syscalls;	/* their tracepoints are to be had */
	int cpus;
	struct bpf_link *links[LINKS_MAX];
	size_t link_count;
	struct source_stats base[SOURCES];	/* subtracted from what the programs counted */
	capture_handler *handler; /* only during capture_drain() */
	void *context;
};

static const uint32_t record_sizes[REC_TYPES] = {
	[REC_CALL] = sizeof(struct rec_call),	[REC_STRING] = sizeof(struct rec_string),
	[REC_IOCTL] = sizeof(struct rec_ioctl), [REC_SWITCH] = sizeof(struct rec_switch),
	[REC_WAKE] = sizeof(struct rec_wake),	[REC_TASK] = sizeof(struct rec_task),
	[REC_ACCOUNT] = sizeof(struct rec_account),
};

static int on_record(void *context, void *data, size_t size)
{
	struct capture *capture = context;
	const struct rec_header *header = data;

	if (size >= sizeof(*header) && header->type < REC_TYPES &&
	    size >= record_sizes[header->type])
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

static void choose_programs(struct capture *capture, const struct features *features)
{
	struct profbpf *s = capture->skeleton;
	bool api = capture->topics & TOPIC_API;
	bool sched = capture->topics & TOPIC_SCHED;
	bool session = api && capture->method == PROBE_METHOD_SESSION;
	bool multi = api && capture->method == PROBE_METHOD_MULTI;
	bool perf = api && capture->method == PROBE_METHOD_PERF;
	bool syscalls = capture->syscalls;

	bpf_program__set_autoload(s->progs.api_session, session);
	bpf_program__set_autoload(s->progs.api_enter_multi, multi);
	bpf_program__set_autoload(s->progs.api_leave_multi, multi);
	bpf_program__set_autoload(s->progs.api_enter_perf, perf);
	bpf_program__set_autoload(s->progs.api_leave_perf, perf);
	bpf_program__set_autoload(s->progs.api_exit, api);
	if (session)
		bpf_program__set_expected_attach_type(s->progs.api_session, ATTACH_UPROBE_SESSION);
	bpf_program__set_autoload(s->progs.on_switch, sched && features->switch_state);
	bpf_program__set_autoload(s->progs.on_switch_before_5_18, sched && !features->switch_state);
	bpf_program__set_autoload(s->progs.on_waking, sched);
	bpf_program__set_autoload(s->progs.on_wakeup, sched);
	bpf_program__set_autoload(s->progs.on_wakeup_new, sched);
	bpf_program__set_autoload(s->progs.on_irq_entry, sched);
	bpf_program__set_autoload(s->progs.on_irq_exit, sched);
	bpf_program__set_autoload(s->progs.on_softirq_entry, sched);
	bpf_program__set_autoload(s->progs.on_softirq_exit, sched);
	bpf_program__set_autoload(s->progs.on_timer_entry, sched);
	bpf_program__set_autoload(s->progs.on_timer_exit, sched);
	bpf_program__set_autoload(s->progs.ioctl_enter, syscalls && capture->topics & TOPIC_IOCTL);
	bpf_program__set_autoload(s->progs.ioctl_exit, syscalls && capture->topics & TOPIC_IOCTL);
	bpf_program__set_autoload(s->progs.ioctl_thread_exit,
				  syscalls && capture->topics & TOPIC_IOCTL);
}

static int create_rings(struct capture *capture, uint64_t buffer_bytes)
{
	uint32_t size = ring_size(buffer_bytes, capture->cpus);
	int outer = bpf_map__fd(capture->skeleton->maps.rings);
	int err = 0;

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

static void explain_load(int err, char *error, size_t error_size)
{
	if (err == -EPERM || err == -EACCES)
		snprintf(error, error_size,
			 "loading the BPF programs was refused: %s; run as root, or with the "
			 "capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE",
			 strerror(-err));
	else
		snprintf(error, error_size,
			 "loading the BPF programs failed: %s; `profctl status` tells what this "
			 "kernel can do",
			 strerror(-err));
}

struct capture *capture_new(const struct capture_options *options, const struct features *features,
			    char *error, size_t error_size)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct capture *capture;
	int err = 0;

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
	capture->syscalls = features->syscall_tracepoints;
	capture->topics = options->topics;
	capture->cpus = libbpf_num_possible_cpus();
	capture->skeleton = profbpf__open();
	if (!capture->skeleton || capture->cpus <= 0) {
		err = -errno;
		goto fail;
	}
	capture->skeleton->rodata->settings.daemon_tgid = getpid();
	capture->skeleton->rodata->settings.system_wide = options->system_wide;
	capture->skeleton->rodata->settings.follow = options->follow;
	capture->skeleton->rodata->settings.owner_uid = options->owner;
	capture->skeleton->rodata->settings.min_duration_ns = options->min_duration_ns;
	capture->skeleton->rodata->settings.wake_bytes =
		ring_size(options->buffer_bytes, capture->cpus) / 4;
	bpf_map__set_max_entries(capture->skeleton->maps.rings, capture->cpus);
	choose_programs(capture, features);
	err = profbpf__load(capture->skeleton);
	if (!err)
		err = create_rings(capture, options->buffer_bytes);
	if (err)
		goto fail;
	return capture;

fail:
	explain_load(err, error, error_size);
	capture_free(capture);
	return NULL;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	capture_detach(capture);
	ring_buffer__free(capture->rings);
	profbpf__destroy(capture->skeleton);
	free(capture);
}

static bool attached_by_hand(const struct capture *capture, const struct bpf_program *program)
{
	const struct profbpf *s = capture->skeleton;

	return program == s->progs.api_session || program == s->progs.api_enter_multi ||
	       program == s->progs.api_leave_multi || program == s->progs.api_enter_perf ||
	       program == s->progs.api_leave_perf || program == s->progs.accounts ||
	       program == s->progs.open_calls;
}

int capture_attach(struct capture *capture, char *error, char *warning, size_t size)
{
	struct bpf_program *program;

	warning[0] = '\0';
	if (!capture->syscalls && capture->topics & TOPIC_IOCTL)
		snprintf(warning, size,
			 "system call tracepoints are not to be had (is tracefs mounted on "
			 "/sys/kernel/tracing?): ioctls are not seen");
	bpf_object__for_each_program(program, capture->skeleton->obj) {
		struct bpf_link *link;

		if (!bpf_program__autoload(program) || attached_by_hand(capture, program))
			continue;
		link = bpf_program__attach(program);
		if (!link || capture->link_count == LINKS_MAX) {
			int err = link ? -E2BIG : -errno;

			bpf_link__destroy(link);
			snprintf(error, size, "attaching the program %s failed: %s",
				 bpf_program__name(program), strerror(-err));
			return err;
		}
		capture->links[capture->link_count++] = link;
	}
	return 0;
}

void capture_detach(struct capture *capture)
{
	while (capture->link_count)
		bpf_link__destroy(capture->links[--capture->link_count]);
}

/* Threads keep what they were told; a new version makes them ask again. */
static void targets_changed(struct capture *capture)
{
	__atomic_fetch_add(&capture->skeleton->data->targets_version, 1, __ATOMIC_RELEASE);
}

int capture_target_add(struct capture *capture, pid_t pid)
{
	uint32_t key = pid, one = 1;
	int err = bpf_map_update_elem(bpf_map__fd(capture->skeleton->maps.targets), &key, &one,
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

void capture_stop(struct capture *capture)
{
	capture->skeleton->bss->capture_stopped = 1;
}

void capture_set_end(struct capture *capture, uint64_t end_ns)
{
	capture->skeleton->bss->snapshot_end_ns = end_ns;
}

/* An iterator program runs over all threads while its descriptor is read. */
static int run_iterator(struct bpf_program *program)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd, err = 0;
	char buffer[64];
	ssize_t n;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = fd;
	} else {
		while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EAGAIN))
			;
		if (n < 0)
			err = -errno;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

int capture_snapshot(struct capture *capture, bool first, bool all)
{
	capture->skeleton->bss->snapshot_flags = first ? ACCOUNT_FIRST : 0;
	capture->skeleton->bss->snapshot_all = all;
	return run_iterator(capture->skeleton->progs.accounts);
}

int capture_flush_open(struct capture *capture)
{
	return run_iterator(capture->skeleton->progs.open_calls);
}

int capture_epoll_fd(const struct capture *capture)
{
	return ring_buffer__epoll_fd(capture->rings);
}

size_t capture_drain(struct capture *capture, capture_handler *handler, void *context)
{
	int n;

	capture->handler = handler;
	capture->context = context;
	n = ring_buffer__consume(capture->rings);
	return n > 0 ? n : 0;
}

static int sum_stats(struct capture *capture, struct source_stats *stats)
{
	struct source_stats *values = calloc(capture->cpus, sizeof(*values));
	int fd = bpf_map__fd(capture->skeleton->maps.stats);
	int err = values ? 0 : -ENOMEM;

	memset(stats, 0, SOURCES * sizeof(*stats));
	for (uint32_t source = 0; source < SOURCES && !err; source++) {
		err = bpf_map_lookup_elem(fd, &source, values);
		for (int cpu = 0; cpu < capture->cpus && !err; cpu++) {
			stats[source].produced += values[cpu].produced;
			stats[source].filtered += values[cpu].filtered;
			for (int i = 0; i < LOSSES; i++)
				stats[source].lost[i] += values[cpu].lost[i];
		}
	}
	free(values);
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

	for (int source = 0; source < SOURCES && !err; source++) {
		stats[source].produced -= capture->base[source].produced;
		stats[source].filtered -= capture->base[source].filtered;
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

	return bpf_program__attach_uprobe_opts(at_return ? s->progs.api_leave_perf :
							   s->progs.api_enter_perf,
					       pid ? pid : -1, path, offset, &options);
}
