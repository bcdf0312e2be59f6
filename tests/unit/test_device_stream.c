/* SPDX-License-Identifier: Apache-2.0 */
/* device_stream: both ends of the shared memory, in one process and in two. */
#include "tests/unit/stream_helpers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/profbpfd/device/device_find.h"

/* ---- A single process */

static void nobody_listens(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	uint64_t now = 0;

	assert_non_null(writer);
	assert_false(stream_writer_live(writer, &now));
	stream_writer_destroy(writer);
}

static void no_stream(void **state)
{
	struct device_stream *stream = NULL;

	assert_int_equal(device_stream_open(getpid(), NULL, 0, &stream, error, sizeof(error)),
			 -ENOENT);
	assert_string_equal(error, "");
	assert_int_equal(device_stream_open(0x3fffffff, NULL, 0, &stream, error, sizeof(error)),
			 -ESRCH);
	assert_true(strlen(error) > 0);
}

/* The state of the descriptors shows whether there is a new stream. */
static void descriptors_tell(void **state)
{
	struct stream_writer *one, *two;
	uint64_t files, more;

	assert_int_equal(device_find_files(getpid()), 0);
	assert_int_equal(device_find_files(0x3fffffff), 0);
	one = stream_writer_create("one", SLOTS);
	files = device_find_files(getpid());
	assert_int_not_equal(files, 0);
	two = stream_writer_create("two", SLOTS);
	more = device_find_files(getpid());
	assert_int_not_equal(more, 0);
	assert_int_not_equal(more, files);
	stream_writer_destroy(two);
	assert_int_equal(device_find_files(getpid()), files);
	stream_writer_destroy(one);
	assert_int_equal(device_find_files(getpid()), 0);
}

static void tasks_arrive_as_written(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream;
	struct stream_task tasks[SLOTS];
	struct stream_device device;
	struct device_stream_counts counts;
	uint64_t now, last = 0;
	char name[32];
	ssize_t n, i;
	int index;

	put(writer, 0);
	stream = open_stream(getpid());
	assert_string_equal(device_stream_source(stream), "test");
	assert_true(stream_writer_live(writer, &now));
	index = stream_writer_add_device(writer, "Some\nDevice", "gpu");
	assert_int_equal(index, 0);
	for (i = 0; i < 10; i++)
		put(writer, stream_writer_name(writer, i % 2 ? "odd" : "even"));
	stream_writer_begin(writer);
	stream_writer_begin(writer);
	stream_writer_untimed(writer);
	n = device_stream_read(stream, now, tasks, SLOTS);
	assert_int_equal(n, 10);
	for (i = 0; i < n; i++) {
		assert_whole(&tasks[i]);
		assert_true(tasks[i].correlation > last);
		last = tasks[i].correlation;
		assert_int_equal(tasks[i].tid, gettid());
		assert_true(device_stream_name(stream, tasks[i].name, name, sizeof(name)) > 0);
		assert_string_equal(name, i % 2 ? "odd" : "even");
	}
	/* The task from before the reader opened the stream does not count. */
	assert_int_equal(tasks[0].correlation, 2);
	counts = counts_of(stream);
	assert_int_equal(counts.delivered, 10);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(counts.untimed, 1);
	assert_int_equal(counts.in_flight, 1);
	assert_int_equal(device_stream_devices(stream), 1);
	assert_int_equal(device_stream_device(stream, 0, &device), 0);
	assert_string_equal(device.name, "Some?Device");
	assert_string_equal(device.kind, "gpu");
	assert_int_equal(device.clock, STREAM_CLOCK_UNDECLARED);
	stream_writer_declare_clock(writer, index, STREAM_CLOCK_MONOTONIC_RAW);
	assert_int_equal(device_stream_device(stream, 0, &device), 0);
	assert_int_equal(device.clock, STREAM_CLOCK_MONOTONIC_RAW);
	assert_int_equal(device_stream_device(stream, 1, &device), -ENOENT);
	assert_int_equal(device_stream_device(stream, UINT32_MAX, &device), -ENOENT);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void small_reads_go_on(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream = open_stream(getpid());
	struct stream_task tasks[7];
	uint64_t next = 1;
	ssize_t n, i;
	int round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < 20; i++)
			put(writer, 0);
		while ((n = device_stream_read(stream, now_ns(), tasks, 7)) > 0)
			for (i = 0; i < n; i++)
				assert_int_equal(tasks[i].correlation, next++);
		assert_int_equal(n, 0);
	}
	assert_int_equal(next, 2001);
	assert_int_equal(counts_of(stream).lost, 0);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void overrun_is_counted_exactly(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream = open_stream(getpid());
	struct stream_task tasks[1000];
	struct device_stream_counts counts;
	ssize_t i;

	for (i = 0; i < 1000; i++)
		put(writer, 0);
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, 1000), SLOTS);
	for (i = 0; i < (ssize_t)SLOTS; i++)
		assert_int_equal(tasks[i].correlation, 1000 - SLOTS + 1 + i);
	counts = counts_of(stream);
	assert_int_equal(counts.produced, 1000);
	assert_int_equal(counts.lost, 1000 - SLOTS);
	assert_int_equal(counts.pending, 0);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void several_readers(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *one = open_stream(getpid()), *two;
	struct stream_task tasks[SLOTS];

	put(writer, 0);
	two = open_stream(getpid());
	put(writer, 0);
	assert_int_equal(device_stream_read(one, now_ns(), tasks, SLOTS), 2);
	assert_int_equal(device_stream_read(two, now_ns(), tasks, SLOTS), 1);
	assert_int_equal(device_stream_id(one), device_stream_id(two));
	device_stream_close(one);
	put(writer, 0);
	assert_int_equal(device_stream_read(two, now_ns(), tasks, SLOTS), 1);
	device_stream_close(two);
	stream_writer_destroy(writer);
}

