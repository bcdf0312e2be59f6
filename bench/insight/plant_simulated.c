/* SPDX-License-Identifier: Apache-2.0 */
/* A device without work, which only keeps time: a task begins when it is submitted or when the task before it ends. */
#include "bench/insight/plant_device.h"
#include "device/stream_writer.h"
#include "tests/truth/truth.h"

static struct stream_writer *writer;
static int device;
static uint64_t free_ns, last_ns; /* end of the last task, and its length */

void device_open(void)
{
	writer = stream_writer_create("plant", STREAM_WRITER_SLOTS);
	if (!writer)
		plant_fail("stream_writer_create");
	device = stream_writer_add_device(writer, "planted", "accelerator");
	stream_writer_declare_clock(writer, device, STREAM_CLOCK_MONOTONIC);
}

void device_submit(uint64_t task_ns)
{
	struct stream_task task = {
		.stream = 1,
		.tid = own_tid(),
		.device = device,
		.kind = STREAM_KERNEL,
	};
	uint64_t now;

	task.correlation = stream_writer_begin(writer);
	now = clock_ns(CLOCK_MONOTONIC);
	task.queued_ns = task.submit_ns = task.enqueue_ns = now;
	task.enqueue_dur_ns = 1;
	task.start_ns = now > free_ns ? now : free_ns;
	task.end_ns = free_ns = task.start_ns + task_ns;
	last_ns = task_ns;
	plant_task(task.start_ns, task.end_ns);
	stream_writer_put(writer, &task);
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

void device_wait(uint32_t left)
{
	uint64_t until_ns = free_ns - left * last_ns;

	if (until_ns > clock_ns(CLOCK_MONOTONIC))
		sleep_until(until_ns);
}

void device_close(void)
{
	device_wait(0);
}
