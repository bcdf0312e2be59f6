/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_dump - opens the device stream of a process and prints its tasks.
 *
 *   stream_dump [-q] [-w SECONDS] PID    until the process ends
 *
 * Waits up to SECONDS (default 10) for the process to have a stream, says
 * "listening" on standard error, then prints one line per task:
 *
 *   task CORRELATION NAME KIND DEVICE TID STREAM BYTES STATUS QUEUED SUBMIT START END ENQUEUE ENQUEUE_DUR
 *
 * and at the end "device INDEX KIND CLOCK NAME" and "counts ..." lines; -q leaves
 * out the tasks. Exit status 1: the process has no stream, or the stream is invalid.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/profbpfd/device/device_stream.h"

#define BATCH 4096
#define IDLE_NS 10000000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void pause_briefly(void)
{
	struct timespec ts = { .tv_nsec = IDLE_NS };

	nanosleep(&ts, NULL);
}

static struct device_stream *wait_for_stream(pid_t pid, double seconds)
{
	uint64_t deadline = now_ns() + (uint64_t)(seconds * 1e9);
	struct device_stream *stream;
	char error[256];
	int result;

	do {
		result = device_stream_open(pid, NULL, 0, &stream, error, sizeof(error));
		if (result == 0)
			return stream;
		pause_briefly();
	} while (result == -ENOENT && now_ns() < deadline);
	fprintf(stderr, "stream_dump: %s\n", error[0] ? error : strerror(-result));
	return NULL;
}

static void print_task(const struct device_stream *stream, const struct stream_task *task)
{
	char name[STREAM_TASK_NAME_MAX];

	device_stream_name(stream, task->name, name, sizeof(name));
	printf("task %" PRIu64 " %s %d %u %u %" PRIx64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       task->correlation, name[0] ? name : "-", task->kind, task->device, task->tid,
	       task->stream, task->bytes, task->status, task->queued_ns, task->submit_ns,
	       task->start_ns, task->end_ns, task->enqueue_ns, task->enqueue_dur_ns);
}

static void print_summary(const struct device_stream *stream)
{
	struct device_stream_counts counts;
	struct stream_device device;
	unsigned int i;

	for (i = 0; i < device_stream_devices(stream); i++)
		if (device_stream_device(stream, i, &device) == 0)
			printf("device %u %s clock %u %s\n", i, device.kind, device.clock,
			       device.name);
	device_stream_count(stream, &counts);
	printf("counts source %s produced %" PRIu64 " delivered %" PRIu64 " lost %" PRIu64
	       " untimed %" PRIu64 " in_flight %" PRIu64 "\n",
	       device_stream_source(stream), counts.produced, counts.delivered, counts.lost,
	       counts.untimed, counts.in_flight);
}

static int drain(struct device_stream *stream, struct stream_task *tasks, int quiet)
{
	ssize_t n, i;

	while ((n = device_stream_read(stream, now_ns(), tasks, BATCH)) > 0)
		for (i = 0; !quiet && i < n; i++)
			print_task(stream, &tasks[i]);
	return (int)n;
}

static int follow(struct device_stream *stream, pid_t pid, int quiet)
{
	struct stream_task *tasks = calloc(BATCH, sizeof(*tasks));
	int alive, result = 0;

	if (!tasks)
		return -ENOMEM;
	do {
		alive = kill(pid, 0) == 0 || errno == EPERM;
		device_stream_renew(stream, now_ns());
		result = drain(stream, tasks, quiet);
		if (alive && result == 0)
			pause_briefly();
	} while (alive && result == 0);
	device_stream_finish(stream);
	free(tasks);
	return result;
}

int main(int argc, char **argv)
{
	struct device_stream *stream;
	int option, result, quiet = 0;
	double seconds = 10;
	pid_t pid;

	while ((option = getopt(argc, argv, "qw:")) != -1) {
		switch (option) {
		case 'q': quiet = 1; break;
		case 'w': seconds = atof(optarg); break;
		default: return 2;
		}
	}
	if (optind != argc - 1)
		return 2;
	pid = (pid_t)atoi(argv[optind]);
	stream = wait_for_stream(pid, seconds);
	if (!stream)
		return 1;
	device_stream_renew(stream, now_ns());
	fprintf(stderr, "listening\n");
	result = follow(stream, pid, quiet);
	if (result < 0)
		fprintf(stderr, "stream_dump: pid %d broke its stream\n", (int)pid);
	print_summary(stream);
	device_stream_close(stream);
	return result < 0;
}