static void lease_runs_out_and_never_back(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *stream = open_stream(getpid());
	uint64_t now = now_ns(), seen;

	assert_true(stream_writer_live(writer, &seen));
	assert_true(seen >= now);
	/* An older time passed by a reader must not shorten the lease. */
	device_stream_renew(stream, 1);
	assert_true(stream_writer_live(writer, &seen));
	device_stream_close(stream);
	stream_writer_destroy(writer);

	writer = stream_writer_create("test", SLOTS);
	assert_int_equal(device_stream_open(getpid(), NULL, 0, &stream, error, sizeof(error)), 0);
	device_stream_renew(stream, now - STREAM_LEASE_NS - 1);
	assert_false(stream_writer_live(writer, &seen));
	device_stream_renew(stream, now_ns());
	assert_true(stream_writer_live(writer, &seen));
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void known_streams_are_passed_over(void **state)
{
	struct stream_writer *first = stream_writer_create("first", SLOTS);
	struct stream_writer *second = stream_writer_create("second", SLOTS);
	struct device_stream *one = open_stream(getpid()), *two = NULL, *three = NULL;
	uint64_t known[2] = { device_stream_id(one) };

	assert_int_equal(device_stream_open(getpid(), known, 1, &two, error, sizeof(error)), 0);
	assert_string_not_equal(device_stream_source(one), device_stream_source(two));
	known[1] = device_stream_id(two);
	assert_int_equal(device_stream_open(getpid(), known, 2, &three, error, sizeof(error)),
			 -ENOENT);
	assert_null(three);
	device_stream_close(one);
	device_stream_close(two);
	stream_writer_destroy(first);
	stream_writer_destroy(second);
}

/* ---- Several threads */

#define WRITERS 4
#define EACH 200000

static void *write_many(void *data)
{
	int i;

	for (i = 0; i < EACH; i++)
		put(data, 0);
	return NULL;
}

/* The ring is far too small on purpose: every delivered task is complete. */
static void racing_writers_and_reader(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", 2);
	struct device_stream *stream = open_stream(getpid());
	struct stream_task tasks[256];
	struct device_stream_counts counts;
	pthread_t threads[WRITERS];
	uint64_t seen = 0;
	ssize_t n, i;

	for (i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, writer), 0);
	do {
		n = device_stream_read(stream, now_ns(), tasks, 256);
		assert_true(n >= 0);
		for (i = 0; i < n; i++)
			assert_whole(&tasks[i]);
		seen += (uint64_t)n;
		counts = counts_of(stream);
		/* Tasks that dropped out of the ring can leave slots that are never published. */
		if (counts.pending && n == 0)
			sched_yield();
	} while (counts.produced < (uint64_t)WRITERS * EACH || counts.pending);
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counts.produced, (uint64_t)WRITERS * EACH);
	assert_int_equal(counts.delivered, seen);
	assert_int_equal(counts.delivered + counts.lost, (uint64_t)WRITERS * EACH);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

