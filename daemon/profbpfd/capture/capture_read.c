/* SPDX-License-Identifier: Apache-2.0 */
/* capture_read.c - reads the programs' output: records, snapshots, counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "daemon/profbpfd/capture/capture_private.h"

#define ITERATED_MIN 4096 /* buffer space for each read from an iterator */
#define RETURNS_PAUSE_NS 10000000
#define RETURNS_PAUSES 100
#define EXITING_PAUSE_NS 2000000 /* pause while threads exit, at most EXITING_PAUSES times */
#define EXITING_PAUSES 1000

static const uint32_t record_sizes[REC_TYPES] = {
	[REC_CALL] = sizeof(struct rec_call),	    [REC_STRING] = sizeof(struct rec_string),
	[REC_IOCTL] = sizeof(struct rec_ioctl),	    [REC_SWITCH] = sizeof(struct rec_switch),
	[REC_INTERRUPT] = sizeof(struct rec_interrupt),
	[REC_WAKE] = sizeof(struct rec_wake),	    [REC_TASK] = sizeof(struct rec_task),
	[REC_ACCOUNT] = sizeof(struct rec_account), [REC_PROCESS] = sizeof(struct rec_process),
	[REC_STACK] = sizeof(struct rec_stack),	    [REC_FAULT] = sizeof(struct rec_fault),
	[REC_BLOCK] = sizeof(struct rec_block),	    [REC_STAGED] = sizeof(struct rec_staged),
	[REC_TAIL] = sizeof(struct rec_tail),
};

/* Is the record complete? Records of variable length contain their length. */
static bool is_whole(const struct rec_header *header, size_t size)
{
	const struct rec_stack *stack = (const void *)header;
	size_t words;

	if (size < record_sizes[header->type])
		return false;
	if (header->type != REC_STACK)
		return true;
	words = stack->user_frames + stack->kernel_frames + 2 * stack->python_frames;
	return stack->user_frames <= REC_USER_FRAMES &&
	       stack->kernel_frames <= REC_KERNEL_FRAMES &&
	       stack->python_frames <= REC_PYTHON_FRAMES &&
	       (size - sizeof(*stack)) / sizeof(uint64_t) >= words;
}

/* Passes switches and wake-ups @from to @to - 1 of a staged batch to the handler. */
static void hand_over(struct capture *capture, const struct rec_staged *staged, uint32_t from,
		      uint32_t to)
{
	for (uint32_t i = from; i < to && i < REC_STAGED_MAX; i++)
		if (staged->record[i].header.type == REC_SWITCH ||
		    staged->record[i].header.type == REC_WAKE)
			capture->handler(capture->context, &staged->record[i].header);
}

int capture_on_record(void *context, void *data, size_t size)
{
	struct capture *capture = context;
	const struct rec_header *header = data;
	const struct rec_staged *staged = data;

	capture->drained += size;
	if (size < sizeof(*header) || header->type >= REC_TYPES || !is_whole(header, size))
		return 0;
	if (header->cpu < (uint32_t)capture->cpus)
		capture->drained_of[header->cpu] += size;
	if (header->type == REC_STAGED)
		hand_over(capture, staged, 0, staged->sent);
	else
		capture->handler(capture->context, header);
	return 0;
}

/* The output of an iterator program. */
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

/* Runs an iterator program that writes to the rings only. */
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

char *capture_kernel_symbols(struct capture *capture, size_t *size)
{
	struct bpf_program *program = capture->skeleton->progs.kernel_symbols;
	struct iterated out = { 0 };

	*size = 0;
	if (!bpf_program__autoload(program))
		return NULL;
	if (run_iterator(program, &out)) {
		free(out.data);
		return NULL;
	}
	*size = out.size;
	return out.data;
}

int capture_snapshot(struct capture *capture, bool first, bool all)
{
	capture->skeleton->bss->snapshot_flags = first ? ACCOUNT_FIRST : 0;
	capture->skeleton->bss->snapshot_all = all;
	return run_silent_iterator(capture->skeleton->progs.accounts);
}

int capture_ioctls_before(struct capture *capture)
{
	if (!bpf_program__autoload(capture->skeleton->progs.ioctls_before))
		return 0;
	return run_silent_iterator(capture->skeleton->progs.ioctls_before);
}

int capture_sleeping_stacks(struct capture *capture, pid_t pid)
{
	if (!bpf_program__autoload(capture->skeleton->progs.sleeping_stacks))
		return -ENOTSUP;
	capture->skeleton->bss->sleeping_of = (uint32_t)pid;
	return run_silent_iterator(capture->skeleton->progs.sleeping_stacks);
}

uint32_t capture_wait_returns(struct capture *capture)
{
	struct bpf_program *program = capture->skeleton->progs.returning_calls;
	struct timespec pause = { .tv_nsec = RETURNS_PAUSE_NS };

	if (!bpf_program__autoload(program))
		return 0;
	for (int i = 0; i < RETURNS_PAUSES; i++) {
		capture->skeleton->bss->to_return = 0;
		if (run_silent_iterator(program) || !capture->skeleton->bss->to_return)
			return 0;
		nanosleep(&pause, NULL);
	}
	return capture->skeleton->bss->to_return;
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

/* Takes switches and wake-ups that were staged, but not sent, when recording ended. */
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
	memset(capture->drained_of, 0, capture->cpus * sizeof(*capture->drained_of));
	ring_buffer__consume(capture->rings);
	for (int cpu = 0; cpu < capture->cpus; cpu++)
		if (capture->drained_of[cpu] > capture->fullest)
			capture->fullest = capture->drained_of[cpu];
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
			 void (*each)(void *context, const struct short_key *key,
				      const struct short_value *value),
			 void *context)
{
	struct short_value *values = calloc(capture->cpus, sizeof(*values));
	int fd = bpf_map__fd(capture->skeleton->maps.short_calls);
	struct short_key key, *previous = NULL;

	while (values && !bpf_map_get_next_key(fd, previous, &key)) {
		struct short_value sum = { 0 };

		if (!bpf_map_lookup_elem(fd, &key, values)) {
			for (int cpu = 0; cpu < capture->cpus; cpu++) {
				sum.count += values[cpu].count;
				sum.total_ns += values[cpu].total_ns;
				sum.unended += values[cpu].unended;
			}
			each(context, &key, &sum);
		}
		previous = &key;
	}
	free(values);
}