/* ---- Several processes */

struct child {
	pid_t pid;
	int to, from;
};

/* Forks a child that runs body() and stays until it is told to end. */
static struct child spawn(void (*body)(int from, int to, void *data), void *data)
{
	struct child child;
	int down[2], up[2];
	char ready;

	assert_int_equal(pipe(down), 0);
	assert_int_equal(pipe(up), 0);
	child.pid = fork();
	if (child.pid == 0) {
		close(down[1]);
		close(up[0]);
		body(down[0], up[1], data);
		_exit(0);
	}
	assert_true(child.pid > 0);
	close(down[0]);
	close(up[1]);
	child.to = down[1];
	child.from = up[0];
	if (read(child.from, &ready, 1) != 1)
		fail_msg("the child ended early");
	return child;
}

static void step(struct child *child)
{
	char c = 'x';

	assert_int_equal(write(child->to, &c, 1), 1);
	if (read(child->from, &c, 1) != 1)
		fail_msg("the child ended early");
}

static void reap(struct child *child)
{
	int status;

	close(child->to);
	close(child->from);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
}

/* In the child: reports a step and waits for the next one. */
static void await(int from, int to)
{
	char c = 'r';

	if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
		_exit(1);
}

static void child_writes(int from, int to, void *data)
{
	struct stream_writer *writer = stream_writer_create("child", SLOTS);
	int i;

	if (data)
		close_range(3 > to ? 3 : (unsigned int)to + 1, ~0u, 0);
	await(from, to);
	for (i = 0; i < 10; i++)
		put(writer, stream_writer_name(writer, "from child"));
	await(from, to);
}

static void reads_another_process(void **state)
{
	struct child child = spawn(child_writes, NULL);
	struct device_stream *stream = open_stream(child.pid);
	struct stream_task tasks[SLOTS];
	char name[32];

	step(&child);
	reap(&child);
	/* The child has exited by now; its tasks can still be read. */
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, SLOTS), 10);
	assert_whole(&tasks[0]);
	assert_int_equal(tasks[0].tid, child.pid);
	device_stream_name(stream, tasks[0].name, name, sizeof(name));
	assert_string_equal(name, "from child");
	device_stream_close(stream);
}

static void reads_without_a_descriptor(void **state)
{
	struct child child;
	struct device_stream *stream;
	struct stream_task tasks[SLOTS];

	if (geteuid() != 0) {
		skip(); /* /proc/PID/map_files needs a capability */
		return;
	}
	child = spawn(child_writes, "close all");
	stream = open_stream(child.pid);
	step(&child);
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, SLOTS), 10);
	device_stream_close(stream);
	reap(&child);
}

static void child_uses_inherited(int from, int to, void *data)
{
	struct stream_writer *writer = data;
	uint64_t now;
	int live;

	await(from, to);
	live = stream_writer_live(writer, &now);
	if (live)
		_exit(1);
	await(from, to);
	if (!stream_writer_live(writer, &now))
		_exit(1);
	put(writer, stream_writer_name(writer, "before fork"));
	put(writer, stream_writer_name(writer, "after fork"));
	await(from, to);
}

static void a_forked_child_gets_its_own(void **state)
{
	struct stream_writer *writer = stream_writer_create("test", SLOTS);
	struct device_stream *parent = open_stream(getpid()), *stream = NULL;
	uint32_t before = stream_writer_name(writer, "before fork");
	struct stream_task tasks[SLOTS];
	struct stream_device device;
	struct child child;
	char name[32];

	stream_writer_add_device(writer, "a device", "gpu");
	child = spawn(child_uses_inherited, writer);
	/* The child has the parent's memory mapped, but the stream belongs to the parent. */
	assert_int_equal(device_stream_open(child.pid, NULL, 0, &stream, error, sizeof(error)),
			 -ENOENT);
	step(&child);
	stream = open_stream(child.pid);
	assert_true(device_stream_id(stream) != device_stream_id(parent));
	step(&child);
	assert_int_equal(device_stream_read(parent, now_ns(), tasks, SLOTS), 0);
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, SLOTS), 2);
	assert_int_equal(tasks[0].tid, child.pid);
	assert_int_equal(tasks[0].correlation, 1);
	assert_int_equal(tasks[0].name, before);
	device_stream_name(stream, tasks[0].name, name, sizeof(name));
	assert_string_equal(name, "before fork");
	device_stream_name(stream, tasks[1].name, name, sizeof(name));
	assert_string_equal(name, "after fork");
	assert_int_equal(device_stream_device(stream, 0, &device), 0);
	assert_string_equal(device.name, "a device");
	reap(&child);
	put(writer, 0);
	assert_int_equal(device_stream_read(parent, now_ns(), tasks, SLOTS), 1);
	device_stream_close(parent);
	device_stream_close(stream);
	stream_writer_destroy(writer);
}

static void child_in_namespace(int from, int to, void *data)
{
	struct stream_writer *writer;
	pid_t inner;
	int status;

	if (unshare(CLONE_NEWPID) < 0)
		_exit(1);
	inner = fork();
	if (inner == 0) {
		writer = stream_writer_create("inner", SLOTS);
		*(pid_t *)data = getpid();
		await(from, to);
		put(writer, 0);
		await(from, to);
		_exit(0);
	}
	((pid_t *)data)[1] = inner;
	waitpid(inner, &status, 0);
}

static void threads_of_a_pid_namespace(void **state)
{
	pid_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct device_stream *stream;
	struct stream_task tasks[SLOTS];
	struct child child;
	pid_t inner;

	if (geteuid() != 0) {
		munmap(shared, 4096);
		skip(); /* creating a pid namespace needs root */
		return;
	}
	child = spawn(child_in_namespace, shared);
	inner = __atomic_load_n(&shared[1], __ATOMIC_ACQUIRE);
	while (inner == 0) {
		sched_yield();
		inner = __atomic_load_n(&shared[1], __ATOMIC_ACQUIRE);
	}
	assert_int_equal(shared[0], 1);
	stream = open_stream(inner);
	step(&child);
	assert_int_equal(device_stream_read(stream, now_ns(), tasks, SLOTS), 1);
	assert_int_equal(tasks[0].tid, inner);
	device_stream_close(stream);
	kill(inner, SIGKILL);
	reap(&child);
	munmap(shared, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(no_stream),
		cmocka_unit_test(descriptors_tell),
		cmocka_unit_test(tasks_arrive_as_written),
		cmocka_unit_test(small_reads_go_on),
		cmocka_unit_test(overrun_is_counted_exactly),
		cmocka_unit_test(several_readers),
		cmocka_unit_test(lease_runs_out_and_never_back),
		cmocka_unit_test(known_streams_are_passed_over),
		cmocka_unit_test(racing_writers_and_reader),
		cmocka_unit_test(reads_another_process),
		cmocka_unit_test(reads_without_a_descriptor),
		cmocka_unit_test(a_forked_child_gets_its_own),
		cmocka_unit_test(threads_of_a_pid_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
